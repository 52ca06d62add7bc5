"""Datasets by the names that clients know, problems that come along, and what models are shown."""

import json

import httpx2
import pytest

from proctor.benchmarks import TABLE
from proctor.server.compat.sandboxfusion.datasets import DATASETS

ADD = {
    "task_id": "mine/1",
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "tests": {"kind": "assertions", "targets": ["add(1, 2) == 3"]},
}
CONTEST = {
    "id": 7,
    "content": "Print the double of a number.",
    "labels": {},
    "test": json.dumps([{"input": {"stdin": "21\n"}, "output": {"stdout": "42\n"}}]),
}


def test_every_dataset_is_a_benchmark():
    assert set(DATASETS.values()) <= set(TABLE)


def test_datasets_that_are_here(url):
    found = httpx2.get(f"{url}/list_datasets", trust_env=False).json()
    assert "basics" in found
    assert ("humaneval_python" in found) == ("humaneval" in found)
    assert len(found) == len(set(found))


def test_ids_and_prompts(ask):
    status, ids = ask("/list_ids", {"dataset": "basics", "config": {}, "offset": 2, "limit": 3})
    assert (status, len(ids)) == (200, 3)
    status, prompts = ask(
        "/get_prompts", {"dataset": "basics", "config": {}, "offset": 2, "limit": 3}
    )
    assert (status, [prompt["id"] for prompt in prompts]) == (200, ids)
    asked = {"dataset": "basics", "config": {}, "id": ids[1]}
    assert ask("/get_prompt_by_id", asked) == (200, prompts[1])
    assert prompts[1].keys() == {"id", "prompt", "labels"}
    text = json.dumps(prompts)
    assert "canonical_solution" not in text


def test_a_prompt_to_go_on_with_is_shown_as_it_is_and_a_question_if_asked_for(ask):
    asked = {"dataset": "humaneval_python", "config": {}, "id": "HumanEval/0"}
    status, raw = ask("/get_prompt_by_id", asked)
    assert status == 200
    assert raw["prompt"].endswith('"""\n')
    assert raw["labels"]["entry_point"] == "has_close_elements"
    question = ask("/get_prompt_by_id", {**asked, "config": {"extra": {"is_freeform": True}}})[1]
    assert "```python" in question["prompt"]
    shots = ask("/get_prompt_by_id", {**asked, "config": {"is_fewshot": True}})[1]
    assert raw["prompt"].rstrip() in shots["prompt"]
    assert len(shots["prompt"]) > len(raw["prompt"])


def test_problems_of_mbpp_have_numbers(ask, data, serve, kernel_of_its_own):
    from proctor.settings import Settings

    with (
        serve(kernel_of_its_own, settings=Settings(data=str(data))) as url,
        httpx2.Client(base_url=url, timeout=60, trust_env=False) as client,
    ):
        body = {"dataset": "mbpp", "config": {}, "limit": 2}
        assert client.post("/list_ids", json=body).json() == [1, 2]
        one = client.post("/get_prompt_by_id", json={"dataset": "mbpp", "config": {}, "id": 2})
        assert one.json()["id"] == 2
        answer = client.post(
            "/submit",
            json={
                "dataset": "mbpp",
                "config": {},
                "id": "2",
                "completion": "```python\ndef similar_elements(a, b):\n    return tuple(set(a) & set(b))\n```",
            },
        ).json()
        assert (answer["id"], answer["accepted"], len(answer["tests"])) == (2, True, 3)
        assert "mbpp" in client.get("/list_datasets").json()


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/list_ids", {}),
        ("/get_prompts", {}),
        ("/get_prompt_by_id", {"id": 1}),
        ("/submit", {"id": 1, "completion": ""}),
    ],
)
@pytest.mark.parametrize("name", ["nothing", "../../etc/passwd", "/etc/passwd", "basics.toml"])
def test_an_unknown_dataset_is_a_bad_request(ask, path, more, name):
    status, answer = ask(path, {"dataset": name, "config": {}, **more})
    assert status == 400
    assert answer == {"detail": f"no eval class found for dataset {name}"}


def test_an_unknown_problem_is_a_bad_request(ask):
    status, answer = ask("/get_prompt_by_id", {"dataset": "basics", "config": {}, "id": "x"})
    assert (status, answer) == (400, {"detail": "dataset basics has no problem x"})


def test_rows_that_come_along(ask):
    config = {"dataset_type": "AutoEvalDataset", "provided_data": [ADD, CONTEST]}
    asked = {"dataset": "mine", "config": config}
    assert ask("/list_ids", asked) == (200, ["mine/1", 7])
    assert ask("/list_ids", {**asked, "offset": 1}) == (200, [7])
    prompts = ask("/get_prompts", asked)[1]
    assert prompts[0]["prompt"].startswith("def add(a, b):")
    assert "Print the double of a number." in prompts[1]["prompt"]
    assert "standard input" in prompts[1]["prompt"]
    assert ask("/get_prompt_by_id", {**asked, "id": 7})[1]["id"] == 7
    assert ask("/get_prompt_by_id", {**asked, "id": 8})[0] == 400


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "provided_data"),
        ({"content": "x", "test": "["}, "field test"),
        ({"content": "x", "test": []}, "no tests"),
        ({"content": "x", "test": [{"input": {"f": ""}, "output": {"stdout": ""}}]}, "no files"),
        ({"task_id": "x", "tests": {"kind": "assertions", "targets": ["("]}}, "provided_data"),
    ],
)
def test_rows_that_are_no_problems(ask, row, said):
    config = {"dataset_type": "CommonOJDataset", "provided_data": row}
    asked = {"dataset": "mine", "config": config, "id": 1, "completion": "print(1)"}
    status, answer = ask("/submit", asked)
    assert status == 400, answer
    assert said in answer["detail"]
