"""Questions about Python source that its syntax tree answers; nothing here runs any code."""

import ast
import builtins
import re
import threading
import warnings
from collections.abc import Iterator
from functools import lru_cache

from proctor.extraction.python.layout import body_indent

PLENTY = 128 << 20
"""More memory than parsing takes."""
MAX_SOURCE = 1 << 18
"""The longest text of a model, in characters, that is parsed."""

_FILENAME = "<answer>"
_LOCK = threading.Lock()
_FILTER: object = re.compile(re.escape(_FILENAME))
_BUILTINS = frozenset(dir(builtins))
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_Scope = _Definition | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Action = ast.Call | ast.Await | ast.NamedExpr | ast.Yield | ast.YieldFrom


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree of a source, or None where Python's parser refuses it."""
    # A filter for our file name alone: `catch_warnings` is not safe among threads, and under
    # `-W error` a warning about an escape sequence would make good code look broken. It is set
    # only where it is not yet first, since that makes Python forget which warnings it showed.
    if not warnings.filters or warnings.filters[0][3] != _FILTER:
        warnings.filterwarnings("ignore", module=re.escape(_FILENAME))
    try:
        # Before Python 3.13 threads that parse at once corrupt one another's count of the depth
        # of the tree: "AST constructor recursion depth mismatch".
        with _LOCK:
            return ast.parse(source, _FILENAME)
    except (SyntaxError, ValueError, RecursionError):
        return None
    except MemoryError:
        # The parser says so, too, of what is nested too deep. If there is no memory indeed, this
        # says it again: a host that gives out must not make good code look broken.
        bytearray(PLENTY)
        return None


def parse_answer(source: str) -> ast.Module | None:
    """Parse text that a model wrote, unless it is so long that parsing would take seconds."""
    return parse(source) if len(source) <= MAX_SOURCE else None


@lru_cache(maxsize=256)
def outline(prompt: str) -> ast.Module | None:
    """Return the syntax tree of a prompt, which may stop before the body of its last function."""
    return parse(prompt) or parse(f"{prompt.rstrip()}\n{body_indent(prompt)}pass\n")


def bound_names(*nodes: ast.AST) -> set[str]:
    """Return the names that module-level code binds; `from m import *` counts as `m.*`."""
    names = set()
    for node in _module_level(*nodes):
        if isinstance(node, _Definition):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {
                f"{node.module}.*" if name.name == "*" else name.asname or name.name
                for name in node.names
            }
        elif isinstance(node, ast.Import):
            names |= {name.asname or name.name.partition(".")[0] for name in node.names}
    return names


def unbound_names(tree: ast.Module) -> set[str]:
    """Return the names that code reads but nothing in it binds, builtins apart."""
    loaded: set[str] = set()
    stored = bound_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, ast.arg):
            stored.add(node.arg)
        elif isinstance(node, _Definition | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            stored.add(node.name or "")
        elif isinstance(node, ast.alias):
            stored.add(node.asname or node.name)
    return loaded - stored - _BUILTINS


def does_something(statement: ast.stmt) -> bool:
    """Whether a statement is more than bare names and values, as a line of prose may be."""
    match statement:
        case ast.Expr(value=ast.Name() | ast.Constant()):
            return False
        case ast.Expr() | ast.AnnAssign(value=None):
            return any(isinstance(node, _Action) for node in ast.walk(statement))
    return True


def has_stray_return(tree: ast.Module) -> bool:
    """Whether `return` or `yield` stands outside of functions: the body of one, not a program."""
    strays = ast.Return | ast.Yield | ast.YieldFrom
    return any(isinstance(node, strays) for node in _module_level(tree))


def defines(tree: ast.Module, name: str) -> bool:
    """Whether module-level code binds a name to more than a stub."""
    if name not in bound_names(tree):
        return False
    definitions = [n for n in tree.body if isinstance(n, _Definition) and n.name == name]
    return not definitions or not _is_stub(definitions[-1])


def reads_stdin(tree: ast.Module) -> bool:
    """Whether code mentions `input`, `stdin` or `open(0)`."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="input") | ast.Attribute(attr="stdin") | ast.alias(name="stdin"):
                return True
            case ast.Call(func=ast.Name(id="open"), args=[ast.Constant(value=0), *_]):
                return True
    return False


def completes(tree: ast.Module, prompt: str) -> bool:
    """Whether the text behind a prompt goes on with its last statement and does something."""
    lines = prompt.rstrip().split("\n")
    border = (len(lines), len(lines[-1].encode("utf-8", "surrogatepass")))
    for node in tree.body:
        if (node.lineno, node.col_offset) < border < _end(node):
            inner = (n for n in _statements(node) if _end(n) > border)
            new = (n for n in inner if not isinstance(n, _Definition) or n.lineno > len(lines))
            return any(does_something(n) for n in new) and not has_stray_return(tree)
    return False


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """Walk a statement and those in it; expressions hold none, and are most of a tree."""
    pending: list[ast.AST] = [node]
    while pending:
        node_ = pending.pop()
        if isinstance(node_, ast.stmt):
            yield node_
        for block in ("body", "orelse", "handlers", "finalbody", "cases"):
            pending += getattr(node_, block, ())


def _end(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0


def _is_stub(node: _Definition) -> bool:
    if isinstance(node, ast.ClassDef):
        methods = [inner for inner in node.body if isinstance(inner, _Function)]
        return bool(methods) and all(_is_stub(method) for method in methods)
    return all(_is_placeholder(statement) for statement in node.body)


def _is_placeholder(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id=name) | ast.Call(func=ast.Name(id=name))):
            return name == "NotImplementedError"
    return False


def _module_level(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Walk nodes without entering functions, classes and comprehensions."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _Scope):
            pending.extend(ast.iter_child_nodes(node))
