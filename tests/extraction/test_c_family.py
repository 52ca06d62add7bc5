"""Answers in languages with braces, as models write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.extraction import extract
from proctor.extraction.assemble import assemble
from proctor.extraction.c_family import _defines
from proctor.languages import builtin_languages, get_language
from proctor.records.extraction import Extraction, NoCode
from proctor.records.task import StdinCases, Task
from proctor.records.task import TestProgram as InOneFile

PROMPT = "#include <vector>\nusing namespace std;\n// add(1, 2) is 3\nint add(int a, int b) {\n"
BODY = "    if (a) { a += 0; } // }\n    return a + b;\n}\n"
WHOLE = "int add(int a, int b) {\n" + BODY
TESTS = "int main() { assert(add(1, 2) == 3); }\n"

CPP = get_language("cpp")


def task(language="cpp", prompt=PROMPT, tests=TESTS):
    return Task(task_id="t", language=language, prompt=prompt, tests=InOneFile(code=tests))


def source(answer, of=None, *, truncated=False):
    of = of or task()
    found = extract(answer, of, truncated=truncated)
    return found if isinstance(found, NoCode) else assemble(of, found).source


@pytest.mark.parametrize(
    "answer",
    [
        BODY,
        BODY + "\nint main() { return 0; }\n",
        BODY + "\nThis adds { two } numbers.\n",
        "    if (a) { a += 0; } // }\n    return a + b;",
        f"```cpp\n{BODY}```\n",
    ],
    ids=["body", "and main", "and prose", "stopped before its brace", "fenced"],
)
def test_the_rest_of_the_prompt(answer):
    assert source(answer).replace(" ", "").replace("\n", "") == (PROMPT + BODY).replace(
        " ", ""
    ).replace("\n", "")


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure:\n\n```cpp\n{WHOLE}```\nThat is all {{.",
        f"```python\nprint(1)\n```\n```c++\n{WHOLE}```",
        f"```\n{WHOLE}```",
        f"<think>```cpp\nint add(int a, int b) {{ return 7; }}\n```</think>\n```cpp\n{WHOLE}```",
        f'{{"name": "run", "arguments": {{"code": {__import__("json").dumps(WHOLE)}}}}}',
        f"<code>\n{WHOLE}</code>",
        WHOLE,
        f"{WHOLE}\nThis adds two numbers.",
    ],
    ids=["tag", "other tag", "no tag", "thought", "tool", "mark", "plain", "prose behind"],
)
def test_a_whole_function(answer):
    text = source(answer)
    assert text.startswith("#include <vector>\nusing namespace std;\n")
    assert text.rstrip().endswith(WHOLE.rstrip())
    assert "7" not in text


def test_an_echo_of_the_prompt_is_no_second_one():
    text = source(f"```cpp\n{PROMPT}{BODY}```")
    assert text.count("#include") == text.count("using") == text.count("int add") == 1


def test_the_last_of_several_answers():
    wrong = WHOLE.replace("a + b", "a - b")
    assert "a - b" not in source(f"```cpp\n{wrong}```\nNo, rather:\n```cpp\n{WHOLE}```")


def test_a_main_of_its_own_gives_way_to_that_of_the_tests():
    found = extract(
        f"```cpp\n{WHOLE}\nint main() {{ return add(1, 2); }}\n```", task(), truncated=False
    )
    assert isinstance(found, Extraction)
    assert (found.rule, "main" in found.code) == ("fence+main dropped", False)


def test_a_prompt_that_begins_with_a_helper():
    of = task("rust", "fn even(n: i64) -> bool {\n", "fn main() { assert!(odd(3)); }")
    answer = "    n % 2 == 0\n}\n\nfn odd(n: i64) -> bool {\n    !even(n)\n}\nThat is it.\n"
    assert source(answer, of) == of.prompt + answer.removesuffix("That is it.\n")


JAVA = "import java.util.*;\nclass Problem {\n    public static long f(long n) {\n"


def test_a_class_that_the_tests_close():
    of = task("java", JAVA, "public static void main(String[] args) { }\n}\n")
    for answer in (
        "        return n;\n    }\n",
        "        return n;\n    }\n}\n",
        "        return n;",
        f"```java\n{JAVA}        return n;\n    }}\n}}\n```",
    ):
        text = source(answer, of)
        assert text.count("{") == text.count("}") + 1, answer


def test_a_class_that_the_answer_closes():
    of = task("java", JAVA, "public class Main { public static void main(String[] args) { } }\n")
    for answer in ("        return n;\n    }\n", "        return n;\n    }\n}\nclass X { }"):
        text = source(answer, of)
        assert text.count("{") == text.count("}"), answer
        assert "class X" not in text
    public = (
        "```java\npublic class Problem {\n    public static long f(long n) { return n; }\n}\n```"
    )
    assert "public class" not in source(public, of)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("go", "func f(values []interface{}) ([]int, error) { return nil, nil }"),
        ("go", "func f(values []interface{}) []interface{} {\n\treturn values\n}"),
        ("cpp", "int f(std::vector<int> v = {1, 2}, int (*g)(int) = h) const noexcept(true) { return 1; }"),
        ("cpp", "void f() {}"),
        ("rust", "fn f<'a, T: Into<i64>>(x: impl Fn(i64) -> i64) -> Option<(i64, i64)> where T: Copy { None }"),
        ("java", "static <T> List<T> f(List<T> all) throws IOException { return all; }"),
        ("typescript", "function f(x: { a: number }): Promise<number> { return g(x); }"),
        ("javascript", "const f = async (a, b = g()) => { return 1 }"),
    ],
)  # fmt: skip
def test_what_defines_a_function(language, code):
    assert _defines(code, "f", get_language(language))
    call = Task(
        task_id="t", language=language, entry_point="f", tests=InOneFile(code="int main() {}")
    )
    assert source(f"```{language}\n{code}\n```", call).strip() == code


def test_calls_define_nothing_however_many_there_are():
    assert not _defines("x = f(1); if (f(2)) { }".replace("if (f(2)) { }", "g(f(3));"), "f", CPP)
    assert not _defines("f(" * 300_000, "f", CPP)
    assert not _defines("f({" * 200_000, "f", CPP)
    assert not _defines("f() " * 200_000, "f", CPP)


def test_arrow_functions():
    of = task("javascript", "const add = (a, b) => {\n", "console.assert(add(1, 2) === 3)")
    assert source("  return a + b;\n};\nconsole.log(add(1, 2))", of).endswith("return a + b;\n};\n")
    whole = "```js\nconst add = (a, b) => a + b;\n```"
    assert source(whole, of).strip() == "const add = (a, b) => a + b;"


@pytest.mark.parametrize(
    ("answer", "truncated", "reason"),
    [
        ("I am sorry, I cannot do that", False, "there is no code in the answer"),
        ("<think>hm", False, "its reasoning never ended"),
        (
            "    if (a) {\n  return",
            True,
            "the length limit cut the answer before its code was complete",
        ),
        (
            f"```cpp\n{WHOLE[:40]}",
            True,
            "the length limit cut the answer before its code was complete",
        ),
    ],
)
def test_no_code(answer, truncated, reason):
    assert source(answer, truncated=truncated) == NoCode(reason=reason)


@pytest.mark.parametrize("language", [name for name in builtin_languages() if name != "python"])
def test_programs_that_read_and_print(language):
    of = Task(task_id="t", language=language, tests=StdinCases(inputs=[""], outputs=[""]))
    tag = min(get_language(language).fence_tags)
    text = f"First:\n```{tag}\nint x;\n```\nThen:\n```{tag}\nint main() {{ return 0; }}\n```\n"
    assert source(text, of) == "int main() { return 0; }\n"


@given(st.text(alphabet="`{}();\n \"'c+p<>=add", max_size=80), st.booleans())
def test_no_answer_makes_it_raise(answer, truncated):
    source(answer + "x", truncated=truncated)
