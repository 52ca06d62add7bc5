"""Who is sent what: nothing lost, nothing twice, never too much, and suspects alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.grading.engine import JudgeRequest
from proctor.grading.ray.batching import LINGER, MAX_LOSSES, BatchQueue, PendingRequest, Place
from proctor.records.program import Program
from proctor.records.task import Assertions, Task

TASK = Task(task_id="t", tests=Assertions(targets=["True"]))
QUESTION = JudgeRequest(task=TASK, program=Program(source="pass\n"))


def work(since: float = 0.0) -> PendingRequest:
    return PendingRequest(QUESTION, since)


def line_of(count: int, batch_size: int) -> tuple[BatchQueue, list[PendingRequest]]:
    line, works = BatchQueue(batch_size), [work() for _ in range(count)]
    for one in works:
        line.add(one)
    return line, works


def test_whole_batches_go_at_once_and_the_rest_after_a_moment() -> None:
    line, works = line_of(10, batch_size=4)
    places = [Place(2, 4), Place(2, 4)]
    assert line.batch_for(places[0], places, 0.0) == works[:4]
    assert line.batch_for(places[1], places, 0.0) == works[4:8]
    assert line.batch_for(places[0], places, 0.0) == []
    assert line.due(LINGER / 2) == pytest.approx(LINGER / 2)
    assert line.batch_for(places[0], places, LINGER) == [], "it has enough to do"
    for one in works[:4]:
        places[0].take(one.number)
    assert line.batch_for(places[0], places, LINGER) == works[8:]
    assert len(line) == 0
    assert line.due(1.0) is None


def test_what_is_left_is_shared_by_those_that_are_idle() -> None:
    line, works = line_of(9, batch_size=16)
    places = [Place(1, 16) for _ in range(3)]
    shares = [line.batch_for(place, places, 1.0) for place in places]
    assert sorted(one.number for share in shares for one in share) == [w.number for w in works]
    assert max(map(len, shares)) <= 5, "nobody has it all"


def test_what_was_cancelled_is_not_sent() -> None:
    line, works = line_of(4, batch_size=2)
    assert works[0].future.cancel()
    assert works[2].future.cancel()
    place = Place(1, 2)
    assert line.batch_for(place, [place], 0.0) == [works[1], works[3]]
    assert not works[1].future.cancel(), "it is under way"


def test_a_place_has_one_batch_at_hand_while_it_judges_another() -> None:
    line, _ = line_of(1000, batch_size=16)
    place = Place(4, 16)
    while line.batch_for(place, [place], 9.9):
        pass
    assert len(place.works) == place.max_in_flight == 32
    small = Place(4, 1)
    line, _ = line_of(100, batch_size=1)
    while line.batch_for(small, [small], 9.9):
        pass
    assert len(small.works) == small.max_in_flight == 9, (
        "two for each worker, and one that is on its way"
    )


def test_what_was_lost_runs_alone_elsewhere() -> None:
    line, works = line_of(8, batch_size=4)
    lost, other = Place(2, 4), Place(2, 4)
    assert line.batch_for(lost, [lost, other], 0.0) == works[:4]
    assert line.batch_for(other, [lost, other], 0.0) == works[4:]
    assert line.lose(lost) == []
    assert [one.losses for one in works] == [1] * 4 + [0] * 4
    assert line.batch_for(other, [other], 9.9) == [], "it is not empty"
    for one in works[4:]:
        other.take(one.number)
    for one in works[:4]:
        line.add(fresh := work())
        assert line.batch_for(other, [other], 9.9) == [one]
        assert other.alone
        assert line.batch_for(other, [other], 9.9) == [], "nothing else runs beside it"
        assert not fresh.future.done()
        other.take(one.number)
    assert not other.alone


def test_while_one_place_is_kept_for_a_suspect_the_others_go_on() -> None:
    line, works = line_of(1, batch_size=1)
    lost, busy, idle = Place(1, 1), Place(1, 1), Place(1, 1)
    line.batch_for(lost, [lost], 0.0)
    line.lose(lost)
    for _ in range(6):
        line.add(work())
    places = [busy, idle]
    busy.give([work(), work()])
    assert line.batch_for(busy, places, 0.0) != [], "the other one is the first to be empty"
    assert line.batch_for(idle, places, 0.0) == works


def test_a_program_that_is_lost_again_and_again_is_given_up() -> None:
    line, (bad,) = line_of(1, batch_size=1)
    for loss in range(1, MAX_LOSSES + 1):
        place = Place(1, 1)
        assert line.batch_for(place, [place], 0.0) == [bad]
        assert line.lose(place) == ([bad] if loss == MAX_LOSSES else [])
    assert len(line) == 0


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 40)),
        st.tuples(st.just("feed"), st.booleans()),
        st.tuples(st.just("return"), st.integers(0, 3), st.integers(1, 50)),
        st.tuples(st.just("lose"), st.integers(0, 3)),
    ),
    max_size=60,
)


@given(
    steps=STEPS,
    workers=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    batch_size=st.sampled_from([1, 2, 7, 16, 64]),
)
def test_nothing_is_lost_and_nothing_comes_twice(
    steps: list[Any], workers: list[int], batch_size: int
) -> None:
    line = BatchQueue(batch_size)
    places = [Place(count, batch_size) for count in workers]
    added: dict[int, PendingRequest] = {}
    back: list[int] = []

    def feed(now: float) -> None:
        for place in places:
            while batch := line.batch_for(place, places, now):
                assert len(batch) <= batch_size
                assert len(place.works) <= place.max_in_flight
                suspects = [one for one in place.works.values() if one.losses]
                assert not suspects or len(place.works) == 1, "a suspect is alone"

    def lose(place: Place) -> None:
        back.extend(one.number for one in line.lose(place))
        place.alone = False

    def give_back(place: Place, count: int) -> None:
        back.extend(place.take(number).number for number in list(place.works)[:count])

    for step in steps:
        match step:
            case ("add", count):
                for _ in range(count):
                    one = work()
                    added[one.number] = one
                    line.add(one)
            case ("feed", late):
                feed(9.9 if late else 0.0)
            case ("return", index, count):
                give_back(places[index % len(places)], count)
            case ("lose", index):
                lose(places[index % len(places)])
    while len(line) or any(place.works for place in places):
        feed(9.9)
        for place in places:
            give_back(place, 10)
    assert sorted(back) == sorted(added)
    assert all(one.losses <= MAX_LOSSES for one in added.values())
