"""Requests that make no sense, or mean harm: none is answered with 500, and none hangs."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PATHS = (
    *("/run_code", "/list_ids", "/get_prompts", "/get_prompt_by_id", "/submit", "/get_metrics"),
    "/get_metrics_function",
)
NAMES = (
    *("code", "language", "stdin", "files", "fetch_files", "run_timeout", "compile_timeout"),
    *("memory_limit_MB", "dataset", "id", "completion", "config", "results", "offset", "limit"),
    *("accepted", "provided_data", "dataset_type", "extra", "custom_extract_logic", "content"),
    *("test", "tests", "task_id", "prompt", "input", "output", "stdout", "kind", "targets"),
    *("test_list", "input_output", "entry_point", "declaration", "stop_tokens", "base_input"),
    *("private_test_cases", "complete_prompt", "starter_code", "verification_info", "name"),
)
WORDS = st.one_of(
    st.sampled_from(
        ["", "python", "bash", "basics", "mine", "print(1)", "add(1) == 2", "\x00", "é"]
    ),
    st.sampled_from(["../x", "/etc/shadow", "[[", '[{"input": {}}]', "assertions", "stdin", "10"]),
    st.text(max_size=8),
)
LEAVES = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.sampled_from([0.5, -1e308, 1e9])),
    WORDS,
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8)
ROWS = st.fixed_dictionaries(
    {
        "dataset": st.sampled_from(["basics", "mine"]),
        "id": st.sampled_from([1, "x"]),
        "completion": WORDS,
        "config": st.fixed_dictionaries(
            {"dataset_type": st.just("X"), "provided_data": OBJECTS},
            optional={"custom_extract_logic": WORDS, "extra": OBJECTS, "run_timeout": LEAVES},
        ),
    }
)
FINE = {200, 400, 422}

usual = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@usual
@given(path=st.sampled_from(PATHS), body=st.one_of(OBJECTS, VALUES))
def test_any_json(ask, path, body):
    status, answer = ask(path, json.dumps(body).encode())
    assert status in FINE, answer


@usual
@given(path=st.sampled_from(["/submit", "/get_prompts", "/get_prompt_by_id"]), body=ROWS)
def test_any_rows(ask, path, body):
    status, answer = ask(path, json.dumps(body).encode())
    assert status in FINE, (status, answer)


@usual
@given(path=st.sampled_from(PATHS), body=st.binary(max_size=64))
def test_any_bytes(ask, path, body):
    status, answer = ask(path, body)
    assert status in FINE, answer


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 50_000 + b"]" * 50_000,
        b'{"code":' * 2000 + b"1" + b"}" * 2000,
        b'{"run_timeout": ' + b"9" * 5000 + b"}",
        b'{"code": "\\ud800", "dataset": "\\udfff", "id": "\\ud800"}',
        b'{"code": NaN, "run_timeout": Infinity, "config": NaN}',
        "{}".encode("utf-16"),
    ],
)
def test_json_that_is_hard_to_read(ask, path, body):
    status, answer = ask(path, body)
    assert status in {400, 422}, answer


def test_a_completion_that_is_hard_to_read(ask):
    row = {"task_id": "x", "entry_point": "f", "tests": {"kind": "assertions", "targets": ["f()"]}}
    config = {"dataset_type": "X", "provided_data": row}
    for text in ("```" * 100_000, "(" * 100_000, "\x00", "x" * (2 << 20)):
        body = {"dataset": "mine", "id": 1, "completion": text, "config": config}
        status, answer = ask("/submit", body)
        assert (status, answer.get("accepted")) == (200, False)
