"""What each finder proposes; which proposal is taken is for `test_python.py`."""

import pytest

from proctor.extraction.python.blocks import FINDERS, Answer
from proctor.extraction.python.reader import TextParser
from proctor.extraction.tool_wrappers import MAX_REPEATS
from proctor.records.task import Assertions, Task

STUB = 'def f(x):\n    """Doc."""\n'
F = "def f(x):\n    return x\n"
BY_NAME = {finder.__name__.removeprefix("_"): finder for finder in FINDERS}


def propose(name, text, *, prompt="", truncated=False):
    task = Task(task_id="t", prompt=prompt, entry_point="f", tests=Assertions(targets=[]))
    answer = Answer.of(text, TextParser(task), truncated=truncated)
    return [(block.kind, block.code) for block in BY_NAME[name](answer)]


def test_the_order_of_trust():
    assert list(BY_NAME) == [
        "whole", "fenced", "inline_fenced", "marked", "tool_call", "before_chat", "amid_prose",
        "doctest", "indented",
    ]  # fmt: skip


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("text", ["", "\n", "Just a sentence.", "One\n\nTwo"])
def test_prose_has_no_code(name, text):
    proposals = propose(name, text, prompt=STUB)
    assert proposals == ([("whole", text.strip("\n"))] if name == "whole" else [])


def test_fenced():
    assert propose("fenced", f"a\n```\n{F}```\nb") == [("fence", F)]
    assert propose("fenced", f"{F}```\nb") == [("prefilled-fence", F)]
    assert propose("fenced", f"{F}```\n```py\nx\n```") == [("prefilled-fence", F), ("fence", "x\n")]
    assert propose("fenced", f"prose\n```\n{F}") == [("unclosed-fence", F)]


def test_fenced_and_cut():
    assert propose("fenced", f"```\n{F}", truncated=True) == []
    assert propose("fenced", f"```\n{F}# and", truncated=True) == [("cut-fence", F)]
    assert propose("fenced", f"```\n{F}```\n```\nx", truncated=True) == [("fence", F)]


def test_inline_fenced():
    assert propose("inline_fenced", "Use ```f = 1``` here") == [("inline-fence", "f = 1")]
    assert propose("inline_fenced", "`f = 1`") == [("inline-fence", "f = 1")]
    assert propose("inline_fenced", "```python\nf = 1```") == [("inline-fence", "f = 1")]
    assert propose("inline_fenced", "one ``` only") == []
    assert propose("inline_fenced", f"```\n{F}```\n") == []


def test_marked():
    assert propose("marked", f"[PYTHON]\n{F}[/PYTHON]") == [("marked", "\n" + F)]
    assert propose("marked", f"{F}[DONE]\nmore") == [("marked", F)]
    assert propose("marked", f"<code>{F}") == [("marked", F)]
    assert propose("marked", f"<code>{F}", truncated=True) == []
    assert len(propose("marked", "<code>x</code>" * 100)) == MAX_REPEATS


def test_tool_call():
    assert propose("tool_call", '{"code": "f = 1\\n"}') == [("tool-call", "f = 1\n")]
    assert propose("tool_call", '{"arguments": "{\\"code\\": \\"f = 1\\"}"}') == [
        ("tool-call", "f = 1")
    ]
    assert propose("tool_call", '{"code": 1}') == []
    assert propose("tool_call", '{"code": "never ends') == []
    assert propose("tool_call", '{"code": "\\q"}') == []
    fenced = propose("tool_call", '{"answer": "It is:\\n```\\nf = 1\\n```"}')
    assert fenced[-1] == ("fence", "f = 1\n")
    assert len(propose("tool_call", '"code": "x" ' * 100)) == MAX_REPEATS


@pytest.mark.parametrize(
    "line",
    ["Human", "Human:", "Human: hi", "User", "Assistant: x", "Explanation", "Explanation: it",
     "**Note**", "### Usage", "---"],
)  # fmt: skip
def test_before_chat(line):
    assert propose("before_chat", f"{F}{line}\nmore") == [("chat-cut", F)]


@pytest.mark.parametrize(
    "line", ["Humans", "User = 1", "Explanation of it", " ### a", "-- a", "* b"]
)
def test_no_chat(line):
    assert propose("before_chat", f"{F}{line}\nmore") == []


def test_chat_in_a_string_is_none():
    assert propose("before_chat", 'x = """\nHuman: a\n"""\n') == []


def test_the_nearest_chat_is_proposed_last():
    assert propose("before_chat", "a\nUser\nb\nUser\n") == [
        ("chat-cut", "a\nUser\nb\n"),
        ("chat-cut", "a\n"),
    ]


def test_amid_prose():
    assert propose("amid_prose", f"Here:\n\n{F}\nThat's it.") == [("prose-cut", F)]
    assert propose("amid_prose", f"{F}\nOutput\n\nThat's it.") == [("prose-cut", F)]
    assert propose("amid_prose", "    return x\n\nDone it is.", prompt=STUB) == [
        ("prose-cut", "    return x\n")
    ]


def test_code_that_was_cut():
    text = f"{F}\ndef g(x):\n    return (x"
    assert propose("amid_prose", text, truncated=True) == [("cut", F)]
    assert propose("amid_prose", text) == [("prose-cut", text)]  # as it is: broken


def test_the_entry_point_behind_prose_is_a_start_of_its_own():
    text = f"def g(x):\n    return x\n\nAnd now:\n\n{F}\nThe end it is."
    assert propose("amid_prose", text)[-1] == ("prose-cut", F)


def test_doctest():
    assert propose("doctest", "Try:\n>>> def f(x):\n...     return x\n...\n>>> f(1)\n1\n") == [
        ("doctest", "def f(x):\n    return x\n\nf(1)")
    ]


def test_indented():
    text = "Here:\n\n    def f(x):\n        return x\n\nDone."
    assert propose("indented", text) == [("indented", F.strip())]
    assert propose("indented", "x = 1\n    def f(x):\n") == []
