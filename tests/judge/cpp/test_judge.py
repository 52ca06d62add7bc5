"""C++ tests and candidates in processes of their own: what crosses, who is blamed, what is not."""

import secrets

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.extraction.assemble import reference_program
from proctor.judge.conversation import Findings
from proctor.judge.cpp.judge import CppJudge, _found
from proctor.judge.judge import Judge
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.task import TestProgram as InOneFile
from proctor.records.verdict import Bucket, Passed
from proctor.records.verdict import TestResult as Result

ASSERT = "#include <assert.h>\n"


def task_of(prompt, tests, entry="f", *, setup="", solution=None, seconds=5.0):
    return Task(
        task_id="t",
        language="cpp",
        prompt=prompt,
        entry_point=entry,
        tests=InOneFile(code=ASSERT + tests, setup=setup),
        canonical_solution=solution,
        limits=Limits().with_seconds(seconds),
    )


def judged(sandbox, task, body, *, whole=False):
    source = body if whole else task.prompt + body
    return Judge(sandbox).judge(task, Program(source=source, language="cpp"))


def landed(sandbox, task, body, *, whole=False):
    judgement = judged(sandbox, task, body, whole=whole)
    return judgement.verdict.bucket, judgement.judged


EVERYTHING = """\
#include <climits>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>
using namespace std;
"""
VALUES = [
    ("unsigned long long", "ULLONG_MAX"),
    ("char", "'\\xff'"),
    ("bool", "true"),
    ("float", "0.1f"),
    ("string", 'string("a\\0b\\xff", 4)'),
    ("vector<bool>", "{true, false, true}"),
    ("map<char, vector<string>>", "{{'a', {}}, {'b', {\"\", \"c\"}}}"),
    ("set<pair<int, string>>", '{{1, "x"}, {2, ""}}'),
    ("deque<list<double>>", "{{1.5}, {}}"),
    ("optional<vector<optional<int>>>", "vector<optional<int>>{nullopt, 3}"),
]


def test_every_kind_of_value_crosses_both_ways(cpp):
    """One function takes them all, looks at each, and returns them all."""
    types = [kind for kind, _ in VALUES]
    parameters = ", ".join(f"{kind} a{i}" for i, kind in enumerate(types))
    prompt = f"{EVERYTHING}tuple<{', '.join(types)}> f({parameters}) {{\n"
    checks = "".join(
        f"    {{ {kind} right = {value}; if (!(a{i} == right)) return {{}}; }}\n"
        for i, (kind, value) in enumerate(VALUES)
    )
    names = ", ".join(f"a{i}" for i in range(len(VALUES)))
    tests = "".join(f"    {kind} a{i} = {value};\n" for i, (kind, value) in enumerate(VALUES))
    tests += f"    auto got = f({names});\n"
    tests += "".join(f"    assert(get<{i}>(got) == a{i});\n" for i in range(len(VALUES)))
    task = task_of(prompt, f"int main() {{\n{tests}}}\n")
    assert landed(cpp, task, f"{checks}    return {{{names}}};\n}}\n") == ("passed", "apart")


def test_numbers_cross_at_their_limits(cpp):
    prompt = (
        "#include <climits>\nlong long f(long long a, short b, signed char c, unsigned char d) {\n"
    )
    tests = "int main() { assert(f(LLONG_MIN, -32768, -128, 255) == LLONG_MIN); }"
    body = "    return b == SHRT_MIN && c == SCHAR_MIN && d == UCHAR_MAX ? a : 0;\n}\n"
    assert landed(cpp, task_of(prompt, tests), body) == ("passed", "apart")


def test_floats_cross_to_the_last_bit(cpp):
    prompt = "#include <vector>\nstd::vector<double> f(std::vector<double> v) {\n"
    tests = """#include <cmath>
#include <limits>
int main() {
    double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> got = f({-0.0, nan, 5e-324, 0.1});
    assert(std::signbit(got[0]) && std::isnan(got[1]) && got[2] == 5e-324 && got[3] == 0.1);
    return 0;
}
"""
    assert landed(cpp, task_of(prompt, tests), "    return v;\n}\n") == ("passed", "apart")


def test_what_is_written_to_comes_back(cpp):
    prompt = "#include <vector>\nvoid f(std::vector<int> &v, int by) {\n"
    tests = (
        "int main() { std::vector<int> v{1, 2}; f(v, 3); f(v, 1); assert(v[0] == 5 && v[1] == 6); }"
    )
    task = task_of(prompt, tests)
    assert landed(cpp, task, "    for (int &x : v) x += by;\n}\n") == ("passed", "apart")
    wrong = judged(cpp, task, "    v.clear();\n}\n")
    assert (wrong.verdict.bucket, wrong.judged) == ("crash", "apart")  # the tests, on its answer


def test_helpers_of_the_prompt_are_the_tests_own(cpp):
    prompt = "int half(int x) { return x / 2; }\nint f(int x) {\n"
    task = task_of(prompt, "int main() { assert(half(f(21)) == 21); }")
    assert landed(cpp, task, "    return 2 * x;\n}\n") == ("passed", "apart")
    lying = "int half(int) { return 21; }\nint f(int) { return 0; }\n"
    assert landed(cpp, task, lying, whole=True) == ("wrong_answer", "apart")


def test_state_is_kept_between_calls(cpp):
    tests = "int main() { for (int i = 1; i < 300; ++i) assert(f(1) == i); }"
    body = "static int total = 0;\nint f(int by) { return total += by; }\n"
    assert landed(cpp, task_of("int f(int by) {\n", tests), body, whole=True) == ("passed", "apart")


@pytest.mark.parametrize(
    ("tests", "way"),
    [
        ("int main() { auto g = f; assert(g(2) == 4); }", "apart"),
        ("bool same(int a, int b) { assert(a == b); return true; }\nint main() { assert(same(f(2), 4)); }", "apart"),
        ("int main(int argc, char **) { assert(argc == 1 && f(2) == 4); return 0; }", "apart"),
        ("int main() { try { assert(f(2) == 4); } catch (int) { assert(false); } }", "together"),
        ("int main() { assert(f(2) == 4 && helper(1) == 2); }", "together"),
        ("extern int seen;\nint main() { assert(f(2) == 4 && seen == 1); }", "together"),
    ],
)  # fmt: skip
def test_what_tests_need_decides_the_way(cpp, tests, way):
    task = task_of("int f(int x) {\n", tests)
    source = "int seen = 0;\nint helper(int x) { return 2 * x; }\nint f(int x) { ++seen; return helper(x); }\n"
    assert landed(cpp, task, source, whole=True) == ("passed", way)
    wrong = source.replace("2 * x", "x")
    assert landed(cpp, task, wrong, whole=True) == ("wrong_answer", way)


def test_types_that_do_not_cross_share_a_process(cpp):
    prompt = "struct P { int x; };\nP f(P p) {\n"
    task = task_of(prompt, "int main() { assert(f(P{2}).x == 4); }")
    assert landed(cpp, task, "    p.x *= 2;\n    return p;\n}\n") == ("passed", "together")
    assert landed(cpp, task, "    return p;\n}\n") == ("wrong_answer", "together")
    assert landed(cpp, task, "    __builtin_trap();\n}\n") == ("crash", "together")


def test_the_reference_decides_and_no_candidate(cpp):
    """A global of the tests' own prompt would be two; a candidate cannot have it judged so."""
    prompt = "int f(int x) {\n"
    tests = "int n = 0;\nint next() { return ++n; }\nint main() { assert(f(next()) == 1); assert(f(next()) == 3); }"
    task = task_of(prompt, tests, solution="    extern int n;\n    return n += x - 1;\n}\n")
    missing = "    extern int n;\n    return n + 7 * x;\n}\n"
    alone = task_of(prompt, tests)
    assert landed(cpp, alone, missing) == (Bucket.COMPILE, "apart")
    assert judged(cpp, task, missing).judged == "together"  # for the reference needs it, too


class Scripted(CppJudge):
    """Finds what it is told to, and remembers what it was asked for in which way."""

    def __init__(self, *findings):
        super().__init__(None)
        self.findings = [*findings]
        self.asked = []

    def _by(self, state, program):
        self.asked.append((state.strategy, program.source))
        passed, meanwhile = self.findings.pop(0)
        meanwhile(state)
        test = Result(index=0, passed=passed, bucket=None if passed else Bucket.WRONG_ANSWER)
        return _found(Findings(tests=[test], clock="none"), state.strategy)

    def _passes(self, state, right):
        return isinstance(self._by(state, right).verdict, Passed)


def nothing(state):
    pass


def becomes_text(state):
    state.strategy, state.settled = "text", True


SCRIPTED = task_of("int f(int x) {", "int main() { assert(f(1) == 2); }", solution=" right }")


def test_a_way_that_changed_meanwhile_is_gone_again():
    """What others found out with the reference while we judged counts for us, too."""
    judge = Scripted((False, becomes_text), (True, nothing))
    found = judge.judge(SCRIPTED, SCRIPTED.tests, Program(source="mine", language="cpp"))
    assert isinstance(found.verdict, Passed)
    assert judge.asked == [("apart", "mine"), ("text", "mine")]


def test_no_sample_that_passes_keeps_the_reference_from_deciding():
    judge = Scripted((True, nothing), (False, nothing), (False, nothing), (True, nothing))
    for source in ("one", "two"):
        judge.judge(SCRIPTED, SCRIPTED.tests, Program(source=source, language="cpp"))
    right = ("apart", reference_program(SCRIPTED).source)
    assert judge.asked == [("apart", "one"), ("apart", "two"), right, ("text", "two")]


def test_a_reference_that_has_passed_is_not_run_again(cpp, monkeypatch):
    tests = f"int main() {{ assert(f(1) == 2); }} // {secrets.token_hex(8)}"
    task = task_of("int f(int x) {\n", tests, solution="    return x + 1;\n}\n")
    ran = []
    judge = CppJudge._in_parts

    def in_parts(self, state, program):
        ran.append(program.source)
        return judge(self, state, program)

    monkeypatch.setattr(CppJudge, "_in_parts", in_parts)
    wrong = "    return x;\n}\n"
    assert landed(cpp, task, wrong) == ("wrong_answer", "apart")
    assert ran == [task.prompt + wrong, reference_program(task).source]
    assert landed(cpp, task, wrong) == ("wrong_answer", "apart")
    assert ran[2:] == [task.prompt + wrong]
    other = task_of("int f(int x) {\n", tests, solution="    return 1 + x;\n}\n")
    assert landed(cpp, other, wrong) == ("wrong_answer", "apart")
    assert ran[3:] == [task.prompt + wrong, reference_program(other).source]


def test_tests_that_fail_by_themselves_blame_nobody(cpp):
    task = task_of("int f(int x) {\n", "int main() { __builtin_trap(); assert(f(1) == 1); }")
    judgement = judged(cpp, task, "    return x;\n}\n")
    assert judgement.judged == "together"
    assert judgement.verdict.bucket is Bucket.CRASH  # as for everybody who runs one program


@pytest.mark.parametrize(
    ("answer", "bucket"),
    [("return {};", Bucket.CRASH), ("return {7};", Bucket.WRONG_ANSWER), ("return {1};", Bucket.PASSED)],
)  # fmt: skip
def test_tests_that_break_on_an_answer(cpp, answer, bucket):
    prompt = "#include <vector>\nstd::vector<int> f(int x) {\n"
    tests = "int main() { auto v = f(1); volatile int x = *(v.empty() ? nullptr : &v[0]); assert(x == 1); }"
    assert landed(cpp, task_of(prompt, tests), f"    {answer}\n}}\n") == (bucket, "apart")


def test_an_exit_status_of_the_tests_is_their_word(cpp):
    task = task_of("int f(int x) {\n", "int main() { if (f(1) != 1) return 1; return 0; }")
    assert landed(cpp, task, "    return 2;\n}\n") == (Bucket.WRONG_ANSWER, "apart")
    assert landed(cpp, task, "    return x;\n}\n") == (Bucket.PASSED, "apart")


def test_time_is_the_candidates_only_while_it_owes_an_answer(cpp):
    slow = "#include <unistd.h>\nint main() { assert(f(1) == 1); sleep(1); usleep(500000); assert(f(2) == 2); }"
    task = task_of("int f(int x) {\n", slow, seconds=0.75)
    assert landed(cpp, task, "    return x;\n}\n") == (Bucket.PASSED, "apart")
    tests = "int main() { for (int i = 0; i < 9; ++i) assert(f(i) == i); }"
    napping = task_of("#include <unistd.h>\nint f(int x) {\n", tests, seconds=0.75)
    body = "    usleep(200000);\n    return x;\n}\n"
    assert landed(cpp, napping, body) == (Bucket.WALL_TIME, "apart")


def test_what_tests_are_called_with_decides_what_a_candidate_may_take(cpp):
    """As in one program: no reference to what is not const binds to a value."""
    taking = "#include <vector>\nint f(std::vector<int> &v) { return (int)v.size(); }\n"
    prompt = "#include <vector>\nint f(std::vector<int> v) {\n"
    values = task_of(prompt, "int main() { assert(f({1, 2}) == 2); }")
    assert landed(cpp, values, taking, whole=True) == (Bucket.COMPILE, "apart")
    variables = task_of(prompt, "int main() { std::vector<int> v{1, 2}; assert(f(v) == 2); }")
    assert landed(cpp, variables, taking, whole=True) == (Bucket.PASSED, "apart")


def test_a_setup_stands_in_front_of_both(cpp):
    task = task_of(
        "Int f(Int x) {\n",
        "int main() { Int n = f(2); assert(n == 4); }",
        setup="typedef int Int;\n",
    )
    assert landed(cpp, task, "    return 2 * x;\n}\n") == (Bucket.PASSED, "together")


def test_more_calls_than_anybody_makes(cpp, monkeypatch):
    monkeypatch.setattr("proctor.judge.cpp.relay.MAX_CALLS", 50)
    task = task_of(
        "bool f(int x) {\n", "int main() { int i = 0; while (f(i)) ++i; assert(i == 5); }"
    )
    assert landed(cpp, task, "    return true;\n}\n") == (Bucket.WALL_TIME, "apart")
    assert landed(cpp, task, "    return x < 5;\n}\n") == (Bucket.PASSED, "apart")


def test_the_host_does_not_count_for_what_a_candidate_may_write(cpp):
    task = task_of("int f(int x) {\n", "int main() { assert(f(1) == 2); }")
    for limit in ("scratch_bytes", "file_bytes"):
        limits = msgspec.structs.replace(task.limits, **{limit: 128 * 1024})
        little = msgspec.structs.replace(task, limits=limits)
        assert landed(cpp, little, "return x + 1; }") == (Bucket.PASSED, "apart")


def test_no_answer_changes_the_way(cpp):
    """What a candidate makes too large to cross is its own; it is not judged together for it."""
    prompt = "#include <string>\nstd::string f(std::string a, std::string b) {\n"
    task = task_of(prompt, 'int main() { auto s = f("a", "b"); assert(f(s, s) == "abab"); }')
    judge = Judge(cpp)
    large = "    return std::string(9 << 20, 'x');\n}\n"
    for body, bucket in (
        (large, Bucket.OUTPUT_OVERFLOW),
        ("    return a;\n}\n", Bucket.WRONG_ANSWER),
    ):
        judgement = judge.judge(task, Program(source=prompt + body, language="cpp"))
        assert (judgement.verdict.bucket, judgement.judged) == (bucket, "apart")


def test_some_references_of_humaneval_x(cpp, data):
    judge = Judge(cpp)
    tasks = {task.task_id: task for task in load("humaneval-x-cpp", data).tasks}
    for task_id in ("CPP/0", "CPP/32", "CPP/38", "CPP/111"):
        judgement = judge.judge(tasks[task_id], reference_program(tasks[task_id]))
        assert (judgement.verdict.bucket, judgement.judged) == (Bucket.PASSED, "apart")


@pytest.mark.slow
def test_all_references_of_humaneval_x(cpp, data):
    judge = Judge(cpp)
    together = []
    for task in load("humaneval-x-cpp", data).tasks:
        judgement = judge.judge(task, reference_program(task))
        assert judgement.verdict.bucket is Bucket.PASSED, (task.task_id, judgement.verdict)
        together += [task.task_id] if judgement.judged == "together" else []
    assert together == ["CPP/22", "CPP/137"]


BEGIN = "#include <cstdio>\n#include <string>\n#include <vector>\n"
RIGHT = "int f(int x) { return x; }\n"


@pytest.fixture
def warm(cpp):
    """Return a task whose headers have been read, and one whose never are."""
    tests = "int main() { assert(f(1) == 1); }"
    task = task_of(f"{BEGIN}int f(int x) {{\n", tests)
    for n in range(4):
        assert landed(cpp, task, f"    return x; // warm {n}\n}}\n")[0] == "passed"
    return task, task_of("int f(int x) {\n", tests)


@pytest.mark.parametrize(
    ("source", "bucket"),
    [
        (f"// x\r#if 0\n{BEGIN}// y\r#endif\nstd::vector<int> v;\n{RIGHT}", "compile"),
        (f"// x\r#define vector vektor\n{BEGIN}std::vektor<int> v;\n{RIGHT}", "passed"),
        (f'{BEGIN}#include "headers.h"\n{RIGHT}', "compile"),
        (f'{BEGIN}#pragma GCC dependency "headers.h.gch"\n{RIGHT}', "compile"),
        (f'{BEGIN}#if __has_include("headers.h.gch")\n#error\n#endif\n{RIGHT}', "passed"),
        (f"{BEGIN}static_assert(__INCLUDE_LEVEL__ == 0);\n{RIGHT}", "passed"),
        (f"{BEGIN}static_assert(__BASE_FILE__[0] == 'p');\n{RIGHT}", "passed"),
        (f"{BEGIN}#pragma GCC system_header\nint none[0];\n{RIGHT}", "passed"),
        (
            f'{BEGIN}#ifndef DEEP\n#define DEEP\n#include_next "part.cpp"\n#endif\n{RIGHT}',
            "compile",
        ),
        (f"{BEGIN}static_assert({'(' * 9000}1{')' * 9000});\n{RIGHT}", "passed"),
        (f"{BEGIN}#pragma GCC optimize 3\n{RIGHT}", "passed"),
        (
            f"{BEGIN}std::vector<int> v(3); std::string s = std::to_string(1) + s;\n{RIGHT}",
            "passed",
        ),
        (f"{BEGIN}std::map<int, int> m;\n{RIGHT}", "compile"),
        (f"{BEGIN}int helper(std::string);\nint f(int x) {{ return helper({{}}); }}\n", "compile"),
        (f"{BEGIN}const char *now = __TIME__;\n{RIGHT}", "passed"),
    ],
)
def test_whether_headers_were_read_before_makes_no_difference(cpp, warm, source, bucket):
    read, unread = warm
    assert landed(cpp, read, source, whole=True) == (bucket, "apart")
    assert landed(cpp, unread, source, whole=True) == (bucket, "apart")


@pytest.mark.requires("openssl")
def test_a_library_is_found_by_those_that_have_read_them_too(cpp, warm):
    """What they do not instantiate themselves is in the host, not in any library."""
    source = (
        f'{BEGIN}extern "C" unsigned char *MD5(const void *, unsigned long, unsigned char *);\n'
        "int f(int x) {\n    unsigned char sum[16];\n    MD5(&x, sizeof x, sum);\n"
        "    std::vector<int> v;\n    v.push_back(x + sum[0]);\n    return v[0] - sum[0];\n}\n"
    )
    assert landed(cpp, warm[0], source, whole=True) == ("passed", "apart")
