"""Test programs: right and wrong candidates, and those that would rather not be tested."""

import pytest

from proctor.grading.grade import Grader
from proctor.grading.prepare import Options
from proctor.judge.judge import Judge
from proctor.records.completion import Completion
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.task import TestProgram as InOneFile
from proctor.records.verdict import Bucket
from tests.requires import requires_language

TESTS = {
    "cpp": "#include <assert.h>\nint main() {\n    assert(add(1, 2) == 3);\n    assert(add(2, 2) == 4);\n}\n",
    "c": "#include <assert.h>\nint main(void) { assert(add(1, 2) == 3); return 0; }\n",
    "java": "public class Main { public static void main(String[] a) {\n"
    "    if (new Solution().add(1, 2) != 3) throw new AssertionError(); } }\n",
    "javascript": "const test = () => { console.assert(add(1, 2) === 3) }\ntest()\n",
    "typescript": "declare var require: any;\nconst assert = require('node:assert');\n"
    "assert.deepEqual(add(1, 2), 3);\n",
    "rust": "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn first() { assert_eq!(add(1, 2), 3); }\n"
    "    #[test]\n    fn second() { assert_eq!(add(2, 2), 4); }\n}\n",
    "go": 'func TestAdd(t *testing.T) {\n    if add(1, 2) != 3 {\n        t.Errorf("no")\n    }\n}\n',
}
ADD = {
    "cpp": "int add(int a, int b) { BODY }",
    "c": "int add(int a, int b) { BODY }",
    "java": "class Solution { int add(int a, int b) { BODY } }",
    "javascript": "const add = (a, b) => { BODY }",
    "typescript": "function add(a: number, b: number): number { BODY }",
    "rust": "fn add(a: i64, b: i64) -> i64 { BODY }",
    "go": 'package main\nimport "testing"\nfunc add(a int, b int) int { BODY }',
}
RAISE = {
    "java": "throw new RuntimeException();",
    "javascript": "throw new Error('no')",
    "typescript": "throw new Error('no')",
    "rust": 'panic!("no")',
    "go": 'panic("no")',
}


def judged(kernel, language, source, tests=None, **limits):
    requires_language(kernel, language)
    task = Task(
        task_id="t",
        language=language,
        tests=InOneFile(code=tests or TESTS[language]),
        limits=Limits(**limits).with_seconds(10),
    )
    return Judge(kernel).judge(task, Program(source=source, language=language))


@pytest.mark.parametrize("language", TESTS)
def test_a_right_and_a_wrong_candidate(kernel, language):
    right = judged(kernel, language, ADD[language].replace("BODY", "return a + b;"))
    assert (right.verdict.bucket, right.judged) == (Bucket.PASSED, "together")
    wrong = judged(kernel, language, ADD[language].replace("BODY", "return a + b + 1;"))
    assert wrong.verdict.bucket is Bucket.WRONG_ANSWER
    for execution in (*right.findings.executions, *wrong.findings.executions):
        assert b"yes" not in execution.stdout + execution.stderr


@pytest.mark.parametrize("language", RAISE)
def test_a_candidate_that_raises(kernel, language):
    verdict = judged(kernel, language, ADD[language].replace("BODY", RAISE[language])).verdict
    assert verdict.bucket is Bucket.TEST_EXCEPTION


@pytest.mark.parametrize(
    ("language", "source", "bucket"),
    [
        ("cpp", "#include <cstdlib>\nint add(int, int) { exit(0); }", Bucket.EARLY_EXIT),
        ("cpp", "#include <unistd.h>\nstruct A { A() { _exit(0); } } a; int add(int, int);", Bucket.COMPILE),
        ("cpp", "#include <unistd.h>\nstruct A { A() { _exit(0); } } a; int add(int, int) { return 0; }", Bucket.EARLY_EXIT),
        ("cpp", "#include <unistd.h>\n#include <signal.h>\nvoid h(int) { _exit(0); }\nint add(int, int) { signal(SIGABRT, h); return 0; }", Bucket.WRONG_ANSWER),
        ("cpp", '#include <assert.h>\nextern "C" void __assert_fail(const char*, const char*, unsigned, const char*) throw() {}\nint add(int, int) { return 0; }', Bucket.WRONG_ANSWER),
        ("cpp", "#define assert(x)\nint add(int, int) { return 0; }\n#define if(x) if (0)\n#define dprintf(...)", Bucket.WRONG_ANSWER),
        ("cpp", "#define main nothing\nint add(int, int) { return 0; }", Bucket.WRONG_ANSWER),
        ("cpp", "int add(int a, int b) { return a + b; }\nint main() { return 0; }", Bucket.COMPILE),
        ("cpp", "int add(int, int) { int *p = 0; return *(volatile int *)p; }", Bucket.CRASH),
        ("javascript", "const add = () => 0; console.assert = () => {}; Object.freeze(console)", Bucket.WRONG_ANSWER),
        ("javascript", "const add = () => process.exit(0)", Bucket.EARLY_EXIT),
        ("java", "class Solution { int add(int a, int b) { System.exit(0); return 0; } }", Bucket.EARLY_EXIT),
        ("rust", "macro_rules! assert_eq { ($($x:tt)*) => {} }\nfn add(_: i64, _: i64) -> i64 { 0 }", Bucket.TAMPERING),
        ("rust", "fn add(_: i64, _: i64) -> i64 { std::process::exit(0) }", Bucket.EARLY_EXIT),
    ],
)  # fmt: skip
def test_candidates_that_would_rather_not_be_tested(kernel, language, source, bucket):
    assert judged(kernel, language, source).verdict.bucket is bucket


def test_a_candidate_that_prints_much_or_takes_long(kernel):
    loud = '#include <cstdio>\nint add(int a, int b) { for (;;) puts("yes"); }'
    assert judged(kernel, "cpp", loud).verdict.bucket is Bucket.OUTPUT_OVERFLOW
    task = Task(
        task_id="t",
        language="cpp",
        tests=InOneFile(code=TESTS["cpp"]),
        limits=Limits().with_seconds(0.5),
    )
    slow = Program(source="int add(int a, int b) { for (;;); }", language="cpp")
    verdict = Judge(kernel).judge(task, slow).verdict
    assert (verdict.bucket, verdict.score) == (Bucket.CPU_TIME, 0)


def test_what_the_reference_cannot_do_is_asked_of_nobody(kernel):
    requires_language(kernel, "cpp")
    task = Task(
        task_id="t",
        language="cpp",
        prompt="int add(int a, int b) {\n",
        canonical_solution="    return a - b;\n}\n",
        tests=InOneFile(code=TESTS["cpp"]),
        limits=Limits().with_seconds(10),
    )
    grader = Grader(kernel, Options())
    receipt = grader.grade(
        task, Completion(task_id="t", sample=0, id="0_s0", completion="    return 9;\n}\n")
    )
    assert (receipt.outcome, receipt.bucket) == (None, Bucket.BENCHMARK)
    assert "canonical_solution fails" in receipt.detail
    assert receipt.toolchain == kernel.require_language("cpp")
    right = grader.grade(
        task, Completion(task_id="t", sample=1, id="0_s1", completion="    return a + b;\n}\n")
    )
    assert right.bucket is Bucket.PASSED


def test_tests_without_a_function_are_the_tasks_fault(kernel):
    verdict = judged(kernel, "cpp", "int add(int a, int b);", tests="int x;").verdict
    assert verdict.bucket is Bucket.BENCHMARK
