"""The tools: schemas that clients can check by, results that fit them."""

import pytest

from proctor.server.mcp.tools import NOT_TEXT, TOOLS, listed

TASK = {
    "task_id": "t/1",
    "prompt": "Write add.",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3", "add(2, 2) == 4"]},
}


def fits(tool, instance, side):
    import jsonschema

    schema = next(one for one in listed() if one["name"] == tool)[side]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(instance)


def test_schemas_are_objects_that_stand_alone():
    for tool in listed():
        for side in ("inputSchema", "outputSchema"):
            assert tool[side]["type"] == "object"
            text = str(tool[side])
            assert "#/components" not in text
    assert list(TOOLS) == ["execute", "grade"]


def test_schemas_say_what_is_taken():
    assert fits("execute", {"code": "1"}, "inputSchema")
    assert not fits("execute", {}, "inputSchema")
    assert not fits("execute", {"code": "1", "more": 1}, "inputSchema")
    assert fits("grade", {"task": TASK, "completion": "x"}, "inputSchema")
    assert not fits("grade", {"task": {"task_id": 7}, "completion": "x"}, "inputSchema")


def test_execute(agent):
    result = agent.call(
        *(1, "execute"),
        code="import sys; print(open('in.txt').read(), sys.argv[1:], input()); open('out', 'w').write('ö')",
        stdin="line\n",
        args=["a"],
        files={"in.txt": "ä"},
        fetch_files=["out", "none"],
    )
    assert result["isError"] is False
    done = result["structuredContent"]
    assert fits("execute", done, "outputSchema")
    assert (done["exit_code"], done["stdout"]) == (0, "ä ['a'] line\n")
    assert done["files"] == {"out": "ö"}
    assert "none" in done["missing"]
    assert result["content"][0]["type"] == "text"
    assert '"exit_code":0' in result["content"][0]["text"]


def test_files_that_are_no_text_are_said_to_be_none(agent):
    done = agent.call(*(2, "execute"), code="open('x', 'wb').write(b'\\xff')", fetch_files=["x"])[
        "structuredContent"
    ]
    assert (done["files"], done["missing"]) == ({}, {"x": NOT_TEXT})


def test_a_program_that_fails_is_no_error_of_the_tool(agent):
    result = agent.call(3, "execute", code="while True: pass", timeout_s=0.5)
    assert result["isError"] is False
    assert result["structuredContent"]["ending"] == {"type": "timed_out", "clock": "cpu"} or (
        result["structuredContent"]["ending"]["clock"] == "wall"
    )
    assert agent.call(4, "execute", code="1/0")["structuredContent"]["exit_code"] == 1


def test_grade(agent):
    result = agent.call(
        *(5, "grade"),
        task=TASK,
        completions=["def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a | b\n"],
    )
    assert result["isError"] is False
    graded = result["structuredContent"]
    assert fits("grade", graded, "outputSchema")
    assert [receipt["outcome"] for receipt in graded["receipts"]] == ["pass", "assertion_fail"]
    assert graded["receipts"][1]["score"] == 0.5


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("execute", {}, "execute: field code is missing"),
        ("execute", {"code": 7}, "execute: field code must be a string"),
        ("execute", {"code": "1", "language": "cobol"}, "cobol"),
        ("execute", {"code": "1", "timeout_s": 1e9}, "field timeout_s"),
        ("execute", {"code": "1", "timeout_s": 1000}, "must be at most 300"),
        ("execute", {"code": "1", "files": {"../x": ""}}, "'../x' is not a path inside"),
        ("execute", {"code": "1", "args": ["\0"]}, "null character"),
        ("grade", {"completion": "x"}, "give task, or benchmark and task_id"),
        ("grade", {"task": TASK}, "give completion, or completions"),
        ("grade", {"task": {"task_id": "x"}, "completion": "x"}, "task: field tests is missing"),
        ("grade", {"benchmark": "../etc", "task_id": "1", "completion": "x"}, "known are"),
    ],
)
def test_what_a_model_can_mend_is_told_to_it(agent, tool, arguments, said):
    result = agent.call("mend", tool, **arguments)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert said in result["content"][0]["text"]
