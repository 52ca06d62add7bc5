"""For authors of benchmarks: one test for each line of the contract, where pytest finds Proctor.

    @pytest.mark.proctor_contract("my-benchmark")
    def test_contract(contract_line):
        contract_line.must_hold()

The mark takes what `proctor contract` takes: the name or the path of a tasks file, and `data`,
`samples`, `sandbox` and `workers` by name. References are run once for all lines of a benchmark.
A line that does not apply is a skipped test, and one that holds narrowly a warning.

Nothing of Proctor is imported before a test asks for it: every run of pytest loads this file.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from proctor.checks.contract.evidence import Contract
    from proctor.checks.contract.result import Finding

MARK = "proctor_contract"
HELP = f"{MARK}(benchmark, data=None, samples=0, sandbox=None, workers=1): whose contract to test"
KNOWN = ("data", "samples", "sandbox", "workers")


class ContractLine(NamedTuple):
    """One line of a benchmark's contract."""

    name: str
    examination: "Contract"

    def look(self) -> "Finding":
        """Return what is found about it."""
        from proctor.checks.contract import inspect_rows  # noqa: PLC0415  see the module docstring

        return inspect_rows(self.examination, self.name)

    def must_hold(self) -> None:
        """Fail the test if it does not hold, skip it if it does not apply."""
        from proctor.checks.contract.result import Status  # noqa: PLC0415  see the module docstring

        __tracebackhide__ = True
        finding = self.look()
        if finding.word is Status.DOES_NOT_APPLY:
            pytest.skip(finding.evidence)
        if finding.word is Status.WARNING:
            said = f"{self.name}: {finding.evidence}"
            warnings.warn(pytest.PytestWarning(said), stacklevel=2)
        if finding.word in (Status.BROKEN, Status.UNKNOWN):
            pytest.fail(_complaint(finding), pytrace=False)


def _complaint(finding: "Finding") -> str:
    lines = [f"{finding.line} is {finding.word}: {finding.says}", f"  {finding.evidence}"]
    if len(finding.tasks) > 1:
        lines.append(f"  tasks: {', '.join(finding.tasks)}")
    return "\n".join(lines)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", HELP)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each line of a contract."""
    if "contract_line" not in metafunc.fixturenames:
        return
    from proctor.checks.contract import LINES  # noqa: PLC0415  see the module docstring

    mark = metafunc.definition.get_closest_marker(MARK)
    if mark is None or len(mark.args) != 1 or not set(mark.kwargs) <= set(KNOWN):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: mark it with {HELP}")
    metafunc.parametrize("contract_line", list(LINES), indirect=True)


@pytest.fixture(scope="session")
def proctor_examinations() -> Iterator["Examinations"]:
    """Benchmarks under examination, each with its sandbox, until all tests are done."""
    with ExitStack() as stack:
        yield Examinations(stack)


@pytest.fixture
def contract_line(
    request: pytest.FixtureRequest, proctor_examinations: "Examinations"
) -> ContractLine:
    """One line of the contract that the test's mark names."""
    mark = request.node.get_closest_marker(MARK)
    return ContractLine(request.param, proctor_examinations.of(mark.args[0], mark.kwargs))


class Examinations:
    """What is under examination in one session of pytest."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._begun: dict[str, Contract] = {}

    def of(self, benchmark: str | Path, asked: dict[str, Any]) -> "Contract":
        """Return the examination of a benchmark, begun if it is the first time."""
        key = repr((str(benchmark), sorted(asked.items())))
        if key not in self._begun:
            self._begun[key] = self._begin(str(benchmark), **asked)
        return self._begun[key]

    def _begin(
        self,
        name: str,
        *,
        data: str | Path | None = None,
        samples: int = 0,
        sandbox: str | None = None,
        workers: int = 1,
    ) -> "Contract":
        from proctor.checks.contract.evidence import Contract, contract_subject  # noqa: PLC0415  see the module docstring
        from proctor.sandbox.tiers.select import open_sandbox  # noqa: PLC0415  see the module docstring
        from proctor.settings import load_settings  # noqa: PLC0415  see the module docstring

        settings = load_settings()
        folder = None if settings.data is None else Path(settings.data)
        subject = contract_subject(name, None if data is None else Path(data), folder)
        packages = settings.candidate_packages
        wished = subject.source.libraries
        tier = sandbox or settings.sandbox
        opened = open_sandbox(tier, sys.executable, None, packages, wished)
        self._stack.callback(opened.close)
        return Contract(subject, opened, first=samples, workers=workers)
