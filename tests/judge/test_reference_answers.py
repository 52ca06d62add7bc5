"""What references answer is kept by digest, whole or not at all."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.judge.reference_answers import (
    NAME,
    ReferenceAnswers,
    answers_key,
    load_answers,
    store_answers,
)
from proctor.storage.cache import Cache

PARTS = st.lists(st.one_of(st.binary(max_size=8), st.text(st.characters(codec=None), max_size=8)))


@given(PARTS, PARTS)
def test_a_key_tells_all_parts_apart(one: list[str | bytes], other: list[str | bytes]) -> None:
    same = [_bytes(part) for part in one] == [_bytes(part) for part in other]
    assert (answers_key(one) == answers_key(other)) is same


def _bytes(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("said", [b"", b"\n", bytes(range(256)) * 1000])
def test_what_was_kept_comes_back(alone: Path, said: bytes) -> None:
    assert load_answers("k") is None
    store_answers("k", ReferenceAnswers(said, 1.5))
    assert load_answers("k") == ReferenceAnswers(said, 1.5)
    assert Cache(NAME).folder == alone / "home/.cache/proctor/answers"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content.replace(b"right", b"wrong"),
        lambda content: content.replace(b"1.5", b"9.5"),
        lambda content: b"\xff" * 100,
    ],
)
def test_what_is_damaged_is_not_believed(alone: Path, damage) -> None:
    store_answers("k", ReferenceAnswers(b"right", 1.5))
    place = alone / "home/.cache/proctor/answers/k"
    place.write_bytes(damage(place.read_bytes()))
    assert load_answers("k") is None
    store_answers("k", ReferenceAnswers(b"right", 1.5))
    assert load_answers("k") == ReferenceAnswers(b"right", 1.5)


def test_a_folder_that_cannot_be_used_is_no_trouble(alone: Path) -> None:
    (alone / "home/.cache").mkdir(parents=True)
    (alone / "home/.cache/proctor").write_text("not a folder")
    store_answers("k", ReferenceAnswers(b"said", 1.0))
    assert load_answers("k") is None


def test_nobody_sees_half_of_it(alone: Path) -> None:
    said = b"x" * 1_000_000
    threads = [
        threading.Thread(
            target=lambda: [store_answers("k", ReferenceAnswers(said, 1.0)) for _ in range(20)]
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        seen.add(load_answers("k"))
    assert seen <= {None, ReferenceAnswers(said, 1.0)}
    assert os.listdir(alone / "home/.cache/proctor/answers") == ["k"]
