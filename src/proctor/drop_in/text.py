"""Text functions under the names and with the habits of other tools.

They are small rules of their own, for users who bring code that calls them; Proctor itself reads
answers with `proctor.extraction`, which knows the task.
"""

import re

from proctor.extraction.markdown import answer_of, normalise

_BLOCK = re.compile(r"```[\w+#.-]*+[ \t]*+\r?\n(.*?)```", re.DOTALL)
_FENCE_LINE = re.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)[\w+#.{} \t-]*+")
_NOT_PYTHON = re.compile(r"(?:Human|Assistant|User)[ \t]*+:?(?:[ \t]|$)|\*\*|###|---")

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
from math import ceil, comb, factorial, floor, gcd, inf, isqrt, lcm, log, log2, pi, prod, sqrt
from operator import attrgetter, itemgetter
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import (
    Any, Callable, DefaultDict, Deque, Dict, FrozenSet, Generator, Generic, Iterable, Iterator,
    List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple, Type, TypeVar, Union,
)
"""
"""The imports that people put in front of solutions; standard library only, no star imports."""


def extract_code(text: str) -> str | None:
    """Return the first fenced block; all of a text without fences; None if a fence stays open."""
    block = _BLOCK.search(text)
    if block:
        return block[1]
    return None if "```" in text else text


def extract_code_from_model(model_response: str) -> str | None:
    """Return the last fenced block without the white space around it, or None."""
    blocks = _BLOCK.findall(model_response)
    return blocks[-1].strip() if blocks else None


def strip_markdown_fences(text: str) -> str:
    """Drop the lines that are fences, and nothing else."""
    return "\n".join(line for line in text.split("\n") if not _FENCE_LINE.fullmatch(line))


def extract_python_code(text: str) -> str:
    """Drop reasoning and fences, and all from the first line on that cannot be Python."""
    lines = strip_markdown_fences(answer_of(normalise(text))[0]).split("\n")
    end = next((n for n, line in enumerate(lines) if _NOT_PYTHON.match(line)), len(lines))
    return "\n".join(lines[:end]).strip("\n")
