"""The line that nothing a candidate could answer from is in its sight.

A probe is run in place of a candidate. It looks for text of the tests, expected values and the
reference: in files, in its environment and command line, in all of its own memory and in what
/proc shows of any process. What it looks for it must not hold itself, or it would find its own
copy. So it is given every needle with its bytes changed by a table, and looks for them in what
it reads changed by the same table.

Each probe also holds one text as it is, which it has to find: one that finds nothing at all is
blind, and proves nothing.

Short values cannot be told from chance. Where tests are values and no code, they are replaced by
a mark that nobody else has, and the probe looks for that and the longest of the other texts. What
stands in front of every program by the task's own wish, its preamble, is searched for all of them.

Where tests share a process with the candidate, they can be read, and the line says so.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random

import msgspec

from proctor.checks.contract.evidence import (
    Contract,
    Evidence,
    answer_task,
    is_our_failure,
    is_together,
)
from proctor.checks.contract.rejection import called_functions
from proctor.checks.contract.result import Status
from proctor.extraction.assemble import verbatim
from proctor.judge.judge import Judge
from proctor.languages import all_languages
from proctor.records.receipt import Receipt
from proctor.records.task import (
    Assertions,
    Benchmark,
    CallCases,
    CheckFunction,
    ReferenceCases,
    StdinCases,
    Task,
)

PROBE = Path(__file__).with_name("probe.py")
MIN_LENGTH, MAX_TEXTS, MAX_LENGTH = 14, 4, 200
"""Characters of a text that is no accident; how many texts are looked for, and how long."""
PUBLIC = ("import ", "from ", "#", "def ", "class ", "@")
"""Lines of a reference that begin so are in other programs as well."""
AT_ONCE = 64
MARK = "proctor-probe"
SECONDS = 20.0


def hidden(exam: Contract) -> Evidence:
    """Have a probe look for tests, expected values and references."""
    found = exam.sandbox.enforcement()
    if not found.isolated:
        what = f"the {found.tier} tier hides nothing: a candidate can read the user's own files"
        return Evidence(Status.UNKNOWN, what)
    seen = _Seen()
    probed = _probed(exam, seen)
    while tasks := list(islice(probed, AT_ONCE)):
        needles = {task.task_id: _needles(task, marked) for task, marked in tasks}
        marked = [marked for _, marked in tasks]
        some = msgspec.structs.replace(exam.benchmark, tasks=marked)
        _look(exam, some, needles, seen)
    if not seen.looked and not seen.unscored:
        return Evidence(Status.DOES_NOT_APPLY, f"nothing is promised: {seen.left_out()}")
    more = f"; {seen.left_out()}" if seen.together or seen.blind else ""
    good = f"a probe of {seen.looked} tasks found none of {seen.needles} texts{seen.where()}{more}"
    return exam.evidence_for("hidden", seen.bad, unscored=seen.unscored, good=good)


class Said(msgspec.Struct):
    """What a probe says of one look around."""

    found: list[tuple[int, str]]
    """Which text, and where; the last one is what it holds itself."""
    files: int
    memory: int


class _Seen:
    """What probes have found."""

    def __init__(self) -> None:
        self.bad: dict[str, str] = {}
        self.unscored: dict[str, str] = {}
        self.looked = self.needles = self.together = 0
        self.files = self.memory = 0
        self.blind: set[str] = set()

    def left_out(self) -> str:
        """Say of what nothing is known."""
        parts = []
        if self.together:
            parts.append(f"{self.together} tasks are judged together with their tests, in sight")
        if self.blind:
            parts.append(f"no probe is written in {', '.join(sorted(self.blind))}")
        return "; ".join(parts)

    def where(self) -> str:
        """Say where probes looked."""
        if not self.files:
            return ""
        return f" in {self.files} files and {self.memory >> 20} MiB of memory"


def _probed(exam: Contract, seen: _Seen) -> Iterator[tuple[Task, Task]]:
    """Yield the tasks that a probe can look around in, and each with marks in its tests."""
    for task in exam.benchmark.tasks:
        first = next(iter(exam.references.get(task.task_id, [])), None)
        if is_together(task) or (first is not None and first.judged == "together"):
            seen.together += 1
        elif task.language != "python" and not all_languages()[task.language].probe:
            seen.blind.add(task.language)
        else:
            told = next((text for text in _texts(task) if text in task.preamble), None)
            if told is not None:
                seen.bad[task.task_id] = f"{told[:40]!r} can be read in its preamble"
            yield task, _marked(task)


def _look(
    exam: Contract, benchmark: Benchmark, needles: Mapping[str, list[str]], seen: _Seen
) -> None:
    python = [task for task in benchmark.tasks if task.language == "python"]
    answers = [
        answer_task(task, probe_for(task, needles[task.task_id]), whole=True) for task in python
    ]
    for receipt in exam.grade(benchmark, answers):
        looked_for = needles[receipt.task_id]
        if is_our_failure(receipt):
            seen.unscored[receipt.task_id] = receipt.detail
        else:
            seen.looked += 1
            seen.needles += len(looked_for)
            _report(receipt, looked_for, seen)
    judge = Judge(exam.sandbox)
    for task in (task for task in benchmark.tasks if task.language != "python"):
        program = verbatim(task, all_languages()[task.language].probe, whole=True)
        judgement = judge.judge(task, program)
        said = b"".join(one.stdout for one in judgement.findings.executions)
        looked_for = needles[task.task_id]
        own = max(program.source.splitlines(), key=len)  # its file is one that it has to find
        if own.encode() not in said:
            seen.unscored[task.task_id] = f"its probe saw nothing: {judgement.verdict.detail}"
            continue
        seen.looked += 1
        seen.needles += len(looked_for)
        shown = next((one for one in looked_for if one.encode("utf-8", "replace") in said), None)
        if shown is not None:
            seen.bad[task.task_id] = f"a program can read {shown[:40]!r}"


def _report(receipt: Receipt, needles: Sequence[str], seen: _Seen) -> None:
    """Read what a probe in Python says."""
    lines = [line for line in receipt.stderr.splitlines() if line.startswith(MARK)]
    if not lines:
        seen.unscored[receipt.task_id] = f"the probe said nothing: {receipt.bucket}"
        return
    for line in lines:
        said = _decoded(line.removeprefix(MARK))
        seen.files = max(seen.files, said.files)
        seen.memory = max(seen.memory, said.memory)
        if all(index != len(needles) for index, _ in said.found):
            seen.unscored[receipt.task_id] = "the probe does not even find what it holds itself"
        for index, where in said.found:
            if not 0 <= index < len(needles):
                continue
            what = f"{needles[index][:40]!r} can be read in {where}"
            seen.bad.setdefault(receipt.task_id, what)


def _decoded(text: str) -> Said:
    try:
        return msgspec.json.decode(text, type=Said)
    except msgspec.MsgspecError:  # something else wrote that, or into it
        return Said(found=[], files=0, memory=0)


def _marked(task: Task) -> Task:
    """Replace one expected value by a mark, where tests are values; give the probe time."""
    mark = f"mark-{secrets.token_hex(16)}"
    tests = task.tests
    match tests:
        case CallCases(outputs=outputs):
            marks = [mark] * len(outputs)
            tests = msgspec.structs.replace(tests, outputs=marks, compare=None)
        case StdinCases(inputs=inputs):  # each case is a process of its own, and one tells all
            tests = msgspec.structs.replace(
                tests, inputs=inputs[:1], outputs=[mark], compare=None, max_tests=None
            )
    limits = task.limits.with_seconds(max(SECONDS, task.limits.wall_seconds))
    return msgspec.structs.replace(task, tests=tests, limits=limits)


def _needles(task: Task, marked: Task) -> list[str]:
    """Return what the probe looks for: the mark, and the longest texts."""
    texts = {*_texts(task), *_texts(marked)}
    return sorted(texts, key=lambda text: (not text.startswith("mark-"), -len(text), text))[
        :MAX_TEXTS
    ]


def _texts(task: Task) -> list[str]:
    """Return texts that only tests and the reference have."""
    public = f"{task.prompt}\n{_given(task)}\n{PROBE.read_text()}"
    texts = dict.fromkeys(text.strip()[:MAX_LENGTH] for text in _secrets(task))
    return [text for text in texts if len(text) >= MIN_LENGTH and text not in public]


def _given(task: Task) -> str:
    """Return what a candidate is given anyway: the arguments or the input of every test."""
    match task.tests:
        case CallCases(inputs=inputs) | ReferenceCases(inputs=inputs):
            return repr(inputs)
        case StdinCases(inputs=inputs):
            return "\n".join(inputs)
    return ""


def _secrets(task: Task) -> Iterator[str]:
    lines = (task.canonical_solution or "").splitlines()
    yield from (line for line in lines if not line.lstrip().startswith(PUBLIC))
    match task.tests:
        case Assertions(targets=targets):
            yield from targets
        case CheckFunction(code=code):
            yield from (line for line in code.splitlines() if "assert" in line)
        case CallCases(outputs=outputs):
            yield from (str(output) for output in outputs)
        case StdinCases(outputs=outputs):
            yield from (line for output in outputs for line in output.splitlines())


def probe_for(task: Task, needles: Sequence[str]) -> str:
    """Return the program that looks for some texts in place of a candidate."""
    if task.language != "python":
        return all_languages()[task.language].probe
    table = list(range(256))
    Random(secrets.randbits(64)).shuffle(table)  # noqa: S311  no secret
    held = f"held-{secrets.token_hex(16)}"
    texts = [text.encode("utf-8", "replace") for text in (*needles, held)]
    changed = [bytes(table[byte] for byte in text) for text in texts]
    head = f"TABLE = bytes({table})\nNEEDLES = {changed!r}\nMARK, HELD = {MARK!r}, {held!r}\n"
    return f"{head}\n{_without_head(PROBE.read_text())}\n{_stubs(task)}"


def _without_head(text: str) -> str:
    """Return the probe without its docstring and the names that are filled in."""
    return text.partition("# --- the probe begins here\n")[2]


def _stubs(task: Task) -> str:
    """Return functions that look around when a test calls them, and the look at the beginning."""
    lines = ["look('while it was loaded')"]
    for owner, name in sorted(called_functions(task)):
        indent = "    " if owner else ""
        first = "self, " if owner else ""
        lines += [f"class {owner}:"] if owner else []
        lines.append(f"{indent}def {name}({first}*args, **kwargs):")
        lines.append(f"{indent}    look('in a call')")
    return "\n".join(lines) + "\n"
