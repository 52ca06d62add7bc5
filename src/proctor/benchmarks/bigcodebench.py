"""Rows of BigCodeBench: functions that use many libraries, tested by unittest classes.

Two prompts are published for each task: `complete`, code to be continued, and `instruct`, words.
As the publisher's harness does, the imports and the signature of the task stand in front of every
program. A task has 240 s, may talk to itself over the loopback network, and needs libraries that
have to be installed where candidates run (`--python`); where one is missing, or anything else that
the task's own solution needs, its samples are unscored.
"""

import ast
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

import msgspec

from proctor.benchmarks.source import Read
from proctor.extraction.syntax import parse
from proctor.lines import Line, brief
from proctor.sandbox import GIB, MIB, Limits
from proctor.sandbox.inside.unit import declared_tests
from proctor.task import Task, UnitTests

Prompt = Literal["complete", "instruct"]
LIMITS = msgspec.structs.replace(
    Limits().with_seconds(240.0),
    memory_bytes=8 * GIB,
    scratch_bytes=1 * GIB,
    file_bytes=256 * MIB,
    loopback=True,
)
