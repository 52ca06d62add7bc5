"""What is asked and how it is checked: Benchmark, Task and the kinds of tests."""

import hashlib
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from proctor.records.limits import Limits
from proctor.records.repository import Repository
from proctor.records.verdict import Bucket

Compare = str | dict[str, str]
"""A profile of `judge/comparators.py` by name, or `{"checker": code}`."""


class Assertions(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="assertions"):
    """Expressions or `assert` statements, one test each, run in order in one namespace."""

    targets: Sequence[str]
    setup: str = ""
    compare: Compare | None = None


class CheckFunction(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="check"):
    """Code that defines `check(candidate)`; every `assert` in it is one test."""

    code: str
    setup: str = ""
    compare: Compare | None = None


class CallCases(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="calls"):
    """Calls of one function with plain arguments and the value expected of each."""

    fn_name: str
    inputs: Sequence[Sequence[Any]]
    outputs: Sequence[Any]
    kwargs: Sequence[dict[str, Any]] | None = None
    setup: str = ""
    compare: Compare | None = None
    compare_argument: int | None = None
    """Compare this argument after the call instead of the returned value."""
    max_tests: int | None = None
    """Run only so many cases, those with the longest inputs first."""


class ReferenceCases(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="reference"):
    """Calls of one function whose right answers are those of the reference solution.

    They share one time limit.
    """

    fn_name: str
    inputs: Sequence[Sequence[Any]]
    groups: Mapping[str, int] = {}
    """What parts of the inputs are called, in order, and how many are in each."""
    accept: Literal["value", "elements", "truth", "root"] = "value"
    """What must agree: the value, the set of its elements, or whether it is true; or a number
    is asked for that is a root of the polynomial whose coefficients are the first argument."""
    also: Mapping[int, Any] = {}
    """Other answers that are right, by index of the input."""
    tolerance: float = 0.0
    """How far from nothing a polynomial may be at its root."""
    proof: Assertions | CheckFunction | None = None
    """Tests that the reference must pass for its answers to be believed."""
    patience: float = 0.0
    """Candidates get so many times as long as the reference needs, if that is above the limit."""
    setup: str = ""
    compare: Compare | None = None


class StdinCases(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="stdin"):
    """Whole programs: text on standard input, text expected on standard output."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    setup: str = ""
    compare: Compare | None = None
    max_tests: int | None = None
    """Run only so many cases, those with the longest inputs first."""


class UnitTests(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="unittest"):
    """A unittest or pytest file that shares a process with the candidate."""

    code: str
    setup: str = ""
    compare: Compare | None = None


class TestProgram(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="program"):
    """Test code with a `main` of its own, for compiled languages."""

    code: str
    setup: str = ""
    compare: Compare | None = None


Tests = (
    Assertions | CheckFunction | CallCases | ReferenceCases | StdinCases | UnitTests | TestProgram
)


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What a task says about itself."""

    timeout_s: float | None = None
    difficulty: str | None = None
    tags: Sequence[str] = []
    denylist: bool = False
    """Refuse the imports and calls of the denylist to the candidate's own code."""
    one_at_a_time: bool = False
    """Send a call only when the one before is answered: a candidate cannot look ahead."""
    date: str | None = None
    """When the problem was published, as 2024-08-31."""


class WrongSolution(msgspec.Struct, frozen=True, kw_only=True):
    """A solution that the tests must reject: what they are worth."""

    name: str
    """What is wrong about it, in a word or two: near miss, lazy."""
    code: str
    bucket: Bucket = Bucket.WRONG_ANSWER
    """Why it is rejected."""


class Task(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One question with its tests, limits and reference solution."""

    task_id: str
    prompt: str = ""
    preamble: str = ""
    """Code that its publisher's harness puts in front of every program: imports, helpers."""
    entry_point: str | None = None
    tests: Tests
    language: str = "python"
    metadata: Metadata = Metadata()
    canonical_solution: str | None = None
    wrong_solutions: Sequence[WrongSolution] = ()
    context: Repository | None = None
    """The repository that its answer becomes part of."""
    limits: Limits = Limits()

    @cached_property
    def sha256(self) -> str:
        """Digest of all of the task; two tasks that differ in anything differ in it."""
        return hashlib.sha256(_json_of(self) or repr(_ordered(self)).encode()).hexdigest()

    def limited(self, limits: Limits, *, final: bool) -> "Task":
        """Return the same task with other limits; if they are `final`, with no patience beyond."""
        tests = self.tests
        if final and isinstance(tests, ReferenceCases):
            tests = msgspec.structs.replace(tests, patience=0.0)
        return msgspec.structs.replace(self, limits=limits, tests=tests)


@runtime_checkable
class Indexed(Protocol):
    """Tasks that are not held in memory; what is asked of all of them is."""

    memory_bytes: int
    """The most that any of them may use."""

    @property
    def ids(self) -> Sequence[str]:
        """Ids of all tasks in order."""
        ...

    @property
    def digests(self) -> Sequence[str]:
        """Digests of all tasks in order."""
        ...

    def find(self, task_id: str) -> Task:
        """Return a task by its id."""
        ...


class Benchmark(msgspec.Struct, frozen=True, kw_only=True):
    """A named set of tasks in a pinned order."""

    name: str
    tasks: Sequence[Task]
    source: str = ""
    """Where the tasks were read from: a file, a package."""
    aliases: Mapping[str, str] = {}
    """Other spellings of task ids that samples files use."""
    places: Mapping[str, str] = {}
    """Where in the source a task stands, as in `line 3`."""
    beyond: frozenset[str] = frozenset()
    """Ids of tasks that exist but were not asked for; their samples are passed over."""
    languages: frozenset[str] = frozenset({"python"})
    """What its solutions are written in."""
    packages: Sequence[str] = ()
    """What its solutions import, to be shown to candidates where it is installed."""

    @property
    def ids(self) -> Sequence[str]:
        """Ids of all tasks in order."""
        match self.tasks:
            case Indexed() as indexed:
                return indexed.ids
        return [task.task_id for task in self.tasks]

    @property
    def sha256(self) -> str:
        """Digest of all tasks in order."""
        match self.tasks:
            case Indexed() as indexed:
                digests = indexed.digests
            case tasks:
                digests = [task.sha256 for task in tasks]
        digest = hashlib.sha256()
        for one in digests:
            digest.update(bytes.fromhex(one))
        return digest.hexdigest()

    @property
    def memory_bytes(self) -> int:
        """The most that any task may use."""
        match self.tasks:
            case Indexed() as indexed:
                return indexed.memory_bytes
        return max((task.limits.memory_bytes for task in self.tasks), default=0)

    def finder(self) -> Callable[[str], Task]:
        """Return what finds a task by its id."""
        match self.tasks:
            case Indexed() as indexed:
                return indexed.find
        return {task.task_id: task for task in self.tasks}.__getitem__

    def where(self, task_id: str) -> str:
        """Say where a task stands."""
        return f"{self.source}, {self.places.get(task_id, task_id)}"

    def first(self, count: int) -> "Benchmark":
        """Return the same benchmark with its first tasks only."""
        beyond = self.beyond | frozenset(self.ids[count:])
        return msgspec.structs.replace(self, tasks=self.tasks[:count], beyond=beyond)


def _json_of(task: Task) -> bytes | None:
    """Return a task as JSON, None if JSON cannot tell all of its values from others."""
    try:
        text = msgspec.json.encode(task, order="sorted")
        return text if msgspec.json.decode(text, type=Task) == task else None
    except (TypeError, ValueError):
        return None


def _ordered(value: Any) -> Any:
    """Return something whose repr is the same for the same value in every process."""
    match value:
        case msgspec.Struct():
            return type(value).__name__, _ordered(msgspec.structs.asdict(value))
        case dict():
            pairs = [(repr(_ordered(key)), _ordered(item)) for key, item in value.items()]
            return "dict", sorted(pairs, key=operator.itemgetter(0))
        case list() | tuple():
            return type(value).__name__, [_ordered(item) for item in value]
        case set() | frozenset():
            return type(value).__name__, sorted(repr(_ordered(item)) for item in value)
        case int() if not isinstance(value, bool):
            return hex(value)  # long integers have no repr
    return value
