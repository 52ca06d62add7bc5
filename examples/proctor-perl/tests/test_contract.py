"""The benchmark keeps its contract: one test a line."""

import pytest


@pytest.mark.proctor_contract("perl-basics")
def test_contract(contract_line):
    contract_line.must_hold()
