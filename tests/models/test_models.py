"""A model by its name."""

from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.models.generated import open_model
from proctor.models.recorded import RecordedSamples
from proctor.models.reference import Reference
from proctor.models.wrong import Wrong


def test_known_providers() -> None:
    assert isinstance(open_model("reference"), Reference)
    assert isinstance(open_model("wrong"), Wrong)
    recorded = open_model("recorded:some/samples.jsonl")
    assert isinstance(recorded, RecordedSamples)
    assert recorded.name == "recorded:samples.jsonl"
    assert open_model("recorded:a:b.jsonl").name == "recorded:a:b.jsonl"


@pytest.mark.parametrize(
    "name", ["gpt", "", "reference:x", "wrong:x", "recorded", "recorded:", ":x", "x:y"]
)
def test_unknown_providers(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_model(name)
    known = "no such provider; known are reference, wrong, recorded:FILE, openai:NAME, "
    assert str(caught.value).startswith(f"--model {name}: {known}")


def test_names_that_cannot_be_written() -> None:
    assert RecordedSamples(Path("s\udcff.jsonl")).name == "recorded:s\\udcff.jsonl"
