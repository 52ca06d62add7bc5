"""Reasoning, end marks and fences, whatever the language."""

import pytest

from proctor.extraction.markdown import blocks, fences, normalise, strip_reasoning


def codes(text):
    return [block.code for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ufeffx = 1", "x = 1"),
        ("\ufeff\ufeffx", "x"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb", "a\nb"),
        ("a\n\r\nb", "a\n\nb"),
        ("x = '\ufeff'", "x = '\ufeff'"),
    ],
)
def test_normalise(text, expected):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("plain", "plain"),
        ("<think>a</think>\nb", "\nb"),
        ("<think>a</think>b", "b"),
        ("<think>\nx = '</think>'\n</think>\nb", "\nb"),
        ("<think>\na\n</think>b", "b"),
        ("a\n<think>\nb\n</think>\nc", "a\n\nc"),
        ("a\n</think>\nb", "\nb"),
        ("a</think>\nb\n</think>\nc", "\nc"),
        ("<THINK>\na\n</Think>\nb", "\nb"),
        ("<thinking>\na\n</thinking>\nb", "\nb"),
        ("<reasoning>\na\n</reasoning>\nb", "\nb"),
        ("<thought>\na\n</thought>\nb", "\nb"),
        ("[THINK]\na\n[/THINK]\nb", "\nb"),
        ("◁think▷\na\n◁/think▷\nb", "\nb"),
        ("<think>\n<think>\na\n</think>\nb", "\nb"),
        ("<think>\n</think>\n<think>\n</think>\nb", "\n\nb"),
        ("x = re.sub('<think>.*</think>', '', y)", "x = re.sub('<think>.*</think>', '', y)"),
    ],
)
def test_finished_reasoning_is_dropped(text, answer):
    assert strip_reasoning(text) == (answer, True)


@pytest.mark.parametrize(("text", "answer"), [("<think>\na", ""), ("a\n<think>\nb", "a\n")])
def test_unfinished_reasoning_is_dropped_and_told(text, answer):
    assert strip_reasoning(text) == (answer, False)


@pytest.mark.parametrize(
    "mark",
    ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<end_of_turn>", "<｜end▁of▁sentence｜>"],
)
def test_end_marks(mark):
    assert strip_reasoning(f"x = 1{mark}\n<|im_start|>user") == ("x = 1", True)


def test_final_channel():
    text = "<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>x = 1<|return|>"
    assert strip_reasoning(text) == ("x = 1", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n```", ["a\n"]),
        ("```python\na\n```\nb\n```\nc\n```", ["a\n", "c\n"]),
        ("~~~\na\n~~~", ["a\n"]),
        ("````\n```\na\n```\n````", ["```\na\n```\n"]),
        ("~~~\n```\n~~~", ["```\n"]),
        ("```\na\n````", ["a\n"]),
        ("````\na\n```\n", ["a\n```\n"]),
        ("```\na\n``` ", ["a\n"]),
        ("```\n```", [""]),
        ("  ```\n  a\n    b\n c\n  ```", ["a\n  b\nc\n"]),
        ("1. ```py\n   a\n   ```", ["a\n"]),
        ("* ```py\n  a\n  ```", ["a\n"]),
        ("```a```", []),
        ("``\na\n``", []),
        ("text", []),
        ("```markdown\n```python\na\n```\n```", ["a\n", ""]),
    ],
)
def test_blocks(text, expected):
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("info", "tag"),
    [
        ("python", "python"),
        ("Python3", "python3"),
        (' py title="a.py"', "py"),
        ("{python}", "python"),
        ("{.python}", "python"),
        ("", ""),
    ],
)
def test_tag(info, tag):
    assert blocks(f"```{info}\na\n```")[0].tag == tag


def test_the_last_block_may_be_unclosed():
    first, last = blocks("```\na\n```\n```\nb")
    assert (first.closed, first.kind) == (True, "fence")
    assert (last.closed, last.kind, last.code) == (False, "unclosed-fence", "b")


def test_an_unclosed_fence_at_the_very_end():
    assert codes("```python") == [""]


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_fence_in_a_string_closes_nothing(quotes):
    code = f"def f():\n    {quotes}\n```\n    {quotes}\n"
    assert codes(f"```python\n{code}```\n") == [code]


def test_a_stray_quote_does_not_swallow_the_next_block():
    assert codes('```\n"""\n```\n```python\n"""x"""\n```') == ['"""\n', '"""x"""\n']


def test_a_string_that_never_ends_does_not_swallow_the_fence():
    assert codes('```python\nx = """\n```\nprose') == ['x = """\n']


def test_quotes_in_comments_and_strings_begin_no_string():
    assert codes('```\n# don\'t """\nx = \'"""\'\n```\nb') == ['# don\'t """\nx = \'"""\'\n']


def test_many_stray_quotes_end_the_search_for_strings():
    block = '```\n\\"""\n```\n```python\nx\n```\n'
    assert codes(block * 20) == ['\\"""\n', "x\n"] * 20


def test_fences_in_the_docstring_of_unfenced_code_are_none():
    code = 'def f():\n    """\n    ```\n    f()\n    ```\n    """\n'
    assert fences(code) == []
    assert [fence.info for fence in fences(code + "```python\nx\n```")] == ["python", ""]


def test_fences_behind_a_docstring_that_never_ends_are_none():
    assert fences('def f():\n    """Doc\n    ```\n    x') == []
