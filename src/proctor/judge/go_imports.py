"""Imports of a file in Go that was put together: each once, and only those that are used.

An import that nobody uses is an error in Go, and so is one that stands twice. What publishers of
Go benchmarks concatenate has both, which is why their own harnesses write the imports anew.
"""

import re

from proctor.extraction import lexer

_PACKAGE = re.compile(r"^package\s+\w+[ \t]*$", re.MULTILINE)
_IMPORT = re.compile(r'^import\s*(?:\(([^)]*)\)|((?:[\w.]+\s+)?"[^"\n]+"))', re.MULTILINE)
_SPEC = re.compile(r'(?:([\w.]+)[ \t]+)?"([^"\n]+)"')
STANDARD = (
    *("bufio", "bytes", "container/heap", "container/list", "crypto/md5", "encoding/hex"),
    *("encoding/json", "errors", "fmt", "math", "math/big", "math/bits", "math/cmplx"),
    *("math/rand", "os", "reflect", "regexp", "sort", "strconv", "strings", "testing", "time"),
    *("unicode", "unicode/utf8"),
)


def arrange_imports(setup: str, source: str, tests: str) -> str:
    """Return what stands in front of tests, with the imports that all of it uses."""
    front = f"{setup.rstrip()}\n{source}"
    package = _PACKAGE.search(front)
    specs = dict.fromkeys(_SPEC.findall("\n".join(a or b for a, b in _IMPORT.findall(front))))
    body = _IMPORT.sub("", _PACKAGE.sub("", front))
    named = {_name(spec) for spec in specs}
    specs |= {("", path): None for path in STANDARD if _name(("", path)) not in named}
    used = set(re.findall(r"\b(\w+)\.", lexer.visible(f"{body}\n{tests}", "go")))
    kept = [f'{alias} "{path}"' for alias, path in specs if _kept((alias, path), used)]
    head = package[0] if package else "package main"
    block = "\n".join(["import (", *kept, ")"]) if kept else ""
    return f"{head}\n{block}\n{body.rstrip()}\n"


def _name(spec: tuple[str, str]) -> str:
    alias, path = spec
    return alias or path.rpartition("/")[2]


def _kept(spec: tuple[str, str], used: set[str]) -> bool:
    return spec[0] in {"_", "."} or _name(spec) in used
