"""Windows: every token counts once, after as much text as is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.models.logprobs import leading_tokens, score_tokens, windows


@given(st.integers(0, 500), st.integers(2, 80), st.integers(0, 1))
def test_every_token_counts_once_after_at_least_half_a_window(
    length: int, room: int, first: int
) -> None:
    counted = []
    for window in windows(length, room, first):
        assert 0 <= window.begin <= window.first < window.end <= length
        assert window.end - window.begin <= room
        for place in range(window.first, window.end):
            counted.append(place)
            assert place - window.begin >= min(place, room - room // 2)
    assert counted == list(range(first, length))


@given(st.lists(st.integers(0, 9), max_size=3), st.lists(st.integers(10, 99), max_size=60))
def test_what_stands_in_front_is_seen_by_all_and_not_scored(
    lead: list[int], body: list[int]
) -> None:
    def logprobs(ids: list[int], first: int) -> list[float]:
        assert ids[: len(lead)] == lead
        assert first > 0, "a token without anything in front of it cannot be scored"
        return [-float(token) for token in ids[first:]]

    found = score_tokens(lead, body, 10, logprobs)
    assert found == [-float(token) for token in body[0 if lead else 1 :]]


def test_a_window_without_room() -> None:
    with pytest.raises(InputError, match="--context 3: a window has no room"):
        score_tokens([1, 2], [3, 4], 3, lambda ids, first: [])


@pytest.mark.parametrize(
    ("whole", "body", "lead"),
    [
        ([1, 5, 6], [5, 6], [1]),
        ([1, 5, 6, 2], [5, 6], [1]),
        ([5, 6], [5, 6], []),
        ([1, 2], [], []),
        ([1, 7, 8], [5, 6], []),
    ],
)
def test_what_a_tokenizer_puts_in_front(whole: list[int], body: list[int], lead: list[int]) -> None:
    assert leading_tokens(whole, body) == lead
