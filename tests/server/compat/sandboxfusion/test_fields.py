"""What is wrong with a body, said as pydantic says it."""

import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.server.compat.sandboxfusion import requests
from proctor.server.compat.sandboxfusion.fields import MAX_ECHOED, Unprocessable, Unreadable, parse
from proctor.server.compat.sandboxfusion.requests import LANGUAGES

MAX_SECONDS = 300.0


def details(body, read=requests.run_code):
    with pytest.raises(Unprocessable) as refused:
        read(body, MAX_SECONDS)
    return json.loads(refused.value.body())["detail"]


def test_numbers_may_be_texts_and_unknown_fields_are_passed_over():
    request = requests.run_code(
        {"code": "", "language": "go", "run_timeout": " 5", "memory_limit_MB": "64", "x": 1},
        MAX_SECONDS,
    )
    assert (request.run_timeout, request.memory_limit_mb) == (5.0, 64)
    assert (request.compile_timeout, request.stdin, request.files) == (10.0, None, {})


@pytest.mark.parametrize(
    ("field", "value", "kind", "place"),
    [
        ("run_timeout", 301, "less_than_equal", []),
        ("run_timeout", "inf", "finite_number", []),
        ("compile_timeout", 10**400, "finite_number", []),
        ("code", "\ud800", "string_unicode", []),
        ("stdin", "\udfff", "string_unicode", []),
        ("files", {"\ud800": ""}, "string_unicode", ["\ud800"]),
        ("fetch_files", ["\ud800"], "string_unicode", [0]),
    ],
)
def test_what_it_would_take_and_we_do_not(field, value, kind, place):
    found = details({"code": "", "language": "python", field: value})
    assert [(one["type"], one["loc"]) for one in found] == [(kind, ["body", field, *place])]


def test_what_was_sent_is_not_sent_back_if_it_is_large_or_no_json():
    large = details({"language": "python", "stdin": "x" * MAX_ECHOED})
    assert [one["input"] for one in large] == [None]
    assert details({"code": "", "language": "python", "stdin": float("nan")})[0]["input"] is None


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "missing"),
        (b"null", "missing"),
        (b"[1]", "model_attributes_type"),
        (b'"text"', "model_attributes_type"),
        (b"{", "json_invalid"),
        (b'{"a": 1} x', "json_invalid"),
    ],
)
def test_bodies_that_are_no_objects(body, kind):
    with pytest.raises(Unprocessable) as refused:
        requests.run_code(parse(body, "application/json"), MAX_SECONDS)
    assert [detail["type"] for detail in refused.value.details] == [kind]


@pytest.mark.parametrize("body", [b"\xff\xfe\xff", b"[" * 100_000, b"9" * 10_000])
def test_bodies_beyond_all_bounds(body):
    with pytest.raises(Unreadable):
        parse(body, "application/json")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "x"])
def test_only_json_is_read_as_json(kind):
    with pytest.raises(Unprocessable):
        parse(b'{"code": "", "language": "python"}', kind)
    assert parse(b"{}", "application/json; charset=utf-8") == {}
    assert parse(b"{}", "application/x+json") == {}
    assert parse(b"{}", "") == {}


@given(st.binary(max_size=200))
def test_no_bytes_make_reading_fail_otherwise(body):
    try:
        requests.run_code(parse(body, ""), MAX_SECONDS)
    except Unreadable:
        return
    except Unprocessable as refused:
        json.loads(refused.body())


SCALARS = st.one_of(
    *(st.none(), st.booleans(), st.integers(-5, 300), st.sampled_from([0.5, 2.0, -1.5])),
    *(st.sampled_from(["", "5", "2.5", "abc", "python", "cpp", "true"]),),
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(st.sampled_from("ab"), SCALARS, max_size=2),
)
RUN = ("compile_timeout", "run_timeout", "memory_limit_MB", "code", "stdin", "language", "files")
BODIES = st.dictionaries(st.sampled_from([*RUN, "fetch_files", "bogus"]), VALUES, max_size=9)


@pytest.fixture(scope="module")
def model():
    """Return the request as the server that we stand in for would describe it."""
    import pydantic

    languages: Any = Literal[LANGUAGES]
    fields = {
        "compile_timeout": (float, 10),
        "run_timeout": (float, 10),
        "memory_limit_MB": (int, -1),
        "code": (str, ...),
        "stdin": (str | None, None),
        "language": (languages, ...),
        "files": (dict[str, str | None], {}),
        "fetch_files": (list[str], []),
    }
    return pydantic.create_model("RunCode", **fields)


@given(body=BODIES)
def test_we_find_wrong_what_pydantic_finds_wrong(model, body):
    import pydantic

    try:
        model.model_validate(body)
        expected = []
    except pydantic.ValidationError as error:
        expected = [
            {"type": one["type"], "loc": ["body", *one["loc"]], "msg": one["msg"]}
            for one in error.errors()
        ]
    try:
        requests.run_code(body, MAX_SECONDS)
        found = []
    except Unprocessable as refused:
        found = [{key: one[key] for key in ("type", "loc", "msg")} for one in refused.details]
    assert found == expected


def test_requests_about_datasets():
    found = details({"id": None, "config": {"language": "x"}}, requests.submit)
    assert [(one["type"], one["loc"]) for one in found] == [
        ("missing", ["body", "dataset"]),
        ("int_type", ["body", "id", "int"]),
        ("string_type", ["body", "id", "str"]),
        ("missing", ["body", "completion"]),
        ("literal_error", ["body", "config", "language"]),
    ]
    found = details({"dataset": "x", "config": 1, "offset": 1.5}, requests.get_prompts)
    assert [(one["type"], one["loc"]) for one in found] == [
        ("model_attributes_type", ["body", "config"]),
        ("int_from_float", ["body", "offset"]),
    ]
    request = requests.get_prompts({"dataset": "x", "config": {"is_fewshot": "true"}}, MAX_SECONDS)
    assert request.config.is_fewshot is True
    rows = requests.get_prompt(
        {"dataset": "x", "id": 1, "config": {"provided_data": {"id": 1}}}, MAX_SECONDS
    )
    assert rows.config.provided_data == [{"id": 1}]
