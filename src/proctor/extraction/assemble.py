"""A complete, hashable thing to run, and how a task and an extraction become one.

A candidate's text is never rewritten or reordered: it stands behind the prompt that it continues,
or behind those imports and helpers of the prompt that it lacks. The only thing that may come
before is `from __future__`, which Python wants first.
"""

import ast
import re
from functools import lru_cache

from proctor.extraction import extract
from proctor.extraction.python.reader import entry_names
from proctor.extraction.python.syntax import bound_names, outline, parse_answer
from proctor.languages import get_language
from proctor.records.extraction import Extraction, NoCode
from proctor.records.program import Program
from proctor.records.task import StdinCases, Task

BASE_IMPORTS = """\
import bisect
import collections
import copy
import datetime
import decimal
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import operator
import os
import random
import re
import statistics
import string
import sys
import time
import typing
from bisect import bisect_left, bisect_right, insort, insort_left, insort_right
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache, cmp_to_key, lru_cache, partial, reduce
from heapq import heapify, heappop, heappush, heappushpop, heapreplace, nlargest, nsmallest
from itertools import (
    accumulate, chain, combinations, combinations_with_replacement, count, cycle, groupby, islice,
    pairwise, permutations, product, repeat, starmap, takewhile, zip_longest,
)
from math import (
    ceil, comb, factorial, floor, gcd, inf, isqrt, lcm, log, log10, log2, pi, prod, sqrt,
)
from operator import attrgetter, itemgetter
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import (
    Any, Callable, DefaultDict, Deque, Dict, FrozenSet, Generator, Generic, Iterable, Iterator,
    List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple, Type, TypeVar, Union,
)
"""
"""The imports that people put in front of solutions; standard library only, no star imports."""


def assemble(task: Task, extraction: Extraction, *, preamble: str = "") -> Program:
    """Make the program that extracted code stands for, with `preamble` in front of it."""
    source = extraction.code
    if task.context is not None:
        return Program(source=task.context.filled(source), language=task.language)
    if task.language != "python":
        source = task.prompt + source if extraction.continues else _with_imports(task, source)
        return _other_language_program(task, source)
    if extraction.continues:
        source = task.prompt + source
    elif not isinstance(task.tests, StdinCases):
        source = prepend(_setting(task, source), source)
    return _program(task, source, preamble)


def reference_program(task: Task) -> Program | None:
    """Return a task's reference solution as a program, None if it has none."""
    if task.canonical_solution is None:
        return None
    if task.language != "python":
        return verbatim(task, task.canonical_solution)
    found = extract(task.canonical_solution, task, truncated=False)
    return None if isinstance(found, NoCode) else assemble(task, found)


def verbatim(task: Task, text: str, *, whole: bool = False, preamble: str = "") -> Program:
    """Make a program of text as it stands: behind the prompt, or `whole` without it.

    A prompt that is no code, as MBPP's sentences and all of those to programs that read
    standard input, is never part of a program.
    """
    if task.context is not None:
        return Program(source=task.context.filled(text), language=task.language)
    source = text if whole or not _is_code_prompt(task, text) else task.prompt + text
    if task.language != "python":
        return _other_language_program(task, source)
    return _program(task, source, preamble)


def prepend(text: str, source: str) -> str:
    """Put text before source, but behind its imports from `__future__`."""
    if not text.strip():
        return source
    lines = source.split("\n")
    behind = _last_future_line(source)
    return "\n".join([*lines[:behind], text.rstrip("\n"), *lines[behind:]])


def _program(task: Task, source: str, preamble: str) -> Program:
    """Put the task's preamble and ours in front, but nothing that could answer the task.

    `from math import gcd` must not stand in for a missing `gcd` that a task asks for.
    """
    preamble = "\n".join(text for text in (preamble, task.preamble) if text)
    provided = (_bound_by(preamble) or frozenset()) & entry_names(task)
    if provided:
        preamble = f"{preamble.rstrip()}\ndel {', '.join(sorted(provided))}"
    return Program(source=prepend(preamble, source), language=task.language)


def _other_language_program(task: Task, source: str) -> Program:
    source = f"{task.preamble.rstrip()}\n{source}" if task.preamble.strip() else source
    return Program(source=source, language=task.language)


def _is_code_prompt(task: Task, text: str) -> bool:
    if isinstance(task.tests, StdinCases):
        return False
    if task.language != "python":
        language = get_language(task.language)
        opens = language.has_braces and language.lexer.depth_after(task.prompt) != 0
        return opens or text.lstrip().startswith("{")
    names = _bound_by(task.prompt)
    if names is None:  # it may stop in the middle of a statement
        return parse_answer(task.prompt + text) is not None
    return bool(names)


@lru_cache(maxsize=256)
def _bound_by(prompt: str) -> frozenset[str] | None:
    """Return the names that a prompt or preamble binds, None if it cannot be read."""
    tree = outline(prompt)
    return None if tree is None else frozenset(bound_names(tree))


def _with_imports(task: Task, source: str) -> str:
    """Put those imports of a prompt in front of code that it lacks."""
    pattern = get_language(task.language).imports
    if isinstance(task.tests, StdinCases) or not pattern:
        return source
    present = {" ".join(line.split()) for line in source.splitlines()}
    lines = [line[0] for line in re.finditer(pattern, task.prompt, re.MULTILINE)]
    lacking = [line for line in lines if " ".join(line.split()) not in present]
    return "\n".join([*lacking, source])


def _setting(task: Task, code: str) -> str:
    """Return the prompt's imports, helpers and constants that code does not bind itself."""
    prompt, tree = outline(task.prompt), parse_answer(code)
    if prompt is None or tree is None:
        return ""
    lines = task.prompt.split("\n")
    entries, present = entry_names(task), bound_names(tree)
    setting: list[str] = []
    taken = 0
    for node in prompt.body:
        names = bound_names(node)
        if names - present and names.isdisjoint(entries):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            setting += lines[max(first - 1, taken) : node.end_lineno]  # `;` may share a line
            taken = node.end_lineno or 0
    return "\n".join(setting)


def _last_future_line(source: str) -> int:
    tree = parse_answer(source) if "__future__" in source else None
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom)) if tree else ()
    return max((n.end_lineno or 0 for n in imports if n.module == "__future__"), default=0)
