"""What a C++ prompt declares its function to be, or that we do not know.

Not a parser of C++: it knows a function's head at the end of a prompt, made of plain value types,
and says so only where nothing is left to guess. Types that are not plain stay text, with which the
function can still be declared; a prompt that keeps state in front of the function, or whose head
has anything else that we do not know, gives nothing at all.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from proctor.languages import cpp

BUILTIN = frozenset(
    ("unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool")
)
WHOLE = {
    "size_t": "unsigned long",
    **{f"int{bits}_t": kind for bits, kind in ((32, "int"), (64, "long"))},
    **{f"uint{bits}_t": f"unsigned {kind}" for bits, kind in ((32, "int"), (64, "long"))},
}
"""Names that stand for a built-in type, on machines whose addresses have 64 bits."""
ARITIES = {
    "string": range(1),
    **dict.fromkeys(("vector", "deque", "list", "set", "optional"), range(1, 2)),
    **dict.fromkeys(("map", "pair"), range(2, 3)),
    "tuple": range(1, 17),
}
"""Types of the standard library that cross the border → how many types they take."""
HEADERS = {"pair": "utility"}
"""Where a type is declared, if not in the header that is called as it is."""
MAX_DEPTH = 8

_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_TOKEN = re.compile(r"\s*(::|[\w]+|[<>,&*]|\S)")
_STATEMENT = re.compile(
    r"(?:using|typedef|enum|struct|class|union|template|constexpr|const(?!\w))\b|;|$"
)
_FUNCTION = re.compile(r"[\w:<>,&*\s]+\([^()=]*\)\s*(?:\{\}|;)$")


class Type(msgspec.Struct, frozen=True):
    """A plain value type."""

    name: str
    """A built-in type, or one of namespace std."""
    of: tuple["Type", ...] = ()

    @property
    def text(self) -> str:
        """Return it as it is spelled where nothing was promised to be in sight."""
        if self.name not in ARITIES:
            return self.name
        inside = f"<{', '.join(one.text for one in self.of)}>" if self.of else ""
        return f"::std::{self.name}{inside}"

    @property
    def all(self) -> Iterator["Type"]:
        """Yield the types that it is made of, itself last."""
        for one in self.of:
            yield from one.all
        yield self


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter as it is declared."""

    text: str
    """Its type, reference included."""
    type: Type | None
    """What it is if that is plain."""
    written: bool = False
    """Whether the caller sees what becomes of it: a reference to what is not const."""
    reference: bool = False


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """A function that a prompt declares."""

    name: str
    head: str
    """The prompt in front of it."""
    returns: str
    returned: Type | None
    """What it returns if that is plain and not nothing."""
    parameters: Sequence[Parameter]

    @property
    def plain(self) -> bool:
        """Whether its values can cross the border."""
        known = all(parameter.type is not None for parameter in self.parameters)
        references = [parameter for parameter in self.parameters if parameter.reference]
        if len(references) > 1 and any(parameter.written for parameter in references):
            return False  # they may be references to the same
        return known and (self.returned is not None or self.returns == "void")

    @property
    def types(self) -> list[Type]:
        """Return all types of its values, each behind those that it is made of."""
        outer = [self.returned, *(parameter.type for parameter in self.parameters)]
        return list(dict.fromkeys(one for whole in outer if whole for one in whole.all))


def parse_signature(prompt: str, name: str | None) -> Signature | None:
    """Read the head of a function at the end of a prompt; None if we do not know."""
    if not name or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    text = mask_literals(prompt)
    begin = _last_statement(text)
    found = re.fullmatch(
        rf"(?P<returns>[^()]*?[\s>*&]){name}\s*\((?P<parameters>[^(){{}};=]*)\)\s*(?:\{{[\s\S]*|;?\s*)",
        text[begin:],
    )
    if found is None or not _stateless(text[:begin]):
        return None
    bare = _bare(text[:begin])
    returns = found["returns"].strip()
    parameters = [_parameter(one, bare) for one in _split(found["parameters"])]
    known = [parameter for parameter in parameters if parameter is not None]
    if len(known) < len(parameters) or not _is_value(returns):
        return None
    return Signature(
        name=name,
        head=prompt[:begin],
        returns=" ".join(returns.split()),
        returned=None if "&" in returns else _type(returns, bare),
        parameters=known,
    )


def mask_literals(text: str) -> str:
    """Return a text of the same length without comments, strings and directives."""
    plain = cpp.LANGUAGE.lexer.masked(text)
    return _DIRECTIVE.sub(lambda line: " " * len(line[0]), plain)


def call_arguments(code: str, name: str) -> list[list[str]]:
    """Return the arguments of all calls of a function, by its name or by what stands for it."""
    text = mask_literals(code)
    alias = re.findall(rf"\bauto\s*&?\s*(\w+)\s*=\s*&?\s*{name}\s*;", text)
    calls = []
    for call in re.finditer(rf"\b(?:{'|'.join([name, *alias])})\s*\(", text):
        end = _closing(text, call.end())
        calls.append([one.strip() for one in _split(text[call.end() : end])])
    return calls


def _is_value(returns: str) -> bool:
    """Say whether what stands in front of a function's name is a type and nothing else."""
    other = re.search(
        r"[^\w:<>,&*\s]|\b(?:template|static|inline|constexpr|auto|friend)\b", returns
    )
    return bool(returns) and other is None


def _last_statement(text: str) -> int:
    """Return where the last statement outside of all braces begins."""
    depth = begin = 0
    last = len(text.rstrip())
    for found in re.finditer(r"[{};]", text):
        depth += {"{": 1, "}": -1, ";": 0}[found[0]]
        if depth == 0 and found[0] != "{" and found.end() < last:
            begin = found.end()
    return begin + len(text[begin:]) - len(text[begin:].lstrip())  # directives are no part of it


def _stateless(head: str) -> bool:
    """Say whether what stands in front of a function only declares and computes."""
    if re.search(r"\b(?:static|extern|namespace|thread_local)\b", _without_std(head)):
        return False
    depth, last, statement = 0, 0, ""
    for found in re.finditer(r"[{};]", head):
        if depth == 0:
            statement += head[last : found.start()]
        depth += {"{": 1, "}": -1, ";": 0}[found[0]]
        last = found.end()
        if depth > 0 or (found[0] == "{"):
            continue
        statement += {"}": "{}", ";": ";"}[found[0]]
        if not _is_known(statement.strip()):
            return False
        statement = "" if found[0] == ";" or _FUNCTION.fullmatch(statement.strip()) else statement
    return not (statement + head[last:]).strip()


def _without_std(head: str) -> str:
    return re.sub(r"\busing\s+namespace\s+\w+\s*;", "", head)


def _is_known(statement: str) -> bool:
    if re.match(r"(?:struct|class|union|enum)\b", statement):  # with nothing declared behind it
        return statement.endswith("{}") or re.search(r"\{\}\s*;$", statement) is not None
    return bool(_STATEMENT.match(statement) or _FUNCTION.fullmatch(statement))


def _bare(head: str) -> frozenset[str]:
    """Return the names of namespace std that need not be spelled out."""
    if re.search(r"\busing\s+namespace\s+std\s*;", head):
        return frozenset(ARITIES)
    return frozenset(re.findall(r"\busing\s+std\s*::\s*(\w+)\s*;", head))


def _split(text: str) -> list[str]:
    """Split at commas that are not inside of anything; nothing is no element."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts if text.strip() and text.strip() != "void" else []


def _closing(text: str, at: int) -> int:
    """Return where a parenthesis is closed that is open at some place."""
    depth = 1
    for found in re.finditer(r"[()]", text[at:]):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return at + found.start()
    return len(text)


def _parameter(text: str, bare: frozenset[str]) -> Parameter | None:
    """Read a parameter; its name is of no use, and may be missing if its type is plain."""
    named = re.fullmatch(r"\s*(?P<type>[\s\S]*[\s>&*])(?P<name>[A-Za-z_]\w*)\s*", text)
    whole = _type(text, bare)
    if (
        named is not None
        and named["name"] not in BUILTIN | {"const"}
        and (whole is None or _type(named["type"], bare) is not None)
    ):
        text = named["type"]
        whole = _type(text, bare)
    elif whole is None:
        return None
    text = " ".join(text.split())
    if re.search(r"[^\w:<>,&*\s]", text) or "&&" in text:
        return None
    constant = re.match(r"const\b|.*\bconst\s*&$", text) is not None
    reference = text.endswith("&")
    return Parameter(text=text, type=whole, written=reference and not constant, reference=reference)


def _type(text: str, bare: frozenset[str]) -> Type | None:
    """Read a plain type, by value or by reference; None if it is none."""
    tokens = [token for token in _TOKEN.findall(text) if token != "const"]
    if tokens[-1:] == ["&"]:
        tokens.pop()
    found, rest = _read(tokens, bare, MAX_DEPTH)
    return None if rest else found


def _read(tokens: list[str], bare: frozenset[str], depth: int) -> tuple[Type | None, list[str]]:
    """Read one type from the front of some tokens and return the rest of them."""
    words = []
    while tokens and tokens[0] in BUILTIN:
        words.append(tokens[0])
        tokens = tokens[1:]
    if words:
        return _built_in(words), tokens
    std = tokens[:2] == ["std", "::"]
    name, *rest = tokens[2:] if std else [*tokens, ""]
    rest = rest if std else rest[:-1] if tokens else []
    if name in WHOLE:
        return Type(WHOLE[name]), rest
    if depth == 0 or name not in ARITIES or not (std or name in bare):
        return None, tokens
    of: list[Type] = []
    while rest[:1] == (["<"] if not of else [","]):
        one, rest = _read(rest[1:], bare, depth - 1)
        if one is None:
            return None, tokens
        of.append(one)
    if of:
        if rest[:1] != [">"]:
            return None, tokens
        rest = rest[1:]
    return (Type(name, tuple(of)) if len(of) in ARITIES[name] else None), rest


def _built_in(words: Sequence[str]) -> Type | None:
    """Return a built-in type by the words that make it up, in whatever order."""
    key = sorted(word for word in words if word != "int" or len(words) == 1)
    sign = "unsigned " if "unsigned" in key else "signed " if key == ["char", "signed"] else ""
    kind = [word for word in key if word not in {"unsigned", "signed"}]
    known = {"": "int", "long long": "long long"}
    name = known.get(" ".join(kind), kind[0] if len(kind) == 1 else "")
    if not name or (sign == "unsigned " and name in {"float", "double", "bool"}):
        return None
    return Type(sign + name)
