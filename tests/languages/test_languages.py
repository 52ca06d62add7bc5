"""Every language that is installed here runs its self-test, and its failures have their names."""

import msgspec
import pytest

from proctor.errors import InputError
from proctor.judge.judge import Judge
from proctor.languages import all_languages, builtin_languages, get_language, plugin_languages
from proctor.languages.language import Language
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.records.task import StdinCases, Task
from proctor.records.verdict import Bucket, Failed, Passed
from tests.requires import requires_language

OTHERS = [name for name in builtin_languages() if name != "python"]
BROKEN = {
    "cpp": "int main() { return x; }",
    "c": "int main(void) { return x; }",
    "java": "public class Main { int x = y; }",
    "javascript": "function f( {",
    "typescript": "const x: number = 'text';",
    "go": "package main\nfunc main() { return 1 }",
    "rust": "fn main() { let x: i32 = y; }",
    "bash": "if true",
}
RAISING = {
    "cpp": "#include <cstdlib>\nint main() { exit(3); }",
    "c": "int main(void) { return 3; }",
    "java": "public class Main { public static void main(String[] a) { throw new IllegalStateException(); } }",
    "javascript": "throw new Error('no');",
    "typescript": "throw new Error('no');",
    "go": 'package main\nfunc main() { panic("no") }',
    "rust": 'fn main() { panic!("no"); }',
    "bash": "exit 3",
}
GREEDY = {
    "cpp": "#include <vector>\nint main() { std::vector<char> all(3ul << 30, 1); return all[5]; }",
    "java": "public class Main { public static void main(String[] a) { long[][] x = new long[99][];"
    " for (int i = 0; i < 99; i++) x[i] = new long[1 << 24]; } }",
    "javascript": "const all = []; for (;;) all.push(new Array(1 << 20).fill(0.5));",
    "go": "package main\nfunc main() { x := [][]byte{}\nfor { y := make([]byte, 1<<26)\n"
    "for i := range y { y[i] = 1 }\nx = append(x, y) } }",
    "rust": 'fn main() { let all = vec![1u8; 3usize << 30]; println!("{}", all[7]); }',
}
"""Not C, where whoever gets no memory is told so by a null that most use all the same."""


@pytest.fixture
def language(kernel, request) -> Language:
    """Return a language that works here, or skip."""
    requires_language(kernel, request.param)
    return get_language(request.param)


def judged(sandbox, language, source, *, seconds=10.0, memory=512 * MIB):
    limits = Limits(cpu_seconds=seconds, wall_seconds=seconds, memory_bytes=memory)
    cases = StdinCases(inputs=["21\n", "-4\n"], outputs=["42\n", "-8\n"])
    task = Task(task_id="t", language=language.name, tests=cases, limits=limits)
    program = Program(source=source, language=language.name)
    return Judge(sandbox).judge(task, program).verdict


@pytest.mark.parametrize("language", OTHERS, indirect=True)
def test_a_right_and_a_wrong_answer(kernel, language):
    assert isinstance(judged(kernel, language, language.self_test), Passed)
    wrong = judged(kernel, language, language.self_test.replace("2 * ", "3 * "))
    assert (wrong.bucket, wrong.score) == (Bucket.WRONG_ANSWER, 0)
    assert wrong.tests[0].got == "63\n"
    assert kernel.enforcement().toolchains[language.name] == kernel.require_language(language.name)


@pytest.mark.parametrize("language", OTHERS, indirect=True)
def test_what_does_not_compile_is_the_compilers_word(kernel, language):
    verdict = judged(kernel, language, BROKEN[language.name])
    assert (verdict.bucket, len(verdict.tests)) == (Bucket.COMPILE, 2)
    assert verdict.detail


@pytest.mark.parametrize("language", OTHERS, indirect=True)
def test_a_program_that_ends_badly(kernel, language):
    verdict = judged(kernel, language, RAISING[language.name])
    assert verdict.bucket is Bucket.TEST_EXCEPTION


@pytest.mark.parametrize("language", GREEDY, indirect=True)
def test_memory_is_limited_and_called_that(kernel, language):
    verdict = judged(kernel, language, GREEDY[language.name])
    assert isinstance(verdict, Failed)
    assert verdict.bucket is Bucket.MEMORY


@pytest.mark.parametrize("language", ["cpp", "javascript"], indirect=True)
def test_time_is_limited(kernel, language):
    source = {"cpp": "int main() { for (;;); }", "javascript": "for (;;);"}[language.name]
    verdict = judged(kernel, language, source, seconds=0.5)
    assert verdict.bucket is Bucket.CPU_TIME


def test_an_unknown_language_is_refused():
    with pytest.raises(InputError, match="'cobol': known are python, bash, c, cpp"):
        get_language("cobol")


def test_known_are_ours_and_those_of_other_packages(monkeypatch):
    class Point:
        name = "lolcode"

        def load(self):
            return msgspec.structs.replace(get_language("bash"), name="lolcode")

    monkeypatch.setattr("proctor.plugins.metadata.entry_points", lambda group: [Point()])
    monkeypatch.setattr("proctor.languages.plugin_languages", plugin_languages.__wrapped__)
    assert list(all_languages.__wrapped__()) == [*builtin_languages(), "lolcode"]


def test_a_broken_language_of_another_package_breaks_no_other(monkeypatch):
    class Point:
        name = "lolcode"

        def load(self):
            raise ImportError("no cats here")

    monkeypatch.setattr("proctor.plugins.metadata.entry_points", lambda group: [Point()])
    monkeypatch.setattr("proctor.languages.plugin_languages", plugin_languages.__wrapped__)
    monkeypatch.setattr("proctor.languages.all_languages", all_languages.__wrapped__)
    assert get_language("python").name == "python"
    with pytest.raises(
        InputError,
        match="language 'lolcode': a package brings lolcode, which cannot be loaded: ImportError: no cats",
    ):
        get_language("lolcode")
