"""One watcher has a job; another one takes over when he is dead, and only then."""

import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from proctor.watch.leases import Leases, Why, create_once, failures, holder, latest, released


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_of_many_takes_it(tmp_path: Path) -> None:
    taken = []
    start = threading.Barrier(16)

    def take() -> None:
        leases = Leases(100.0)
        start.wait()
        lease = leases.take(tmp_path)
        if lease is not None:
            taken.append(lease)

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [lease.number for lease in taken] == [1]
    found = holder(tmp_path, 1)
    assert found is not None
    assert found.pid == os.getpid()


def test_one_of_many_takes_over(tmp_path: Path) -> None:
    clock = Clock()
    assert Leases(10.0, clock).take(tmp_path) is not None
    others = [Leases(10.0, clock) for _ in range(4)]
    assert [one.take(tmp_path) for one in others] == [None] * 4
    clock.now += 10.0
    taken = [lease for one in others if (lease := one.take(tmp_path)) is not None]
    assert [lease.number for lease in taken] == [2]
    assert failures(tmp_path) == ["its watcher died"] * 2  # the second has not ended yet either


def test_who_lives_keeps_it_however_long(tmp_path: Path) -> None:
    clock = Clock()
    lease = Leases(10.0, clock).take(tmp_path)
    assert lease is not None
    other = Leases(10.0, clock)
    for _ in range(20):
        clock.now += 9.0
        lease.beat()
        assert other.take(tmp_path) is None
    assert lease.holds()


def test_clocks_of_others_do_not_count(tmp_path: Path) -> None:
    clock = Clock()
    lease = Leases(10.0, clock).take(tmp_path)
    assert lease is not None
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    (tmp_path / "beat.1").write_text('{"beat": 7, "at": "1970-01-01T00:00:00+00:00"}')
    assert Leases(10.0, lambda: 1e9).take(tmp_path) is None


def test_who_was_taken_for_dead_notices(tmp_path: Path) -> None:
    mine, theirs = Clock(), Clock()
    lease = Leases(10.0, mine).take(tmp_path)
    assert lease is not None
    other = Leases(10.0, theirs)
    assert other.take(tmp_path) is None
    theirs.now += 10.0
    assert other.take(tmp_path) is not None
    assert not lease.holds()
    lease.beat()
    assert lease.lost.is_set()


def test_who_slept_too_long_does_not_believe_in_himself(tmp_path: Path) -> None:
    clock = Clock()
    lease = Leases(10.0, clock).take(tmp_path)
    assert lease is not None
    clock.now += 11.0
    lease.beat()
    assert lease.lost.is_set()


def test_who_cannot_give_a_sign_is_lost(tmp_path: Path) -> None:
    clock = Clock()
    lease = Leases(10.0, clock).take(tmp_path)
    assert lease is not None
    (tmp_path / ".beat.1").mkdir()  # where it would write
    for _ in range(2):
        clock.now += 5.0
        lease.beat()
    assert not lease.lost.is_set()
    clock.now += 1.0
    assert not lease.holds()


def test_what_is_let_go_is_taken_at_once(tmp_path: Path) -> None:
    first = Leases(1000.0).take(tmp_path)
    assert first is not None
    first.release(Why.FAILED, "no luck")
    second = Leases(1000.0).take(tmp_path)
    assert second is not None
    assert second.number == latest(tmp_path) == 2
    second.release(Why.INTERRUPTED)
    assert failures(tmp_path) == ["no luck"]
    end = released(tmp_path, 2)
    assert end is not None
    assert end.why is Why.INTERRUPTED


def test_it_gives_signs_by_itself(tmp_path: Path) -> None:
    lease = Leases(0.6).take(tmp_path)
    assert lease is not None
    before = (tmp_path / "beat.1").read_bytes()
    with lease:
        for _ in range(200):
            if (tmp_path / "beat.1").read_bytes() != before:
                break
            threading.Event().wait(0.05)
        else:
            raise AssertionError("no sign of life")


@given(st.lists(st.sampled_from(["take", "beat", "pass", "release"]), max_size=40))
def test_never_two_who_believe_they_have_it(steps: list[str]) -> None:
    """Whatever two watchers do in turns, both with the same clock, one at most has the job."""
    import tempfile

    clock = Clock()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        watchers = [Leases(10.0, clock), Leases(10.0, clock)]
        held: list = [None, None]
        for turn, step in enumerate(steps):
            who = turn % 2
            if step == "pass":
                clock.now += 6.0
            elif step == "take" and held[who] is None:
                held[who] = watchers[who].take(folder)
            elif step == "beat" and held[who] is not None:
                held[who].beat()
            elif step == "release" and held[who] is not None:
                held[who].release(Why.INTERRUPTED)
                held[who] = None
            assert sum(one is not None and one.holds() for one in held) <= 1
            held = [one if one is not None and one.holds() else None for one in held]


def test_a_file_is_created_once(tmp_path: Path) -> None:
    assert create_once(tmp_path / "x", b"first")
    assert not create_once(tmp_path / "x", b"second")
    assert (tmp_path / "x").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
