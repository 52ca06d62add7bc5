"""What tests share: the real data where it is at hand, a sandbox of every tier that works here."""

import gc
import json
import os
import socket
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, settings

from proctor.benchmarks import load
from proctor.benchmarks.source import Declaration
from proctor.checks.contract.result import Result
from proctor.checks.contract.result_store import store_result
from proctor.checks.selftest import traces
from proctor.errors import SandboxError
from proctor.grading.grade import Grader
from proctor.grading.pipeline import grade_all
from proctor.grading.prepare import Options, PreparedSample
from proctor.grading.receipts import build_receipt, software_versions
from proctor.judge.judgement import Judgement
from proctor.models import recorded_model
from proctor.records.completion import Completion, Sampling
from proctor.records.encoding import encode
from proctor.records.execution import Enforcement
from proctor.records.extraction import Extraction
from proctor.records.program import Program
from proctor.records.receipt import Manifest, Receipt
from proctor.records.task import Assertions, Task, UnitTests
from proctor.records.verdict import OUTCOMES, Bucket, Failed, Passed, Unscored, Verdict
from proctor.sandbox import Sandbox
from proctor.sandbox.limits.cgroup import PREFIX
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.tiers.select import open_sandbox
from proctor.sandbox.tiers.wasm.box import WasmBox
from proctor.storage.jsonl import file_sha256
from proctor.storage.run_directory import MANIFEST, RECEIPTS, pretty
from tests.requires import SCRIPT, requires, skip_without

# Two busy cores make a first example slow; deadlines would then fail at random.
settings.register_profile(
    "proctor", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("proctor")

LOWER = ("contained", "portable")

DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with real benchmark files, or skip."""
    if not DATA.is_dir():
        pytest.skip("the benchmark files of ../shared/data are not on this machine")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def scratch_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have keepers make their scratch folders where nobody else makes any."""
    folder = tmp_path_factory.mktemp("scratch")
    folder.chmod(0o777)
    ENVIRONMENT["TMPDIR"] = str(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def settings_file(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Have Proctor use the portable tier where nothing better works, which it must be told to."""
    os.environ.pop("PROCTOR_CONFIG", None)
    try:
        open_sandbox("auto", sys.executable).close()
    except SandboxError:
        file = tmp_path_factory.mktemp("settings") / "proctor.toml"
        file.write_text('sandbox = "portable"\n')
        os.environ["PROCTOR_CONFIG"] = str(file)
        return file
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --share, by which `make test` runs other slow tests every day of the week."""
    parser.addoption(
        "--share", metavar="K/N", help="run only the K-th of N parts of the slow tests"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests on lower tiers as slow, and leave out slow tests that are not in the share.

    Tests of the hostile corpus (`trial`) say themselves which are slow.
    """
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if parameters.get("sandbox", "kernel") != "kernel" and "trial" not in parameters:
            item.add_marker(pytest.mark.slow)
    share = config.getoption("--share")
    if share:
        left_out = {item for item in items if not in_share(item, share)}
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def in_share(item: pytest.Item, share: str) -> bool:
    """Return whether a test runs in the K-th of N parts; `share` is "K/N".

    Slow tests that set a timeout take minutes and are in no part.
    """
    if not item.get_closest_marker("slow"):
        return True
    part, parts = map(int, share.split("/"))
    is_long = item.get_closest_marker("timeout") is not None
    return not is_long and zlib.crc32(item.nodeid.encode()) % parts == part - 1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests whose mark `requires` names a tool that is missing."""
    for mark in item.iter_markers("requires"):
        requires(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which share of the slow tests ran, and in one line per reason what was skipped."""
    if share := terminalreporter.config.getoption("--share"):
        terminalreporter.line(f"of the slow tests: share {share}")
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in sorted(reasons.items()):
        tests = "test" if count == 1 else "tests"
        terminalreporter.line(f"not tested here: {reason}: {count} {tests}")


@pytest.fixture(scope="session", params=["kernel", *LOWER])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each tier in turn; every test that takes it runs on all of them.

    Those of the wasm tier say so, as it takes long and lacks much: the border's, those of what every
    tier promises, the corpus.
    """
    try:
        opened = open_sandbox(request.param, interpreter_for(request.param))
    except SandboxError as error:
        if request.param == "kernel":
            skip_without("the kernel tier", str(error))
        pytest.skip(str(error))
    yield opened
    opened.close()


def interpreter_for(tier: str) -> str:
    """Return what runs candidates in a tier, or skip."""
    if tier != "wasm":
        return sys.executable
    requires("python-wasi")
    return str(SCRIPT.WASI_PYTHON)


@pytest.fixture(scope="session")
def wasm_python() -> str:
    """Return a WASI build of Python, or skip."""
    return interpreter_for("wasm")


@pytest.fixture(scope="session")
def kernel() -> Iterator[Sandbox]:
    """Open the tier that runs programs of all languages."""
    try:
        opened = open_sandbox("kernel", sys.executable)
    except SandboxError as error:
        skip_without("the kernel tier", str(error))
    yield opened
    opened.close()


def descendants(pid: int) -> set[int]:
    """Return every process below a process."""
    found: set[int] = set()
    pending = [pid]
    while pending:
        folder = Path(f"/proc/{pending.pop()}/task")
        try:  # what is no more, process or thread, has no children
            threads = os.listdir(folder)
        except OSError:
            continue
        for thread in threads:
            try:
                children = {
                    int(child) for child in (folder / thread / "children").read_text().split()
                }
            except OSError:
                continue
            found |= children
            pending += children
    return found


@pytest.fixture
def processes_below() -> Callable[[int], set[int]]:
    """Return a function that finds every process below a process."""
    return descendants


def open_descriptors() -> set[str]:
    """Return this process's descriptors; the one that lists them is closed by then."""
    return {fd for fd in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{fd}").is_symlink()}


class Remains:
    """What a piece of work may leave behind: processes, descriptors, folders, cgroups."""

    def __init__(self, sandbox: Sandbox) -> None:
        boxes = idle_boxes(sandbox)
        keepers = {pid for box in boxes for pid in (box.keeper, box._process.pid)}
        sockets = {str(fd) for box in boxes for fd in descriptors_of(box)}
        groups = [box._group for box in boxes if isinstance(box, Box) and box._group is not None]
        alarms = {str(fd) for group in groups for fd in (group.alarm, group._counter)}
        self.processes = descendants(os.getpid()) - keepers
        self.descriptors = open_descriptors() - sockets - alarms
        self.cgroups = held_cgroups() - {group._folder for group in groups}
        kept = {Path(box.scratch).parent.name for box in boxes if box.scratch}
        self.folders = set(os.listdir(ENVIRONMENT["TMPDIR"])) - kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remains) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"Remains({vars(self)})"


def held_cgroups() -> set[Path]:
    """Return the cgroups of boxes of this process: it has a descriptor of each."""
    links = (Path(f"/proc/self/fd/{fd}") for fd in open_descriptors())
    files = (link.readlink() for link in links if link.is_symlink())
    return {file.parent for file in files if file.parent.name.startswith(PREFIX)}


def descriptors_of(box: Box | WasmBox) -> tuple[int, ...]:
    """Return the descriptors by which we talk to a box."""
    if isinstance(box, WasmBox):
        return box._to, box._from, *box._scratch.held
    return (box.control.connection.fileno(),)


def idle_boxes(sandbox: Sandbox) -> list[Box | WasmBox]:
    """Return the warm boxes of a tier that keeps any: they are no remains."""
    pools = [
        *getattr(sandbox, "_pools", {}).values(),
        *(sandbox._toolchains._pools.values() if hasattr(sandbox, "_toolchains") else ()),
    ]
    return [box for pool in pools for box in pool._idle]


@pytest.fixture
def warm_boxes() -> Callable[[Sandbox], list[Box]]:
    """Return a function that finds a tier's warm boxes."""
    return idle_boxes


@pytest.fixture
def remains() -> Callable[[Sandbox], Remains]:
    """Return a function that looks at what is left."""
    return Remains


@pytest.fixture
def nothing_left(sandbox: Sandbox) -> Iterator[None]:
    """Fail a test that leaves something behind: ours, or on the host what a corpus program left."""
    before = Remains(sandbox)
    yield
    assert Remains(sandbox) == before
    assert not traces()


@pytest.fixture
def all_closed() -> Iterator[None]:
    """Fail a test that leaves a descriptor open."""
    gc.collect()  # what earlier tests forgot is not this one's
    before = open_descriptors()
    yield
    assert open_descriptors() <= before


@pytest.fixture
def strays() -> Callable[..., list[Receipt]]:
    """Return a function that finds the samples of the suite `basics` that land elsewhere.

    The reference passes; a near miss passes some test, but is rejected for the reason that is
    written beside it, and so is a lazy solution. Only unit tests are judged together.
    """
    benchmark = load("basics")
    tasks = {task.task_id: task for task in benchmark.tasks}

    def is_stray(receipt: Receipt, model: str) -> bool:
        task = tasks[receipt.task_id]
        if (receipt.judged == "together") is not isinstance(task.tests, UnitTests):
            return True
        if model == "reference":
            return receipt.bucket is not Bucket.PASSED
        wrong = task.wrong_solutions[receipt.sample]
        far = wrong.name == "near miss" and not any(test.passed for test in receipt.tests)
        return receipt.bucket is not wrong.bucket or far

    def find(sandbox: Sandbox, model: str, step: int = 1) -> list[Receipt]:
        some = msgspec.structs.replace(benchmark, tasks=benchmark.tasks[::step])
        there = recorded_model(model)
        assert there is not None
        completions = list(there.complete(some, Sampling()))
        grader = Grader(sandbox, Options(workers=2))
        receipts = list(grade_all(grader, some, completions))
        assert len(receipts) == len(completions) == len(some.tasks) * (1 + (model == "wrong"))
        return [receipt for receipt in receipts if is_stray(receipt, model)]

    return find


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes rows to a file, one JSON object a line."""

    def write(name: str, rows: Iterable[Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


class Ran(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """Return its only sentence on stderr; that candidates are not isolated is no complaint."""
        lines = [line for line in self.err.splitlines() if "NOT ISOLATED" not in line]
        assert len(lines) == 1, self.err
        assert lines[0].isprintable()
        return lines[0].removeprefix("proctor: ")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Be in an empty folder, with an empty home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def proctor(
    alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Return a function that runs a command in this process."""
    from proctor.cli import main

    def run(*args: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["proctor", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        status = left.value.code
        assert status is None or isinstance(status, int)
        return Ran(status or 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def manifest() -> Callable[..., Manifest]:
    """Return a function that makes manifests which differ in what it is given."""
    one = Manifest(
        benchmark="demo",
        benchmark_sha256="00",
        source="demo.jsonl",
        tasks=1,
        samples=3,
        completions_sha256="11",
        model="recorded:samples.jsonl",
        sampling=Sampling(),
        limits=None,
        compare=None,
        early_stop=False,
        max_tests=None,
        extract="auto",
        preamble="none",
        reuse=True,
        enforcement=Enforcement(
            tier="portable",
            isolated=False,
            walls={"network": "not enforced"},
            clock="wall",
            toolchains={"python": "python 3.11"},
        ),
        versions={"proctor": "0"},
        created="2026-01-01T00:00:00+00:00",
        host="here",
    )
    return lambda **changes: msgspec.structs.replace(one, **changes)


@pytest.fixture(scope="session")
def receipt() -> Callable[..., Receipt]:
    """Return a function that makes receipts of one task's samples."""
    task = Task(task_id="a", entry_point="f", tests=Assertions(targets=["f(1) == 2"]))

    def make(sample: int = 0, bucket: Bucket = Bucket.PASSED, **changes: Any) -> Receipt:
        verdict: Verdict = Failed(bucket=bucket, detail=f"it is {bucket}")
        if bucket is Bucket.PASSED:
            verdict = Passed()
        elif OUTCOMES[bucket] is None:
            verdict = Unscored(bucket=bucket, reason=f"it is {bucket}")
        completion = Completion(task_id="a", sample=sample, id=f"0_s{sample}", completion="x")
        extraction = Extraction(code="x", rule="whole")
        made = build_receipt(
            PreparedSample(task, completion, extraction, Program(source="x")),
            Judgement(verdict=verdict, host="here"),
            Enforcement(tier="portable", isolated=False, walls={}, clock="wall", toolchains={}),
        )
        return msgspec.structs.replace(made, **changes)

    return make


@pytest.fixture
def past_run(
    tmp_path: Path, manifest: Callable[..., Manifest], receipt: Callable[..., Receipt]
) -> Callable[..., Path]:
    """Return a function that makes the folder of a run: task → buckets, or whole receipts."""

    def make(name: str, tasks: dict[str, str | list[dict[str, Any]]], **changes: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        lines = []
        for task_id, samples in tasks.items():
            for n, one in enumerate(samples):
                fields = {"bucket": LETTERS[one]} if isinstance(one, str) else dict(one)
                bucket = fields.pop("bucket", Bucket.PASSED)
                made = receipt(n, bucket, **{"task_id": task_id, "task_sha256": task_id, **fields})
                lines.append(encode(made) + b"\n")
        usual = {"samples": len(lines), "tasks": len(tasks), "model": name}
        (folder / MANIFEST).write_bytes(pretty(manifest(**{**usual, **changes})))
        (folder / RECEIPTS).write_bytes(b"".join(lines))
        return folder

    return make


@pytest.fixture(scope="session")
def relied_on() -> Callable[..., Result]:
    """Return a function that writes down that a tasks file kept its contract."""

    def make(path: Path, **changes: Any) -> Result:
        benchmark = load(str(path))
        count = len(benchmark.tasks)
        result = Result(
            benchmark=benchmark.name,
            benchmark_sha256=benchmark.sha256,
            files={str(path): file_sha256(path)},
            tasks=count,
            of=count,
            holds=True,
            partial=False,
            in_rotation=True,
            reason="",
            findings=[],
            declares=Declaration(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            host=socket.gethostname(),
            enforcement=Enforcement(
                tier="portable", isolated=False, walls={}, clock="wall", toolchains={}
            ),
            versions=software_versions(),
            seconds=1.0,
        )
        changed = msgspec.structs.replace(result, **changes)
        store_result(changed)
        return changed

    return make


LETTERS = {"P": Bucket.PASSED, "W": Bucket.WRONG_ANSWER, "T": Bucket.CPU_TIME, "H": Bucket.HARNESS}
