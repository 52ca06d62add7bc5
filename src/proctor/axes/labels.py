"""What the axes themselves are worth: answers whose findings are known, read and compared.

`labels.toml` beside a folder's `tasks.toml` holds them: the task, the code, whether it compiles,
and the kind and qualified name of every finding that there is to be found.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.axes.finding import FindingReader, Kind, SampleStatus, check_finding
from proctor.axes.parser import Parser
from proctor.errors import InputError
from proctor.records.task import Task
from proctor.storage.jsonl import explain_error, parse_toml, read_whole

LABELS = "labels.toml"
Names = Sequence[tuple[str, str]]


class Label(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer and what is to be found in it."""

    task: str
    name: str
    code: str
    compiles: bool
    findings: Sequence[tuple[Kind, str]]
    status: SampleStatus = SampleStatus.OK
    blind: str = ""
    """Why something that is wrong with it is not among the findings."""


class Labels(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A file of them."""

    completion: list[Label]


class Miss(msgspec.Struct, frozen=True, kw_only=True):
    """An answer in which something else was found than there is."""

    task: str
    name: str
    status: SampleStatus
    missed: Names
    extra: Names


class Worth(msgspec.Struct, frozen=True, kw_only=True):
    """How many labels were found, and what was not."""

    answers: int
    right: int
    labels: Mapping[str, int]
    """By kind, how many there are."""
    found: Mapping[str, int]
    """By kind, how many of them were found."""
    extra: Mapping[str, int]
    """By kind, how many were found that are none."""
    misses: Sequence[Miss]
    parser: str
    schema: int = 1


def read_labels(folders: Sequence[Path]) -> list[Label]:
    """Read the labelled answers of some folders."""
    found: list[Label] = []
    for folder in folders:
        place = folder / LABELS
        if not place.is_file():
            continue
        try:
            found += msgspec.convert(parse_toml(place, read_whole(place)), Labels).completion
        except msgspec.ValidationError as error:
            raise InputError(f"{place}: {explain_error(error)}") from None
    if not found:
        raise InputError(f"{', '.join(map(str, folders))}: there is no {LABELS}")
    return found


def compare(
    parser: Parser,
    find: Callable[[str], Task],
    labels: Sequence[Label],
    step: Callable[[], None] = lambda: None,
) -> Worth:
    """Read every labelled answer and say what was found of what there is."""
    misses: list[Miss] = []
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("labels", "found", "extra")}
    for task_id in dict.fromkeys(label.task for label in labels):
        group = [label for label in labels if label.task == task_id]
        for label, reading in zip(group, _read(parser, find, group), strict=True):
            miss = _compared(label, reading, counts)
            misses += [] if miss is None else [miss]
        step()
    return Worth(
        answers=len(labels),
        right=len(labels) - len(misses),
        labels=counts["labels"],
        found=counts["found"],
        extra=counts["extra"],
        misses=misses,
        parser=parser.version,
    )


def _read(
    parser: Parser, find: Callable[[str], Task], group: Sequence[Label]
) -> Sequence[FindingReader]:
    try:
        task = find(group[0].task)
    except KeyError:
        raise InputError(f"{LABELS}: there is no task {group[0].task[:80]!r}") from None
    if task.context is None:
        raise InputError(f"{LABELS}: {task.task_id} has no context")
    codes = [label.code for label in group]
    return parser.read(task.context, task.canonical_solution, codes)


def _compared(label: Label, reading: FindingReader, counts: dict[str, Counter[str]]) -> Miss | None:
    crossed = check_finding(reading, compiled=label.compiles)
    wanted = Counter((str(kind), name) for kind, name in label.findings)
    got = Counter((str(one.kind), one.qualified) for one in crossed.findings)
    for name, part in (("labels", wanted), ("found", wanted & got), ("extra", got - wanted)):
        counts[name].update(kind for kind, _ in part.elements())
    if wanted == got and crossed.status is label.status:
        return None
    return Miss(
        task=label.task,
        name=label.name,
        status=crossed.status,
        missed=list((wanted - got).elements()),
        extra=list((got - wanted).elements()),
    )
