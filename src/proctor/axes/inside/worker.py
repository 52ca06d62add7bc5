"""Parse candidates of one task, each in its place, and say what was seen: a line of JSON each."""

import json
import os
from collections import Counter
from typing import Any

import clang
from clang import cindex
from clang.cindex import Diagnostic, TranslationUnit

from .names import names_of
from .root_causes import Finding, KnownNames, RootCauses, finding
from .source import INCLUDE, FilledUnit, fill_hole
from .tokens import NAMESPACES, NO_REFERENCE, OVERLOADED, Tokens, full_name

KEEP_GOING, PREAMBLE_AT_ONCE = 0x200, 0x100
OPTIONS = (
    TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    | TranslationUnit.PARSE_PRECOMPILED_PREAMBLE
    | PREAMBLE_AT_ONCE
    | KEEP_GOING
)
REPOSITORY = "repository"
"""The folder that a task's files are put into."""
MAX_ITEMS, MAX_TEXT = 200, 200
"""Findings of one candidate, and characters of a name."""
SYNTAX, DIRECTIVES = "Parse Issue", "Lexical or Preprocessor Issue"


def main(order: dict[str, Any], answer: Any) -> None:
    """Do what is asked, one line of answer for each thing that is asked for."""
    for path, text in order["files"].items():
        _write(os.path.join(REPOSITORY, path), text.encode("utf-8", "replace"))
    os.chdir(REPOSITORY)
    index = cindex.Index.create()
    if order["do"] == "index":
        _say(answer, {"names": _index(index, order), "version": _version()})
        return
    root = os.getcwd() + os.sep
    reader = Reader(index, root, order)
    for code in order["candidates"]:
        _say(answer, reader.read(code.encode("utf-8", "replace")))


def _version() -> str:
    return str(getattr(clang, "__version__", ""))


def _write(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def _say(answer: Any, record: dict[str, Any]) -> None:
    answer.write(json.dumps(record) + "\n")
    answer.flush()


def _index(index: Any, order: dict[str, Any]) -> dict[str, str]:
    """Return the names of a repository, or of all that one unit includes."""
    found: dict[str, str] = {}
    root = os.getcwd() + os.sep

    def inside(place: Any) -> bool:
        below = place.file is not None and place.file.name.startswith(root)
        return below or not order["below"]

    for unit in order["units"]:
        path = os.path.abspath(unit)
        tu = index.parse(path, args=order["flags"], options=OPTIONS & ~KEEP_GOING | 0x40)
        for name, kind in names_of(tu, inside, members=order["below"]).items():
            found.setdefault(name, kind)
    return found


class Reader:
    """Reads the candidates of one task; the unit is parsed once and then again for each."""

    def __init__(self, index: Any, root: str, order: dict[str, Any]) -> None:
        self._index = index
        self._root = root
        self._path = os.path.join(root, order["unit"])
        self._unit = order["files"][order["unit"]].encode()
        self._flags = order["flags"]
        self._known = KnownNames(order["repository"], order["standard"])
        self._headers = set(order["headers"])
        self._graph = set(order["call_graph"])
        self._tu: Any = None

    def read(self, code: bytes) -> dict[str, Any]:
        """Return what was seen of one candidate."""
        spliced = fill_hole(self._unit, code)
        unsaved = [(self._path, spliced.text.decode("utf-8", "replace"))]
        if self._tu is None:
            self._tu = self._index.parse(
                self._path, args=self._flags, unsaved_files=unsaved, options=OPTIONS
            )
            self._known = self._known._replace(
                repository={**self._unit_names(spliced), **self._known.repository}
            )
        else:
            self._tu.reparse(unsaved_files=unsaved, options=OPTIONS)
        words = Tokens(self._tu, self._path, spliced)
        errors, outside = self._errors(spliced)
        own = words.declared({offset for offset, _ in errors})
        roots = RootCauses(self._tu, words, self._known, own)
        report = Report(spliced, outside)
        self._headers_of(spliced, errors, report)
        for offset, category in errors[:MAX_ITEMS]:
            if offset >= spliced.front:
                about = None if category == DIRECTIVES else roots.at(offset)
                report.add_error(offset, category, about)
        self._count(words, report, failed=bool(errors or outside))
        return report.record()

    def _unit_names(self, spliced: FilledUnit) -> dict[str, str]:
        """Return the names that the unit has without the candidate."""

        def inside(place: Any) -> bool:
            mine = place.file is not None and place.file.name == self._path
            return mine and not spliced.holds(place.offset)

        return names_of(self._tu, inside, members=True)

    def _errors(self, spliced: FilledUnit) -> tuple[list[tuple[int, str]], int]:
        """Return errors in what the candidate wrote, and how many there are elsewhere."""
        inside, outside = [], 0
        for diagnostic in self._tu.diagnostics:
            if diagnostic.severity < Diagnostic.Error:
                continue
            place = diagnostic.location
            mine = place.file is not None and place.file.name == self._path
            if mine and spliced.holds(place.offset):
                inside.append((place.offset, diagnostic.category_name))
            elif mine and place.offset == spliced.end:  # where something was still awaited
                inside.append((max(place.offset - 1, spliced.start), diagnostic.category_name))
            elif mine and diagnostic.category_name == SYNTAX:  # nothing was wrong without it
                inside.append((max(spliced.end - 1, spliced.start), SYNTAX))
            else:
                outside += 1
        return sorted(set(inside)), outside

    def _headers_of(
        self, spliced: FilledUnit, errors: list[tuple[int, str]], report: "Report"
    ) -> None:
        """Tell headers that there are, those that were given, and those that there are not."""
        found = {}
        for included in self._tu.get_includes():
            place = included.location
            if included.depth == 1 and place.file and place.file.name == self._path:
                found[place.line] = included.include.name
        for match in INCLUDE.finditer(spliced.text):
            if not spliced.holds(match.start()):
                continue
            line = spliced.text.count(b"\n", 0, match.start()) + 1
            name = match[1].decode("utf-8", "replace").strip('<>"')
            at = match.start(1)
            if line in found:
                self._given_header(os.path.realpath(found[line]), name, at, report)
                continue
            end = spliced.text.find(b"\n", at)
            if any(match.start() <= offset <= end for offset, _ in errors):
                there = [file for file in self._known_files() if file.endswith(f"/{name}")]
                kind = "not_visible" if there else "invented_header"
                report.add(_header(kind, there[0] if there else name, name, at))

    def _known_files(self) -> list[str]:
        return [
            os.path.relpath(os.path.join(folder, file), self._root)
            for folder, _, files in os.walk(self._root)
            for file in files
        ]

    def _given_header(self, path: str, name: str, at: int, report: "Report") -> None:
        report.count["refs"] += 1
        if not path.startswith(self._root):
            report.count["system" if path.startswith("/usr/") else "out_of_context"] += 1
            if not path.startswith("/usr/"):
                report.add(_header("out_of_call_graph", name, name, at))
            return
        inside = path.removeprefix(self._root)
        given = not self._headers or inside in self._headers
        report.count["in_context" if given else "out_of_context"] += 1
        if not given:
            report.add(_header("out_of_call_graph", inside, name, at))

    def _count(self, words: Tokens, report: "Report", *, failed: bool) -> None:
        """Say for each name what it refers to."""
        defined = {word.cursor.get_usr() for word in words.all if word.declares}
        defined.discard("")
        blamed = {finding["offset"] for finding in report.findings}
        for word in words.all:
            if not word.named or word.declares or word.cursor.kind in NO_REFERENCE:
                continue
            meaning = word.meaning
            if meaning is not None and meaning.kind in NAMESPACES:
                continue
            report.count["refs"] += 1
            if meaning is None:
                if word.offset not in blamed:
                    report.count["cascade" if failed else "dependent"] += 1
                continue
            if meaning.kind is OVERLOADED:
                meaning = cindex.conf.lib.clang_getOverloadedDecl(meaning, 0)
            self._bin(word, meaning.canonical, defined, report, blamed=word.offset in blamed)

    def _bin(
        self, word: Any, meaning: Any, defined: set[str], report: "Report", *, blamed: bool
    ) -> None:
        place = meaning.location
        if place.file is None or not place.file.name.startswith(self._root):
            report.count["system"] += 1
            return
        mine = place.file.name == self._path
        if meaning.get_usr() in defined or (mine and report.spliced.holds(place.offset)):
            report.count["local"] += 1
            return
        name = full_name(meaning)
        if mine or self._given(name, place.file.name.removeprefix(self._root)):
            report.count["in_context"] += 1
            return
        report.count["out_of_context"] += 1
        if not blamed:
            report.add(finding("out_of_call_graph", word, name))

    def _given(self, name: str, file: str) -> bool:
        """Say whether something of the repository was shown to the model."""
        if not self._graph:
            return not self._headers or file in self._headers
        parts = name.split("::")
        around = {"::".join(parts[:end]) for end in range(1, len(parts) + 1)}
        return bool(around & self._graph) or any(one.startswith(f"{name}::") for one in self._graph)


def _header(kind: str, full: str, name: str, offset: int) -> Finding:
    return {"kind": kind, "name": name, "qualified": full, "offset": offset, "what": "header"}


class Report:
    """What is said of one candidate."""

    def __init__(self, spliced: FilledUnit, outside: int) -> None:
        self.spliced = spliced
        self.outside = outside
        self.count: Counter[str] = Counter()
        self.findings: list[Finding] = []
        self.others: list[dict[str, Any]] = []
        self._syntax = False
        self._last = -2

    def add(self, finding: Finding) -> None:
        """Write down a finding, the same at one place once."""
        if finding not in self.findings:
            self.findings.append(finding)

    def add_error(self, offset: int, category: str, finding: Finding | None) -> None:
        """Write down what an error is about, or only where it is."""
        line = self.spliced.place(offset).line
        if finding is not None and finding["kind"] == "cascade":
            self.count["cascade"] += 1
            return
        if finding is not None:
            self.add(finding)
            self._last = line
            return
        if category == SYNTAX and self._last <= line <= self._last + 1:
            self.count["cascade"] += 1  # a name that is not known makes what follows unreadable
            return
        self._syntax = self._syntax or category == SYNTAX
        line, column = self.spliced.place(offset)
        self.others.append({"line": line, "column": column, "category": category[:MAX_TEXT]})

    def record(self) -> dict[str, Any]:
        """Return all of it, bounded."""
        return {
            "syntax": self._syntax,
            "count": dict(self.count),
            "findings": [self._shown(finding) for finding in self.findings[:MAX_ITEMS]],
            "errors": self.others[:MAX_ITEMS],
            "outside": self.outside,
        }

    def _shown(self, finding: Finding) -> Finding:
        line, column = self.spliced.place(finding["offset"])
        shown = {
            name: value[:MAX_TEXT] if isinstance(value, str) else value
            for name, value in finding.items()
            if name != "offset"
        }
        return {**shown, "line": line, "column": column}
