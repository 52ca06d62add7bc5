"""The tokens that a candidate wrote, and what the parser takes its names for."""

from typing import Any, NamedTuple

from clang.cindex import (
    CursorKind,
    SourceLocation,
    SourceRange,
    TokenKind,
    conf,
)

from .names import CLASSES, qualified
from .source import FilledUnit

OVERLOADED = CursorKind.OVERLOADED_DECL_REF
NO_REFERENCE = {
    CursorKind.MACRO_DEFINITION,
    CursorKind.INCLUSION_DIRECTIVE,
    CursorKind.PREPROCESSING_DIRECTIVE,
}
NAMESPACES = {CursorKind.NAMESPACE, CursorKind.NAMESPACE_ALIAS}
TYPE_ENDS, STARTS = {">", ">>", "*", "&", "&&"}, {";", "=", "(", "{", ",", ")", ":", "["}
"""What stands in front of and behind a name in its declaration."""
OPENING = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """One token."""

    text: str
    offset: int
    named: bool
    """Whether it is an identifier."""
    literal: bool
    cursor: Any
    """What it belongs to, for identifiers."""

    @property
    def declares(self) -> bool:
        """Whether this is where something gets its name."""
        cursor = self.cursor
        return bool(
            self.named
            and cursor.kind.is_declaration()
            and cursor.spelling == self.text
            and cursor.location.offset == self.offset
        )

    @property
    def meaning(self) -> Any:
        """The declaration that it refers to, None if there is none that goes by its name."""
        if not self.named or self.cursor.kind.is_invalid() or self.declares:
            return None
        found = self.cursor.referenced
        if found is None or found.kind.is_invalid() or found.kind.is_translation_unit():
            return None
        if found.kind is OVERLOADED:
            return found if overloads(found) else None
        if found.spelling != self.text:
            return None
        return found


def overloads(cursor: Any) -> int:
    """Return how many declarations an overloaded name may mean."""
    return int(conf.lib.clang_getNumOverloadedDecls(cursor))


class Tokens:
    """The tokens of a candidate in order, its includes left out."""

    def __init__(self, tu: Any, path: str, spliced: FilledUnit) -> None:
        file = tu.get_file(path)
        ends = [SourceLocation.from_offset(tu, file, at) for at in (spliced.start, spliced.end)]
        tokens = tu.get_tokens(extent=SourceRange.from_locations(*ends))
        self.all: list[Token] = []
        for token in tokens:
            offset = token.location.offset
            if token.kind is TokenKind.COMMENT or not spliced.start <= offset < spliced.end:
                continue
            named = token.kind is TokenKind.IDENTIFIER
            literal = token.kind is TokenKind.LITERAL
            cursor = token.cursor if named else None
            self.all.append(Token(token.spelling, offset, named, literal, cursor))

    def at(self, offset: int) -> int | None:
        """Return the index of the token at a place of the unit."""
        for index, word in enumerate(self.all):
            if word.offset <= offset < word.offset + max(len(word.text.encode()), 1):
                return index
        return None

    def declared(self, errors: set[int]) -> set[str]:
        """Return the names that a candidate gives, also where the type before them is not known."""
        found = {word.text for word in self.all if word.declares}
        for index, word in enumerate(self.all):
            if not word.named or word.offset in errors or word.meaning is not None:
                continue
            before = self.text(index - 1)
            if (before in TYPE_ENDS or self.all[index - 1].named) and self.text(
                index + 1
            ) in STARTS:
                found.add(word.text)
        return found

    def text(self, index: int) -> str:
        """Return a token's text, nothing beyond either end."""
        return self.all[index].text if 0 <= index < len(self.all) else ""

    def first_of_chain(self, index: int) -> int:
        """Return where the qualified name begins that a token is part of."""
        while self.text(index - 1) == "::" and index >= 2 and self.all[index - 2].named:  # noqa: PLR2004
            index -= 2
        return index

    def last_of_chain(self, index: int) -> int:
        """Return where it ends."""
        while self.text(index + 1) == "::" and index + 2 < len(self.all):
            if not self.all[index + 2].named:
                break
            index += 2
        return index

    def chain(self, first: int, last: int) -> str:
        """Return the qualified name from one token to another."""
        return "::".join(self.all[index].text for index in range(first, last + 1, 2))

    def behind(self, index: int) -> str:
        """Return the token behind a name and its template arguments."""
        at = index + 1
        if self.text(at) != "<":
            return self.text(at)
        depth = 0
        for place in range(at, min(at + 200, len(self.all))):
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.text(place), 0)
            if depth <= 0:
                return self.text(place + 1)
            if self.text(place) in {";", "{", "}"}:
                break
        return ""

    def arguments(self, index: int) -> int:
        """Return how many arguments stand in the brackets behind a name."""
        at = index + 1
        while at < len(self.all) and self.text(at) not in {"(", "{", ";"}:
            at += 1
        depth, commas, some = 0, 0, False
        for place in range(at, len(self.all)):
            text = self.text(place)
            depth += (text in OPENING) - (text in OPENING.values())
            if depth == 0:
                break
            commas += text == "," and depth == 1
            some = some or place > at
        return commas + some

    def callee(self, index: int) -> int | None:
        """Return the name of what is called with the argument or bracket at a place."""
        text = self.text(index)
        if text != ")" and self.text(index - 1) not in {"(", ","}:
            return None
        depth = 0
        for place in range(index - 1, -1, -1):
            text = self.text(place)
            if text in OPENING.values():
                depth += 1
            elif text in OPENING and depth:
                depth -= 1
            elif text == "(":
                return self._name_before(place)
            elif text in OPENING or text == ";":
                return None
        return None

    def _name_before(self, bracket: int) -> int | None:
        at = bracket - 1
        if self.text(at) in {">", ">>"}:
            depth = 0
            while at >= 0:
                depth += {">": 1, ">>": 2, "<": -1}.get(self.text(at), 0)
                at -= 1
                if depth <= 0:
                    break
        return at if at >= 0 and self.all[at].named else None


def record_of(kind: Any) -> Any:
    """Return the class that a type is of, behind references and pointers; None if it is none."""
    for _ in range(4):
        pointee = kind.get_pointee()
        if not pointee.spelling:
            break
        kind = pointee
    declaration = kind.get_canonical().get_declaration()
    return declaration if declaration.kind in CLASSES else None


def is_incomplete(record: Any) -> bool:
    """Say whether a class is only announced in this unit."""
    if record.get_definition() is not None:
        return False
    return bool(record.type.get_size() < 0)


def full_name(cursor: Any) -> str:
    """Return the qualified name of a declaration, of an overloaded name the first's."""
    if cursor.kind is OVERLOADED:
        return qualified(conf.lib.clang_getOverloadedDecl(cursor, 0))
    return qualified(cursor)
