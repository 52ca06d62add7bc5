"""Languages: one file for each, with everything that is particular to it.

A language is added by a module of this package that has a `LANGUAGE`, or by the entry point
`proctor.languages` of another package. It is offered only where its self-test passes in the
sandbox. What a compiler or runtime needs of the host is shown in boxes of its own language and in
no others; `toolchain.py` finds it.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from proctor.errors import InputError
from proctor.languages.language import (
    CONTESTS,
    Harness,
    Language,
    PistonName,
    SandboxFusionName,
)
from proctor.languages.lexer import Lexer
from proctor.plugins import Plugins, load_plugins

__all__ = [
    "CONTESTS",
    "Harness",
    "Language",
    "Lexer",
    "PistonName",
    "SandboxFusionName",
    "all_languages",
    "builtin_languages",
    "get_language",
    "plugin_languages",
    "unknown_language",
]

GROUP = "proctor.languages"
"""Entry points by which other packages bring a language: a name, and a Language."""


@cache
def builtin_languages() -> Mapping[str, Language]:
    """Return the languages of this package, Python first."""
    found = [language for language in _modules().values() if not language.internal]
    return {one.name: one for one in sorted(found, key=lambda one: one.name != "python")}


@cache
def _modules() -> Mapping[str, Language]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    languages = [module.LANGUAGE for module in modules if hasattr(module, "LANGUAGE")]
    return {language.name: language for language in languages}


@cache
def plugin_languages() -> Plugins[Language]:
    """Return the languages of other packages; looking for them takes milliseconds."""
    return load_plugins(GROUP, Language, _modules())


@cache
def all_languages() -> Mapping[str, Language]:
    """Return all languages that a task can be in, those of other packages included."""
    return {**builtin_languages(), **plugin_languages().found}


def get_language(name: str) -> Language:
    """Return a language by its name."""
    language = _modules().get(name) or all_languages().get(name)
    if language is None:
        raise InputError(f"language {name[:40]!r}: {unknown_language(name)}")
    return language


def unknown_language(name: str) -> str:
    """Say why there is no such language: it is broken, or known are others."""
    return plugin_languages().broken.get(name) or f"known are {', '.join(all_languages())}"
