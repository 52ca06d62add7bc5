"""Candidates in their place in a repository: compiled there, linked, judged."""

import json

import msgspec
import pytest

from proctor.extraction.assemble import verbatim
from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.judge.judge import Judge
from proctor.judge.repository_tests import diagnostics
from proctor.records.completion import Completion
from proctor.records.repository import Repository
from proctor.records.task import Task
from proctor.records.task import TestProgram as InOneFile
from proctor.records.verdict import Bucket

CONTEXT = Repository(
    files={
        "include/m/a.h": "#pragma once\nnamespace m { int twice(int); int base(); }\n",
        "src/a.cpp": '#include "m/a.h"\nnamespace m {\n/*HOLE*/\n}\n',
        "src/b.cpp": '#include "m/a.h"\nint m::base() { return 5; }\n',
    },
    unit="src/a.cpp",
    sources=["src/b.cpp"],
    flags=["-std=c++17", "-Iinclude"],
)
TASK = Task(
    task_id="twice",
    language="cpp",
    entry_point="m::twice",
    tests=InOneFile(
        code='#include "m/a.h"\nint main() { assert(m::twice(2) == 4); assert(m::base() == 5); }\n'
    ),
    canonical_solution="int twice(int x) { return 2 * x; }\n",
    context=CONTEXT,
)


@pytest.fixture(scope="module")
def judge(cpp):
    return Judge(cpp)


@pytest.mark.parametrize(
    ("code", "bucket", "notes"),
    [
        (TASK.canonical_solution, Bucket.PASSED, set()),
        ("#include <map>\nint twice(int x) { return std::map<int, int>{{1, x}}[1] * 2; }", "passed", set()),
        ("int twice(int x) { return x; }", Bucket.WRONG_ANSWER, set()),
        ("int twice(int x) { return y; }", Bucket.COMPILE, set()),
        ("int thrice(int x) { return x; }", Bucket.COMPILE, {"not_linked"}),
        ("int twice(int x) { return x; }\n}\nint main() { return 0; }\nnamespace m {", "compile", {"not_linked"}),
        ('#include "../main.cpp"\nint twice(int x) { return x; }', Bucket.COMPILE, set()),
        ("int twice(int x) { __builtin_exit(0); }", Bucket.EARLY_EXIT, set()),
    ],
)  # fmt: skip
def test_buckets(judge, code, bucket, notes):
    judgement = judge.judge(TASK, verbatim(TASK, code))
    assert (judgement.verdict.bucket, judgement.findings.notes) == (bucket, notes)


def test_a_refusal_says_where(judge):
    detail = judge.judge(TASK, verbatim(TASK, "int twice(int x) { return y; }")).verdict.detail
    assert detail.startswith("src/a.cpp:3:27: error: ")


def test_a_context_that_does_not_build_judges_nobody(judge, kernel):
    broken = msgspec.structs.replace(CONTEXT, files={**CONTEXT.files, "src/b.cpp": "int;x"})
    task = msgspec.structs.replace(TASK, context=broken)
    verdict = judge.judge(task, verbatim(task, TASK.canonical_solution)).verdict
    assert verdict.bucket is Bucket.BENCHMARK
    assert verdict.detail.startswith("context_broken: src/b.cpp does not compile: src/b.cpp:1:")
    task = msgspec.structs.replace(TASK, canonical_solution="int twice(int x) { return z; }")
    answer = Completion(task_id="twice", sample=0, id="0_s0", completion="int twice() {}")
    receipt = Grader(kernel, Options(workers=1)).grade(task, answer)
    assert receipt.bucket is Bucket.BENCHMARK
    assert receipt.detail.startswith("context_broken: canonical_solution fails")


def test_diagnostics_are_read_as_far_as_they_are_whole():
    one = {
        "kind": "error",
        "message": "m" * 1000,
        "locations": [{"caret": {"file": "a.cpp", "line": 1, "column": 2}}],
    }
    whole = json.dumps([one] * 50)
    found = diagnostics(whole)
    assert len(found) == 20
    assert len(found[0].message) == 200
    assert len(diagnostics(whole[:2500])) == 2
    for said in ("", "[]", "no", "[{", '[{"kind": 3}]', "[" * 10_000, '[{"kind": "error"}]'):
        assert diagnostics(said) == []
