"""Lines and indentation of Python text that need not parse, prose and all.

Every pattern is linear in the text: quantifiers that could backtrack into each other are
possessive, so that no answer can make us slow.
"""

import re

from proctor.extraction.string_literals import STRING

_MODULE = r"\w[\w.]*+(?: +as +\w++)?+"
_IMPORT = rf"import +{_MODULE}(?: *, *{_MODULE})*+ *(?:#.*)?$|from +[\w.]++ +import\b"
_DEFINITION = rf"(?:@\w|(?:async +)?def +\w++ *\(|class +\w++ *[(:]|{_IMPORT})"
_CODE = re.compile(
    rf"{_DEFINITION}|(?:if|elif|while|with|async|match|case|except)\b.*:\s*+(?:#.*)?$"
    r"|for +(?=[^:]*+:).*? in |(?:else|try|finally) *:"
    r"|(?:return|raise|assert|print|del|global|nonlocal|yield|await)\b|(?:pass|break|continue) *$"
    r"|\w[\w.]*+(?:\[[^\]]*+\])?+(?:, ?\w[\w.]*+)*+ *(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)"
    r"|\w[\w.]*+\(.*\)\s*+(?:#.*)?$"
)
_KEYWORD = re.compile(
    r"@|(?:def|class|import|from|async|if|elif|else|for|while|with|try|except|finally|return|raise"
    r"|assert|print|del|global|nonlocal|yield|await|pass|break|continue|lambda|not)\b"
)
_DEFINITION_LINE = re.compile(
    rf"^[ \t]*+(?:(?:async +)?def +\w|class +\w++ *[(:]|{_IMPORT})", re.MULTILINE
)
_TOKEN = re.compile(
    rf"(?P<string>{STRING})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|\\\n"
    r"|\n(?=(?P<head>@|(?:async +)?def |class |import |from )|(?P<start>[^\s)\]}]))"
)
_GOES_ON = re.compile(r"(?:else|elif|except|finally)\b")


def is_code_line(line: str) -> bool:
    """Whether a line that begins at column 0 looks like Python rather than like prose."""
    return _CODE.match(line) is not None


def is_prose_line(line: str) -> bool:
    """Whether a line that begins at column 0 is no attempt at Python, not even a broken one."""
    return not _KEYWORD.match(line) and not is_code_line(line)


def has_definition(text: str) -> bool:
    """Whether some line looks like an import or begins a definition, broken or not."""
    return _DEFINITION_LINE.search(text) is not None


def line_at(text: str, position: int) -> str:
    """Return the line of a text from a position on."""
    end = text.find("\n", position)
    return text[position:end] if end >= 0 else text[position:]


def statement_starts(text: str) -> list[int]:
    """Return where statements at column 0 begin, strings and brackets taken into account."""
    starts = [0]
    depth, decorated = 0, text.startswith("@")
    for token in _TOKEN.finditer(text):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(0, depth - 1)
        elif token["head"]:
            depth = 0  # no definition stands inside brackets: a stray one in prose ends here
            if not decorated:
                starts.append(token.end())
            decorated = token["head"] == "@"
        elif token["start"] and not depth and not _GOES_ON.match(text, token.end()):
            starts.append(token.end())
            decorated = False
    return starts


def indent_of(line: str) -> str:
    """Return the white space that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def body_indent(prompt: str) -> str:
    """Return the indentation that the text after a prompt needs to be in its last function."""
    last = prompt.rstrip().rpartition("\n")[2]
    return indent_of(last) + ("    " if last.endswith(":") else "")


def shift(code: str, old: str, new: str) -> str:
    """Replace one indentation by another, except on lines inside strings."""
    strings = (token.span() for token in _TOKEN.finditer(code) if token["string"])
    start, end = next(strings, (len(code), len(code)))
    shifted = []
    position = 0
    for line in code.split("\n"):
        while end <= position < len(code):
            start, end = next(strings, (len(code), len(code)))
        movable = position <= start and line.strip() and line.startswith(old)
        shifted.append(new + line.removeprefix(old) if movable else line)
        position += len(line) + 1
    return "\n".join(shifted)
