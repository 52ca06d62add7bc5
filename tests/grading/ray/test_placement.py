"""Which actors are asked for, given what Ray says of its machines."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.grading.ray.placement import WORKERS_PER_ACTOR, WorkerShare, WorkerSlot, worker_slots

GIB = 1 << 30


def node(name: str, cpus: float, gib: float = 1024, *, alive: bool = True) -> dict[str, Any]:
    return {"NodeID": name, "Alive": alive, "Resources": {"CPU": cpus, "memory": gib * GIB}}


@pytest.mark.parametrize(
    ("nodes", "workers", "sizes"),
    [
        ([node("a", 1)], 0, [("a", 1)]),
        ([node("a", 4)], 0, [("a", 4)]),
        ([node("a", 6)], 0, [("a", 3), ("a", 3)]),
        ([node("a", 10)], 0, [("a", 3), ("a", 3), ("a", 4)]),
        ([node("b", 1), node("a", 2)], 0, [("a", 2), ("b", 1)]),
        ([node("a", 2), node("b", 2, alive=False)], 0, [("a", 2)]),
        ([node("head", 0), node("b", 2)], 0, [("b", 2)]),
        ([node("a", 8), node("b", 8)], 3, [("a", 2), ("b", 1)]),
        ([node("a", 1), node("b", 8)], 5, [("a", 1), ("b", 4)]),
        ([node("a", 2)], 100, [("a", 2)]),
        ([node("a", 64, gib=2.5)], 0, [("a", 2)]),
        ([node("a", 64, gib=0.5)], 0, [("a", 1)]),
        ([], 0, []),
        ([{"NodeID": "a", "Alive": True, "Resources": {}}], 0, []),
    ],
)
def test_workers(nodes: list[Any], workers: int, sizes: list[tuple[str, int]]) -> None:
    assert [(one.node, one.workers) for one in worker_slots(nodes, workers, GIB)] == sizes


def test_who_fills_a_machine_keeps_to_a_part_of_it() -> None:
    full = worker_slots([node("a", 6, gib=12)], 0, GIB)
    assert full == [
        WorkerSlot("a", 3, 2 * GIB, WorkerShare(0, 6)),
        WorkerSlot("a", 3, 2 * GIB, WorkerShare(3, 6)),
    ]
    assert [one.part for one in worker_slots([node("a", 6)], 5, GIB)] == [None, None]


@given(
    machines=st.lists(st.tuples(st.integers(0, 130), st.floats(0.1, 600)), max_size=8),
    workers=st.integers(0, 300),
)
def test_laws(machines: list[tuple[int, float]], workers: int) -> None:
    nodes = [node(f"n{place}", cpus, gib) for place, (cpus, gib) in enumerate(machines)]
    slots = worker_slots(nodes, workers, GIB)
    total = sum(one.workers for one in slots)
    assert not workers or total <= workers
    assert all(1 <= one.workers <= WORKERS_PER_ACTOR for one in slots)
    for place, (cpus, gib) in enumerate(machines):
        here = sum(one.workers for one in slots if one.node == f"n{place}")
        assert here <= cpus
        assert here <= max(1, int(gib))
