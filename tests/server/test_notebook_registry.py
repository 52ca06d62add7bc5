"""Open notebooks: how many there may be, and when one goes."""

import time

import pytest

from proctor.records.limits import MIB, Limits
from proctor.server import notebook_registry
from proctor.server.errors import ErrorResponse
from proctor.server.notebook_registry import NotebookRegistry

LIMITS = Limits().with_seconds(10.0)


@pytest.fixture
def open_ones(kernel, monkeypatch):
    monkeypatch.setattr(notebook_registry, "TICK", 0.1)
    made = NotebookRegistry(kernel, max_open=3, max_open_per_owner=2)
    yield made
    made.close()


def wait_for_end(held, seconds=20.0):
    """Wait until one has ended, which it does after it is no longer there."""
    end = time.monotonic() + seconds
    while held.notebook.alive:
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.05)


def test_they_are_counted_by_owner_and_in_all(open_ones):
    first = open_ones.open("a", LIMITS, 60.0)
    open_ones.open("a", LIMITS, 60.0)
    with pytest.raises(ErrorResponse, match="there may be 2 open sessions"):
        open_ones.open("a", LIMITS, 60.0)
    open_ones.open("b", LIMITS, 60.0)
    with pytest.raises(ErrorResponse, match="there may be 3 open sessions"):
        open_ones.open("c", LIMITS, 60.0)
    open_ones.drop(first)
    assert open_ones.open("c", LIMITS, 60.0)
    assert [held.owner for held in open_ones.of("a")] == ["a"]


def test_those_of_others_are_not_there(open_ones):
    held = open_ones.open("a", LIMITS, 60.0)
    assert open_ones.find("a", held.id) is held
    for owner, name in (("b", held.id), ("a", "nothing")):
        with pytest.raises(ErrorResponse, match="there is no such session"):
            open_ones.find(owner, name)


def test_one_that_nobody_uses_goes(open_ones):
    held = open_ones.open("a", LIMITS, 0.3)
    wait_for_end(held)
    assert open_ones.count == 0


def test_one_that_works_between_cells_goes(open_ones, monkeypatch):
    monkeypatch.setattr(notebook_registry, "IDLE_CPU_SECONDS", 0.3)
    held = open_ones.open("a", LIMITS, 60.0)
    held.notebook.execute("import threading\ndef f():\n    while True: pass")
    held.notebook.execute("threading.Thread(target=f, daemon=True).start()")
    wait_for_end(held)
    assert open_ones.count == 0


def test_one_whose_process_ends_between_cells_goes(open_ones):
    held = open_ones.open("a", LIMITS, 60.0)
    held.notebook.execute("import threading, os\nthreading.Timer(0.2, os._exit, [0]).start()")
    wait_for_end(held)
    assert open_ones.count == 0


def test_all_together_have_so_much_memory(kernel, monkeypatch):
    monkeypatch.setattr(notebook_registry, "TICK", 0.1)
    made = NotebookRegistry(kernel, max_open=9, max_open_per_owner=9, memory_bytes=250 * MIB)
    first, second = (made.open("a", LIMITS, 60.0) for _ in range(2))
    for held in (first, second):
        with held.busy:
            held.notebook.execute("x = b'x' * (80 << 20)")
            held.rest()
    wait_for_end(first)
    assert (made.count, second.notebook.alive) == (1, True)
    with pytest.raises(ErrorResponse, match="use up the memory"):
        for _ in range(5):
            made.open("a", LIMITS, 60.0)
    made.close()


def test_all_go_with_the_service(kernel):
    made = NotebookRegistry(kernel, max_open=3, max_open_per_owner=3)
    held = [made.open("a", LIMITS, 60.0) for _ in range(2)]
    made.close()
    assert not any(one.notebook.alive for one in held)
    with pytest.raises(Exception, match="the service ends"):
        made.open("a", LIMITS, 60.0)
