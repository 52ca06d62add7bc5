"""C++ that carries values of plain types across a border: written here, for one signature each.

    entry(signature)    behind the candidate: the one function that its shared object exports
    caller(signature)   a part that calls it whenever a call comes over the border
    tests(signature)    test code behind the prompt's own declarations, where the function is
                        either a stub that asks over the border, or that exported one

Whole numbers cross as 64 bits, fractions as a double, text and sequences with their count in front.
Where a count or a value is not there, or something is left over, the reader says so and ends.
"""

import re
from pathlib import Path

from proctor.judge.cpp.signature import ARITIES, HEADERS, Parameter, Signature, Type, call_arguments
from proctor.judge.instrument_tests import Tokens, instrument
from proctor.languages import cpp
from proctor.languages.c import MAIN
from proctor.languages.language import Harness

CPP = Path(__file__).parent
BORDER = (CPP / "border.h").read_text()
HOST = {
    name: (CPP / name).read_bytes()
    for name in ("host.cpp", "border.h", "instances.cpp", "instances.h", "shown.list")
}
"""What the program that runs parts is made of."""
INSTANCES = (
    f"#define PROCTOR_INSTANCE extern template\n{HOST['instances.h'].decode()}"
    "#undef PROCTOR_INSTANCE\n"
)
"""What parts need not instantiate, because that program has it."""
EXPORTS = "{ global: _Z13proctor_entry*; local: *; };\n"
FRACTIONS = frozenset(("float", "double"))
SEQUENCES = {"vector": "push_back", "deque": "push_back", "list": "push_back", "set": "insert"}
ALL_HEADERS = "".join(f"#include <{HEADERS.get(name, name)}>\n" for name in sorted(ARITIES))
"""The same for all parts of ours that have any of these types: compiled once for all of them."""
COUNT = "unsigned long n = v.size(); proctor->put(&n, 8);"
EACH = "for (unsigned long n = proctor_count(); n > 0; --n)"
ROOM = "v.reserve(proctor_room()); "
"""As much as the vector has that crossed: who reads behind its end finds no other elements."""
COUNTING = (
    "static inline unsigned long proctor_count() {\n"
    "    unsigned long n;\n    proctor->take(&n, 8);\n"
    "    if (n > proctor->left()) proctor->text(~0ul);\n    return n;\n}\n"
    "static inline unsigned long proctor_room() {\n"
    "    unsigned long n = 0, left = proctor->left();\n"
    "    if (left >= 8) __builtin_memcpy(&n, proctor->text(0), 8);\n"
    "    return n <= left / 8 ? n : 0;\n}\n"
)
UNDEFINED = (
    *("main", "proctor_entry", "return", "static_cast", "int", "void", "const", "char", "bool"),
    *("long", "unsigned", "signed", "short", "float", "double", "std"),
)
"""What a candidate may have given another meaning, which ours must not take."""
TESTS = Harness(
    heads=MAIN,
    before="#undef assert\n"
    "#define assert(...) ((__VA_ARGS__) ? (void)0 : "
    "proctor->result(0, #__VA_ARGS__, __LINE__))\n"
    '#line @HERE@ "tests"\n',
    closing='proctor->result(1, "", 0);',
)
NO_WORDS = Tokens(yes="", no="")


def entry(signature: Signature, code: str) -> str:
    """Return the function that stands behind a candidate and calls it as the tests do.

    A `main` beside it makes one of the candidate's own what it is to the tests: one too many.
    """
    values = _values(signature, code)
    given = ", ".join(
        f"static_cast<{_type_of(one)}{'' if one.reference else '&&'}>(a{i})"
        if i in values
        else f"a{i}"
        for i, one in enumerate(signature.parameters)
    )
    undefined = "".join(f"#undef {name}\n" for name in UNDEFINED)
    does = "" if signature.returns == "void" else "return "
    return (
        f'\n{undefined}#line 1 "call of {signature.name}"\nint main() {{ return 0; }}\n'
        f"{_head(signature, 'proctor_entry')} {{ {does}{signature.name}({given}); }}\n"
    )


def caller(signature: Signature) -> str:
    """Return a part that waits for calls and makes them; it depends on the types alone."""
    includes = ALL_HEADERS if any(one.text != one.name for one in signature.types) else ""
    takes = "".join(
        f"        {one.type.text} a{i}{{}};\n        {_get(one.type)}(a{i});\n"
        for i, one in enumerate(signature.parameters)
        if one.type
    )
    given = ", ".join(
        f"a{i}" if one.reference else f"static_cast<{one.type.text} &&>(a{i})"
        for i, one in enumerate(signature.parameters)
        if one.type
    )
    call = f"proctor_entry({given});"
    if signature.returned:
        call = f"{signature.returned.text} r = {call}"
    puts = [f"{_put(signature.returned)}(r);"] if signature.returned else []
    puts += [f"{_put(one.type)}(a{i});" for i, one in _written(signature) if one.type]
    answer = "".join(f"        {put}\n" for put in puts)
    return (
        f"{includes}{_codec(signature)}{_head(signature, 'proctor_entry')};\n"
        'extern "C" int proctor_start(const proctor_border *border) {\n'
        f"    proctor = border;\n    while (proctor->next()) {{\n{takes}"
        f"        proctor->end();\n        {call}\n        proctor->begin();\n{answer}"
        "        proctor->answer();\n    }\n    return 0;\n}\n"
    )


def tests(signature: Signature, setup: str, code: str, *, apart: bool) -> str | None:
    """Return test code as a part of its own; None if there is no test function in it."""
    instrumented = instrument(code, TESTS, cpp.LANGUAGE.lexer, NO_WORDS, 0)
    if instrumented is None or instrumented.functions != 1:
        return None
    main = re.search(TESTS.heads, code)
    plain = main is None or re.search(r"\(\s*(?:void)?\s*\)", main[0]) is not None
    arguments = "" if plain else "1, proctor_arguments"
    middle = _stub(signature) if apart else _passed_on(signature)
    codec = _codec(signature) if apart else f"{BORDER}static const proctor_border *proctor;\n"
    front = f"{setup.rstrip()}\n{signature.head}" if setup.strip() else signature.head
    return (
        f'{front}\n{codec}{middle}#line 1 "tests"\n{instrumented.code}\n#line 1 "start"\n'
        "static char proctor_name[] = {0}, *proctor_arguments[] = {proctor_name, nullptr};\n"
        'extern "C" int proctor_start(const proctor_border *border) {\n'
        "    proctor = border;\n    (void)proctor_arguments;\n"
        f"    return main({arguments});\n}}\n"
    )


def _values(signature: Signature, code: str) -> set[int]:
    """Return which parameters the tests give values to, and not only variables."""
    calls = call_arguments(code, signature.name)
    return {
        i
        for i, one in enumerate(signature.parameters)
        if not one.written
        and not all(i < len(given) and re.fullmatch(r"[A-Za-z_]\w*", given[i]) for given in calls)
    }


def _type_of(one: Parameter) -> str:
    return one.text if one.type is None else _declared(one)


def _declared(one: Parameter) -> str:
    """Spell a plain parameter so that nothing has to be in sight."""
    assert one.type is not None  # noqa: S101
    if not one.reference:
        return one.type.text
    return f"{one.type.text} &" if one.written else f"const {one.type.text} &"


def _head(signature: Signature, name: str) -> str:
    returns = signature.returned.text if signature.returned else signature.returns
    parameters = ", ".join(f"{_type_of(p)} a{i}" for i, p in enumerate(signature.parameters))
    return f"{returns} {name}({parameters})"


def _written(signature: Signature) -> list[tuple[int, Parameter]]:
    return [(i, one) for i, one in enumerate(signature.parameters) if one.written]


def _stub(signature: Signature) -> str:
    """Return the function as the tests have it: it asks over the border."""
    puts = "".join(
        f"    {_put(one.type)}(a{i});\n" for i, one in enumerate(signature.parameters) if one.type
    )
    result = signature.returned
    gets = f"    {result.text} r{{}};\n    {_get(result)}(r);\n" if result else ""
    for i, one in _written(signature):
        if one.type:
            gets += f"    {{ {one.type.text} w{{}}; {_get(one.type)}(w); "
            gets += f"a{i} = static_cast<{one.type.text} &&>(w); }}\n"
    last = "    return r;\n" if result else ""
    return (
        f"{_head(signature, signature.name)} {{\n    proctor->begin();\n{puts}"
        f"    proctor->call();\n{gets}    proctor->end();\n{last}}}\n"
    )


def _passed_on(signature: Signature) -> str:
    """Return the function as tests have it that share a process with the candidate."""
    given = ", ".join(
        f"a{i}" if one.reference else f"static_cast<{_type_of(one)} &&>(a{i})"
        for i, one in enumerate(signature.parameters)
    )
    does = "" if signature.returns == "void" else "return "
    return (
        f"{_head(signature, 'proctor_entry')};\n"
        f"{_head(signature, signature.name)} {{ {does}proctor_entry({given}); }}\n"
    )


def _codec(signature: Signature) -> str:
    """Return functions that put and get all types of a signature."""
    parts = [
        BORDER,
        "static const proctor_border *proctor;\n",
        COUNTING,
    ]
    for one in signature.types:
        put, get = _bodies(one)
        parts.append(
            f"static inline void {_put(one)}(const {one.text} &v) {{ {put} }}\n"
            f"static inline void {_get(one)}({one.text} &v) {{ {get} }}\n"
        )
    return "".join(parts)


def _bodies(one: Type) -> tuple[str, str]:
    """Return how a type is put and how it is got."""
    match one.name, one.of:
        case "string", _:
            return (
                f"{COUNT} proctor->put(v.data(), n);",
                "unsigned long n = proctor_count(); v.assign(proctor->text(n), n);",
            )
        case "map", (key, value):
            put = f"{_put(key)}(x.first); {_put(value)}(x.second);"
            get = f"v.emplace({_moved(key, 'k')}, {_moved(value, 'x')});"
            return (
                f"{COUNT} for (const auto &x : v) {{ {put} }}",
                f"{EACH} {{ {_got(key, 'k')} {_got(value, 'x')} {get} }}",
            )
        case "optional", (inner,):
            get = f"{_got(inner, 'x')} v = {_moved(inner, 'x')};"
            return (
                f"char is = v.has_value(); proctor->put(&is, 1); if (is) {_put(inner)}(*v);",
                f"char is; proctor->take(&is, 1); if (is) {{ {get} }}",
            )
        case "pair" | "tuple", of:
            puts = (f"{_put(inner)}(::std::get<{i}>(v));" for i, inner in enumerate(of))
            gets = (f"{_get(inner)}(::std::get<{i}>(v));" for i, inner in enumerate(of))
            return " ".join(puts), " ".join(gets)
        case name, (inner,):
            room = ROOM if name == "vector" else ""
            return (
                f"{COUNT} for (const {inner.text} &x : v) {_put(inner)}(x);",
                f"{room}{EACH} {{ {_got(inner, 'x')} v.{SEQUENCES[name]}({_moved(inner, 'x')}); }}",
            )
    wide = "double" if one.name in FRACTIONS else "long long"
    back = "x != 0" if one.name == "bool" else f"static_cast<{one.name}>(x)"
    return (
        f"{wide} x = static_cast<{wide}>(v); proctor->put(&x, 8);",
        f"{wide} x; proctor->take(&x, 8); v = {back};",
    )


def _got(one: Type, name: str) -> str:
    return f"{one.text} {name}{{}}; {_get(one)}({name});"


def _moved(one: Type, name: str) -> str:
    return f"static_cast<{one.text} &&>({name})"


def _put(one: Type) -> str:
    return f"proctor_put_{_mangled(one)}"


def _get(one: Type) -> str:
    return f"proctor_get_{_mangled(one)}"


def _mangled(one: Type) -> str:
    inside = "".join(f"_{_mangled(inner)}" for inner in one.of)
    return f"{one.name.replace(' ', '')}{len(one.of)}{inside}"
