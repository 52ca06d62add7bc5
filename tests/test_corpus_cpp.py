"""Every C++ program of the corpus lands in the bucket that its folder is named after.

A program answers one question, `doubled(xs)`, and is judged three times: apart from the tests, in
one process with them as a shared object of its own, and in one text with them. The folder says
where it lands apart. Where it lands elsewhere otherwise, its first lines say so:

    // together: passed
    // text: passed

Those are the forgeries that SECURITY.md lists. A new attack is a new file and no new test code.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.judge import Judge
from proctor.program import Program
from proctor.sandbox import MIB, Limits, Sandbox, foreign
from proctor.sandbox.choose import open_sandbox
from proctor.selftest import CLASSES, traces
from proctor.task import Task
from proctor.task import TestProgram as InOneFile
from proctor.verdict import Bucket

FOLDER = Path(__file__).parent / "corpus" / "cpp"
PROGRAMS = sorted(FOLDER.rglob("*.cpp"))
PROMPT = "#include <vector>\nusing namespace std;\nvector<int> doubled(vector<int> xs) {\n"
TESTS = """\
#include <assert.h>
int main() {
    WAY
    assert(doubled({1, 2}) == vector<int>({2, 4}));
    vector<int> many(100, 21);
    assert(doubled(many) == vector<int>(100, 42));
    assert((doubled({-3}) == vector<int>{-6}));
}
"""
WAYS = {
    "apart": (PROMPT, TESTS.replace("WAY", "")),
    "together": (PROMPT, TESTS.replace("WAY", "try { (void)0; } catch (...) {}")),
    "text": ("", TESTS.replace("WAY", "")),
}
LIMITS = Limits(cpu_seconds=1.0, wall_seconds=1.0, memory_bytes=256 * MIB)
COMPILING = msgspec.structs.replace(
    foreign.COMPILING, cpu_seconds=3.0, wall_seconds=3.0, memory_bytes=1024 * MIB
)
"""What is left of it after a bomb costs nobody anything, however much it is."""


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    """Open a sandbox whose compilers have little time and memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "COMPILING", COMPILING)
        patch.setattr(foreign, "LIMITS", COMPILING)
        try:
            opened = open_sandbox("kernel", sys.executable)
            opened.offer("cpp")
        except SandboxError as error:
            pytest.skip(str(error))
        yield opened
        opened.close()


def said(path: Path, key: str) -> str:
    """Return what the first lines of a program say."""
    found = re.search(rf"^// {key}: (.*)$", path.read_text()[:400], re.MULTILINE)
    return found[1] if found else ""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_lands_where_it_should(strict, path, way):
    prompt, tests = WAYS[way]
    task = Task(
        task_id=f"corpus/{way}",
        language="cpp",
        prompt=prompt,
        entry_point="doubled",
        tests=InOneFile(code=tests),
        limits=LIMITS,
    )
    judgement = Judge(strict).judge(task, Program(source=path.read_text(), language="cpp"))
    expected = said(path, way) or path.parent.name
    assert judgement.verdict.bucket == expected, judgement.verdict
    assert judgement.judged == ("apart" if way == "apart" else "together")


def test_what_a_program_says_is_understood():
    assert PROGRAMS
    for path in PROGRAMS:
        assert Bucket(path.parent.name)
        assert not said(path, "apart"), "no forgery may pass apart: the folder says where it lands"
        assert not said(path, "class") or said(path, "class") in CLASSES
        assert all(Bucket(said(path, way) or path.parent.name) for way in WAYS)


def test_all_that_can_pass_in_one_process_is_listed():
    security = (FOLDER.parents[2] / "SECURITY.md").read_text()
    passing = [
        path for path in PROGRAMS if "passed" in (said(path, "together"), said(path, "text"))
    ]
    assert passing
    assert [path.stem for path in passing if f"`{path.stem}`" not in security] == []


def test_nothing_is_left(strict):
    assert not traces()
