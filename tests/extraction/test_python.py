"""Answers as models write them, and the code that should come out of each.

A case is one file of `corpus/`: a header of `key: value` lines, then sections that begin with
`=== name`. The newline before the next section does not belong to a section.
"""

import re
from pathlib import Path

import pytest

from proctor.extraction import extract
from proctor.extraction.assemble import assemble
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import Assertions, CallCases, StdinCases, Task

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.txt"))
CHECKED = [path for path in CORPUS if "\ncheck: " in path.read_text(encoding="utf-8")]
TESTS = {
    "check": Assertions(targets=[]),
    "stdin": StdinCases(inputs=[], outputs=[]),
    "calls": CallCases(fn_name="twoSum", inputs=[], outputs=[]),
}


class Case:
    """One file of the corpus."""

    def __init__(self, path: Path) -> None:
        header, *sections = re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        self.header = dict(line.split(": ", 1) for line in header.splitlines())
        self.sections = {}
        for section in sections:
            name, _, text = section.partition("\n")
            self.sections[name] = text.removesuffix("\n")
        for key, mark, text in (("null", "@", "\0"), ("deep", "@", "-" * 100_000)):
            if key in self.header:
                self.sections = {n: s.replace(mark, text) for n, s in self.sections.items()}

    @property
    def task(self) -> Task:
        return Task(
            task_id="corpus",
            prompt=self.sections.get("prompt", ""),
            entry_point=self.header.get("entry"),
            tests=TESTS[self.header.get("tests", "check")],
        )

    @property
    def answer(self) -> str:
        answer = self.sections["answer"]
        if "crlf" in self.header:
            answer = answer.replace("\n", "\r\n")
        return "\ufeff" + answer if "bom" in self.header else answer

    @property
    def expected(self) -> Extraction | NoCode:
        if "nocode" in self.header:
            return NoCode(reason=self.header["nocode"])
        return Extraction(
            code=self.sections["code"],
            rule=self.header["rule"],
            continues="continues" in self.header,
        )


def test_the_corpus_is_large():
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_corpus(path):
    case = Case(path)
    found = extract(case.answer, case.task, truncated="truncated" in case.header)
    assert found == case.expected


@pytest.mark.parametrize("path", CHECKED, ids=lambda path: path.stem)
def test_corpus_assembles_to_what_the_model_meant(path):
    case = Case(path)
    program = assemble(case.task, case.expected)
    namespace = {"__name__": "candidate"}
    exec(program.source, namespace)
    assert eval(case.header["check"], namespace)


def test_every_rule_has_a_case():
    rules = {Case(path).header.get("rule") for path in CORPUS}
    assert rules >= {
        "whole", "whole+mended", "continuation", "fence", "fence+mended", "joined-fence",
        "prefilled-fence", "unclosed-fence", "cut-fence", "unparsed-fence", "inline-fence",
        "marked", "tool-call", "chat-cut", "prose-cut", "prose-cut+mended", "cut", "doctest",
        "indented", "unparsed",
    }  # fmt: skip
