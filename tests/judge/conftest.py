"""What tests of judging share."""

import pytest

from proctor.sandbox import Sandbox
from tests.requires import requires_language


@pytest.fixture(scope="session")
def cpp(kernel: Sandbox) -> Sandbox:
    """Return the kernel tier if it compiles C++ here."""
    requires_language(kernel, "cpp")
    return kernel
