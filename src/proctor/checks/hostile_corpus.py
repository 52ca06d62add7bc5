"""The hostile corpus: programs that each must land in the bucket their folder is named after.

Folders: a language, in it a bucket. A program in Python answers one question, `double(x)`, and one
in another language `twice(x)`; as a program of its own it reads a number and prints its double. In
C++ it may answer `doubled(xs)` instead, for each kind in CPP_KINDS. Its first lines, comments of
its language, may say

    # kinds: all stdin       the kinds of tests it is run under; `all` are the four kinds of calls
    # class: reading         what it is about, see CLASSES
    # tiers: kernel docker   where it may be run; a program that needs walls must not go without
    # packages: numpy        what it imports; it is not run where candidates do not have that
    # seconds: 0.5           how much time it has
    # memory: 1024           how much memory it has, in MiB
    # denylist               the task refuses some imports
    // text: passed          under that kind of tests it lands in another bucket: SECURITY.md lists
                             what passes so

Files `name.1.py`, `name.2.py` are run one after the other in the same box: what the first leaves
behind is what the second looks for. Whatever a program tries to leave on the host has the mark of
`selftest.py` in its name, so that it is found.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.judge.cpp.corpus_tests import CPP_KINDS
from proctor.languages import get_language
from proctor.records.limits import MIB, Limits
from proctor.records.task import (
    Assertions,
    CallCases,
    CheckFunction,
    Metadata,
    StdinCases,
    Task,
    TestProgram,
    Tests,
    UnitTests,
)
from proctor.records.verdict import Bucket

CLASSES = {
    "reading": "reading what is not theirs",
    "processes": "other processes and the system",
    "persistence": "leaving something for the next",
    "network": "network",
    "resources": "using more than allowed",
    "forging": "forging a verdict or a failure",
    "cheats": "passing without solving",
    "mistakes": "honest mistakes",
    "honest": "honest solutions",
}

KINDS: dict[str, Tests] = {
    "plain": Assertions(targets=["double(1) == 2", "assert double(21) == 42", "double(-3) == -6"]),
    "examined": Assertions(targets=["1e-9 > abs(double(0.5) - 1.0)", "double(21) == 42"]),
    "check": CheckFunction(
        code="def check(candidate):\n"
        "    for x in (1, 21, -3):\n"
        "        assert candidate(x) == x + x\n"
        "    assert candidate(0.25) == 0.5\n"
    ),
    "calls": CallCases(fn_name="double", inputs=[[1], [21], [-3]], outputs=[2, 42, -6]),
    "stdin": StdinCases(inputs=["1\n", "21\n"], outputs=["2\n", "42\n"]),
    "unittest": UnitTests(
        code="import unittest\n\n\n"
        "class TestDouble(unittest.TestCase):\n"
        "    def test_small(self):\n        self.assertEqual(double(1), 2)\n\n"
        "    def test_large(self):\n        self.assertEqual(double(21), 42)\n\n"
        "    def test_negative(self):\n        self.assertTrue(double(-3) == -6)\n"
    ),
}
CALLS = ("plain", "examined", "check", "calls")
SHARING = ("unittest", "program", "together", "text")
"""Kinds whose tests share a process with the candidate."""
LIMITS = Limits(cpu_seconds=2.0, wall_seconds=2.0, memory_bytes=256 * MIB)
SOLUTION = "def double(x):\n    return x + x\n"


class CorpusProgram(msgspec.Struct, frozen=True, kw_only=True):
    """One program, or several that follow one another, under one kind of tests."""

    name: str
    language: str
    kind: str
    topic: str
    bucket: Bucket
    sources: Sequence[str]
    tiers: Sequence[str]
    """Where it may be run; everywhere if there are none."""
    packages: Sequence[str]
    limits: Limits
    denylist: bool

    def fits(self, tier: str) -> bool:
        """Return True if it may run in a tier."""
        return not self.tiers or tier in self.tiers

    def task(self) -> Task:
        """Return the task that its programs are answers to."""
        if self.kind in CPP_KINDS:
            prompt, code = CPP_KINDS[self.kind]
            return Task(
                task_id=f"corpus/{self.kind}",
                language=self.language,
                prompt=prompt,
                entry_point="doubled",
                tests=TestProgram(code=code),
                limits=self.limits,
            )
        python = self.language == "python"
        return Task(
            task_id=f"corpus/{self.kind}",
            language=self.language,
            entry_point="double" if python else "twice",
            tests=self._tests(),
            metadata=Metadata(denylist=self.denylist),
            canonical_solution=SOLUTION if python else "",
            limits=self.limits,
        )

    def _tests(self) -> Tests:
        if self.kind != "program":
            return KINDS[self.kind]
        tests = get_language(self.language).corpus_tests
        if tests is None:
            raise InputError(f"{self.name}: {self.language} has no tests for the corpus")
        return tests


def corpus_folder() -> Path:
    """Return the folder of the corpus: in the package, or in its checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "corpus", package.parents[1] / "tests" / "corpus"):
        if (folder / "python").is_dir():
            return folder
    raise SandboxError("the corpus is missing from this installation; install proctor again")


def corpus_programs(folder: Path) -> list[CorpusProgram]:
    """Return all trials of a corpus, those in Python first, in order of their names."""
    languages = sorted(
        (path.name for path in folder.iterdir()), key=lambda name: (name != "python", name)
    )
    return [trial for language in languages for trial in _trials_in(folder / language)]


def _trials_in(folder: Path) -> Iterator[CorpusProgram]:
    """Yield the trials of one language."""
    suffix = get_language(folder.name).suffix
    paths = sorted(folder.rglob(f"*{suffix}"))
    ending = re.compile(rf"(\.\d)?{re.escape(suffix)}$")
    for name, group in groupby(paths, lambda path: path.with_name(ending.sub("", path.name))):
        yield from _trials_of(name, list(group), folder.name)


def select_programs(topics: str, languages: str = "", *, quick: bool) -> list[CorpusProgram]:
    """Return the trials of some classes and languages, of all if none is named.

    `quick`: only one a program.
    """
    found = corpus_programs(corpus_folder())
    for flag, said, known in (
        ("--class", _listed(topics), list(CLASSES)),
        ("--language", _listed(languages), list(dict.fromkeys(one.language for one in found))),
    ):
        for name in said:
            if name not in known:
                raise InputError(f"{flag} {name}: known are {', '.join(known)}")
    topics_, languages_ = _listed(topics), _listed(languages)
    found = [
        one
        for one in found
        if one.topic in (topics_ or [one.topic]) and one.language in (languages_ or [one.language])
    ]
    return list({one.name: one for one in reversed(found)}.values())[::-1] if quick else found


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _trials_of(name: Path, paths: Sequence[Path], language: str) -> Iterator[CorpusProgram]:
    sources = [path.read_bytes().decode() for path in paths]
    head = sources[0][:400]
    kinds = _said(head, "kinds") or ["all" if language == "python" else "stdin"]
    default = "honest" if name.parent.name == Bucket.PASSED else "mistakes"
    for kind in (*(CALLS if "all" in kinds else ()), *(kind for kind in kinds if kind != "all")):
        yield CorpusProgram(
            name=f"{language}/{name.parent.name}/{name.name}",
            language=language,
            kind=kind,
            topic=(_said(head, "class") or [default])[0],
            bucket=Bucket((_said(head, kind) or [name.parent.name])[0]),
            sources=sources,
            tiers=_said(head, "tiers"),
            packages=_said(head, "packages"),
            limits=_limits(head),
            denylist="# denylist\n" in head,
        )


def _limits(head: str) -> Limits:
    limits = LIMITS
    if seconds := _said(head, "seconds"):
        limits = limits.with_seconds(float(seconds[0]))
    if memory := _said(head, "memory"):
        limits = msgspec.structs.replace(limits, memory_bytes=int(memory[0]) * MIB)
    return limits


def _said(head: str, key: str) -> list[str]:
    found = re.search(rf"^(?:#|//) {key}: (.*)$", head, re.MULTILINE)
    return found[1].split() if found else []
