"""What an error is about, by where it stands and what is known of the name there.

The parser's wording is never looked at: it differs between versions. An error's place marks a
*root*; a name that is not known but has no error of its own follows from another one that failed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clang.cindex import AccessSpecifier, CursorKind

from .names import CLASSES, ENUM, qualified, walk
from .tokens import (
    NAMESPACES,
    OVERLOADED,
    STARTS,
    TYPE_ENDS,
    Token,
    Tokens,
    full_name,
    is_incomplete,
    overloads,
    record_of,
)

FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.FUNCTION_TEMPLATE,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
    OVERLOADED,
}
HIDDEN = {AccessSpecifier.PRIVATE, AccessSpecifier.PROTECTED}
MEMBERS = {"method", "field", "constructor"}
SUFFIX = re.compile(r"(?:[0-9.'\"])(_?[A-Za-z]\w*)$")
OWNERS = {*CLASSES, ENUM, CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL}

Finding = dict[str, Any]


class KnownNames(NamedTuple):
    """Names that exist, whether or not the unit sees them, and their kinds."""

    repository: Mapping[str, str]
    standard: Mapping[str, str]


class RootCauses:
    """Finds out what errors in one candidate are about."""

    def __init__(self, tu: Any, words: Tokens, known: KnownNames, own: set[str]) -> None:
        self._tu = tu
        self._words = words
        self._known = known
        self._own = own
        self._visible: dict[str, Any] | None = None
        self._scopes: list[str] | None = None
        self._calls: set[int] | None = None
        self._failed = -1

    def at(self, offset: int) -> Finding | None:
        """Return what an error at a place is about: None if nobody knows.

        A `cascade` follows from another error.
        """
        index = self._words.at(offset)
        if index is None:
            return None
        word = self._words.all[index]
        if word.literal:
            return self._suffix(index) or self._argument(index)
        if not word.named:
            return self._operator(index) or self._argument(index)
        if word.declares:
            return self._declared(index)
        if word.meaning is None:
            return self._unknown(index)
        return self._resolved(index, word)

    def _resolved(self, index: int, word: Token) -> Finding | None:
        """Something is wrong with a name that is known."""
        words, meaning = self._words, word.meaning
        if words.text(index + 1) == "::":
            last = words.last_of_chain(index)
            known = words.all[last].meaning is not None
            return self._resolved(last, words.all[last]) if known else self._unknown(last)
        if self._is_hidden(meaning, word.offset):
            return finding("access_violation", word, full_name(meaning))
        if words.behind(index) in {"(", "{"}:
            first = words.all[words.first_of_chain(index)].offset
            if meaning.kind in CLASSES or (record_of(meaning.type) and meaning.kind in OWNERS):
                return self._construction(index, record_of(meaning.type) or meaning)
            if meaning.kind in FUNCTIONS and first not in self._whole_calls():
                return self._mismatch(index)
        return self._argument(index) or self._argument(words.first_of_chain(index))

    def _is_hidden(self, meaning: Any, offset: int) -> bool:
        if meaning.kind is OVERLOADED or meaning.access_specifier not in HIDDEN:
            return False
        return qualified(meaning.semantic_parent) not in self._around(offset)

    def _mismatch(self, index: int) -> Finding:
        word = self._words.all[index]
        cursor = word.meaning
        count = overloads(cursor) if cursor.kind is OVERLOADED else 1
        named = cursor.semantic_parent if cursor.kind is CursorKind.CONSTRUCTOR else cursor
        found = finding("overload_mismatch", word, full_name(named))
        return {**found, "arguments": self._words.arguments(index), "candidates": count}

    def _argument(self, index: int) -> Finding | None:
        """An error where an argument begins, or where one is lacking, is about the call."""
        callee = self._words.callee(index)
        if callee is None:
            return None
        word = self._words.all[callee]
        if word.meaning is None or word.meaning.kind not in FUNCTIONS:
            return None
        return self._mismatch(callee)

    def _operator(self, index: int) -> Finding | None:
        """A member of something that is only announced."""
        if self._words.text(index) not in {".", "->"} or not index:
            return None
        record = self._record_before(index)
        return self._incomplete(record, self._words.all[index - 1]) if record else None

    def _incomplete(self, record: Any, word: Token) -> Finding | None:
        if not is_incomplete(record):
            return None
        name = qualified(record)
        kind = "not_visible" if name in self._known.repository else "missing_include"
        return finding(kind, word, name, name.rpartition("::")[2])

    def _declared(self, index: int) -> Finding | None:
        """An error where something gets its name: what it is made of, or what it is part of."""
        words, word = self._words, self._words.all[index]
        cursor = word.cursor
        if words.text(index - 1) == "::":
            return self._defined(index)
        record = record_of(cursor.type) if cursor.kind is CursorKind.VAR_DECL else None
        if record is None:
            return None
        for below in cursor.walk_preorder():
            made = below.referenced if below.kind is CursorKind.CALL_EXPR else None
            if made is None or made.kind is not CursorKind.CONSTRUCTOR:
                continue
            if made.access_specifier in HIDDEN:
                return finding("access_violation", word, full_name(made), made.spelling)
        found = self._incomplete(record, word)
        if found is not None or words.text(index + 1) not in {"(", "{", ";"}:
            return found
        return self._construction(index, record)

    def _construction(self, index: int, record: Any) -> Finding | None:
        word = self._words.all[index]
        found = self._incomplete(record, word)
        if found is not None:
            return found
        name = qualified(record)
        kinds = (CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE)
        count = sum(one.kind in kinds for one in record.get_children())
        found = finding("overload_mismatch", word, name, record.spelling)
        given = 0 if self._words.text(index + 1) == ";" else self._words.arguments(index)
        return {**found, "arguments": given, "candidates": count}

    def _defined(self, index: int) -> Finding | None:
        """A member is defined that its class does not declare, or not so."""
        word = self._words.all[index]
        owner = self._words.all[index - 2]
        record = owner.meaning if owner.named else None
        if record is None or record.kind not in CLASSES:
            return None
        outside = [
            one
            for one in record.get_children()
            if one.spelling == word.text and one.location.offset != word.offset
        ]
        if outside:
            found = finding("overload_mismatch", word, f"{qualified(record)}::{word.text}")
            return {**found, "candidates": len(outside)}
        return _member(word, qualified(record))

    def _suffix(self, index: int) -> Finding | None:
        word = self._words.all[index]
        found = SUFFIX.search(word.text)
        if found is None:
            return None
        name = f'operator""{found[1]}'
        spelt = {name, name.replace('""', '"" ')}
        for kind, names in (
            ("not_visible", self._known.repository),
            ("missing_include", self._known.standard),
        ):
            for full in names:
                if full.rpartition("::")[2] in spelt:
                    return finding(kind, word, full, name)
        return finding("invented_symbol", word, name, name)

    def _unknown(self, index: int) -> Finding | None:
        """A name that the parser takes for nothing."""
        words = self._words
        word = words.all[index]
        if words.text(index - 1) in {".", "->"}:
            record = self._record_before(index - 1)
            return _member(word, qualified(record) if record else "")
        first, last = words.first_of_chain(index), words.last_of_chain(index)
        name = words.chain(first, index)
        owner = self._seen(words.chain(first, index - 2)) if first < index else None
        if owner is not None and owner.kind in OWNERS:
            return self._of_class(index, owner)
        if first == index and (word.text in self._own or self._follows(index)):
            self._own.add(word.text)
            return {"kind": "cascade"}
        self._failed = index
        seen = self._seen(words.chain(first, last))
        if seen is not None:
            return self._seen_but_wrong(last, seen)
        return self._elsewhere(word, name, words.chain(first, last))

    def _follows(self, index: int) -> bool:
        """Say whether a name is given behind a type that is not known, in the same statement."""
        words = self._words
        if words.text(index - 1) not in TYPE_ENDS or words.text(index + 1) not in STARTS:
            return False
        between = {words.text(place) for place in range(self._failed, index)}
        return 0 <= self._failed < index and not between & {";", "{", "}"}

    def _of_class(self, index: int, owner: Any) -> Finding | None:
        word = self._words.all[index]
        record = owner if owner.kind in {*CLASSES, ENUM} else owner.type.get_canonical()
        if record is not owner:
            record = record.get_declaration()
        there = [one for one in record.get_children() if one.spelling == word.text]
        if not there:
            return _member(word, qualified(record))
        if there[0].access_specifier in HIDDEN:
            return finding("access_violation", word, full_name(there[0]))
        found = finding("overload_mismatch", word, full_name(there[0]))
        return {**found, "arguments": self._words.arguments(index), "candidates": len(there)}

    def _seen_but_wrong(self, index: int, seen: Any) -> Finding | None:
        """A name that the unit does see, in a place where it does not fit."""
        if self._words.behind(index) not in {"(", "{"}:
            return None
        record = seen if seen.kind in CLASSES else record_of(seen.type)
        if record is not None and seen.kind in OWNERS:
            return self._construction(index, record)
        if seen.kind not in FUNCTIONS:
            return None
        word = self._words.all[index]
        found = finding("overload_mismatch", word, qualified(seen))
        return {**found, "arguments": self._words.arguments(index), "candidates": 1}

    def _elsewhere(self, word: Token, name: str, longer: str) -> Finding:
        """Look for a name that the unit does not see in all that there is."""
        repository, standard = self._known
        for spelt in (longer, name):
            for scope in self._in_scope():
                if scope + spelt in repository:
                    return finding("not_visible", word, scope + spelt)
                if scope + spelt in standard:
                    return finding("missing_include", word, scope + spelt)
        for spelt in (longer, name):
            for full, kind in repository.items():
                if full.endswith(f"::{spelt}") and kind not in MEMBERS:
                    return finding("not_visible", word, full)
            if f"std::{spelt}" in standard:
                return finding("missing_include", word, f"std::{spelt}")
        return finding("invented_symbol", word, name)

    def _record_before(self, operator: int) -> Any:
        """Return the class of what stands in front of a dot or an arrow."""
        end = self._words.all[operator].offset
        best: Any = None
        for cursor in self._expressions():
            extent = cursor.extent
            if extent.end.offset == end and (
                best is None or extent.start.offset <= best.extent.start.offset
            ):
                best = cursor
        if best is None:
            before = self._words.all[operator - 1]
            best = before.meaning or self._given_before(operator - 1)
        if best is None:
            return None
        record = record_of(best.type)
        if record is not None and self._words.text(operator) == "->":
            for one in record.get_children():
                if one.spelling == "operator->":
                    return record_of(one.result_type) or record
        return record

    def _given_before(self, index: int) -> Any:
        """Return the variable that a name was last given to, if the parser gave up on its use."""
        text = self._words.text(index)
        given = [word for word in self._words.all[:index] if word.text == text and word.declares]
        return given[-1].cursor if given else None

    def _expressions(self) -> Iterator[Any]:
        for top in self._tops():
            for cursor in top.walk_preorder():
                if cursor.kind.is_expression():
                    yield cursor

    def _tops(self) -> list[Any]:
        """Return the declarations that a candidate wrote at the top."""
        found = {}
        for word in self._words.all:
            if word.declares and word.cursor.kind in FUNCTIONS:
                found[word.offset] = word.cursor
        return list(found.values())

    def _whole_calls(self) -> set[int]:
        """Return where calls begin that nothing is wrong with."""
        if self._calls is None:
            self._calls = {
                cursor.extent.start.offset
                for cursor in self._expressions()
                if cursor.kind is CursorKind.CALL_EXPR and cursor.referenced is not None
            }
        return self._calls

    def _around(self, offset: int) -> set[str]:
        """Return the classes and namespaces that a place is in: it may use what they hide."""
        found = set()
        for top in self._tops():
            if top.extent.start.offset <= offset <= top.extent.end.offset:
                parts = qualified(top.semantic_parent).split("::")
                found |= {"::".join(parts[:end]) for end in range(1, len(parts) + 1)}
        return found - {""}

    def _in_scope(self) -> list[str]:
        """Return what may be left out in front of a name, as in `std::`."""
        if self._scopes is None:
            scopes = {""}
            for top in self._tops():
                scopes |= {f"{name}::" for name in self._around(top.extent.start.offset)}
            for cursor in self._tu.cursor.get_children():
                if cursor.kind is CursorKind.USING_DIRECTIVE:
                    used = [one.referenced for one in cursor.get_children() if one.referenced]
                    scopes |= {f"{qualified(one)}::" for one in used[-1:]}
            self._scopes = sorted(scopes, key=len, reverse=True)
        return self._scopes

    def _seen(self, name: str) -> Any:
        """Return what a name means at the place where a candidate stands, None if nothing."""
        if self._visible is None:
            self._visible = {}
            for full, cursor in walk(self._tu.cursor, members=False):
                if cursor.kind not in NAMESPACES and cursor.kind is not CursorKind.MACRO_DEFINITION:
                    self._visible.setdefault(full, cursor)
        for scope in self._in_scope():
            found = self._visible.get(scope + name)
            if found is not None:
                return found
        return None


def finding(kind: str, word: Token, full: str, name: str = "") -> Finding:
    """Return a finding about a word."""
    return {"kind": kind, "name": name or word.text, "qualified": full, "offset": word.offset}


def _member(word: Token, base: str) -> Finding:
    full = f"{base}::{word.text}" if base else word.text
    return {**finding("invented_member", word, full), "base": base}
