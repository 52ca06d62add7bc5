"""Names that exist somewhere: in a repository, or in the standard library."""

from collections.abc import Callable, Iterator
from typing import Any

from clang.cindex import CursorKind

SCOPES = {
    CursorKind.NAMESPACE,
    CursorKind.LINKAGE_SPEC,
    CursorKind.UNEXPOSED_DECL,
    CursorKind.TRANSLATION_UNIT,
}
CLASSES = {
    CursorKind.CLASS_DECL,
    CursorKind.STRUCT_DECL,
    CursorKind.UNION_DECL,
    CursorKind.CLASS_TEMPLATE,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
}
ENUM = CursorKind.ENUM_DECL
MEMBERS = {
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.VAR_DECL,
    CursorKind.FUNCTION_TEMPLATE,
}
NAMED = {
    CursorKind.NAMESPACE: "namespace",
    CursorKind.NAMESPACE_ALIAS: "namespace",
    CursorKind.FUNCTION_DECL: "function",
    CursorKind.FUNCTION_TEMPLATE: "function",
    CursorKind.CXX_METHOD: "method",
    CursorKind.CONSTRUCTOR: "constructor",
    CursorKind.FIELD_DECL: "field",
    CursorKind.VAR_DECL: "variable",
    CursorKind.ENUM_CONSTANT_DECL: "enumerator",
    CursorKind.TYPEDEF_DECL: "type",
    CursorKind.TYPE_ALIAS_DECL: "type",
    CursorKind.TYPE_ALIAS_TEMPLATE_DECL: "type",
    CursorKind.CONCEPT_DECL: "concept",
    CursorKind.USING_DECLARATION: "using",
    CursorKind.MACRO_DEFINITION: "macro",
    ENUM: "type",
    **dict.fromkeys(CLASSES, "class"),
}


def is_hidden(name: str) -> bool:
    """Say whether a name is the implementation's own."""
    return name.startswith("__") or (name[:1] == "_" and name[1:2].isupper())


def qualified(cursor: Any) -> str:
    """Return a declaration's name with all that it is in, but without inline namespaces."""
    parts: list[str] = []
    while cursor is not None and cursor.kind is not CursorKind.TRANSLATION_UNIT:
        name = cursor.spelling
        if name and not (cursor.kind is CursorKind.NAMESPACE and is_hidden(name)):
            parts.append(name)
        cursor = cursor.semantic_parent
    return "::".join(reversed(parts))


def walk(cursor: Any, *, members: bool) -> Iterator[tuple[str, Any]]:
    """Yield qualified names and declarations below a cursor, `members` of classes, too."""
    stack = [("", cursor)]
    while stack:
        prefix, parent = stack.pop()
        for child in parent.get_children():
            name, kind = child.spelling, child.kind
            if kind in SCOPES:
                inner = prefix
                if kind is CursorKind.NAMESPACE and name and not is_hidden(name):
                    inner = f"{prefix}{name}::"
                    yield prefix + name, child
                stack.append((inner, child))
                continue
            if kind not in NAMED or not name or is_hidden(name) or _is_apart(parent, child):
                continue
            yield prefix + name, child
            if kind is ENUM:
                scoped = bool(child.is_scoped_enum())
                stack.append((f"{prefix}{name}::" if scoped else prefix, child))
            elif kind in CLASSES and members:
                stack.append((f"{prefix}{name}::", child))


def _is_apart(parent: Any, child: Any) -> bool:
    """Say whether a member is defined outside of its class: that is no name of its own."""
    if parent.kind not in SCOPES or child.kind not in MEMBERS:
        return False
    return child.semantic_parent is not None and child.semantic_parent.kind in CLASSES


def names_of(tu: Any, inside: Callable[[Any], bool], *, members: bool) -> dict[str, str]:
    """Return names and kinds of declarations whose place is `inside`, `members` of classes, too."""
    found: dict[str, str] = {}
    for name, cursor in walk(tu.cursor, members=members):
        if inside(cursor.location):
            found.setdefault(name, NAMED[cursor.kind])
    return found
