"""How many actors to start on each machine: as many workers as processors and memory allow."""

from collections.abc import Iterable, Mapping
from itertools import cycle, pairwise
from typing import Any, NamedTuple

WORKERS_PER_ACTOR = 4
"""Threads of one process block each other, so a large machine has several actors."""


class WorkerShare(NamedTuple):
    """The processors of a machine to which an actor is pinned."""

    first: int
    of: int
    """How many the machine should have; with any other number, no actor is pinned."""


class WorkerSlot(NamedTuple):
    """Room for one actor on a machine."""

    node: str
    workers: int
    memory_bytes: int
    """What a worker may use, so that all of the machine's workers have as much."""
    part: WorkerShare | None = None
    """Its processors, if actors fill the machine."""


def worker_slots(
    nodes: Iterable[Mapping[str, Any]], workers: int, memory_bytes: int
) -> list[WorkerSlot]:
    """Return where to start actors if each worker needs `memory_bytes`."""
    alive = sorted((node for node in nodes if node.get("Alive")), key=lambda node: node["NodeID"])
    cpus = {str(node["NodeID"]): _has(node, "CPU") for node in alive if _has(node, "CPU")}
    memory = {str(node["NodeID"]): _has(node, "memory") for node in alive}
    room = {name: min(cpus[name], memory[name] // memory_bytes or 1) for name in cpus}
    shares = _shares(room, workers or sum(room.values()))
    return [
        WorkerSlot(
            name,
            size,
            memory[name] // share,
            WorkerShare(first, cpus[name]) if share == cpus[name] else None,
        )
        for name, share in shares.items()
        for first, size in _parts(share)
    ]


def _has(node: Mapping[str, Any], resource: str) -> int:
    return int((node.get("Resources") or {}).get(resource, 0))


def _shares(room: Mapping[str, int], workers: int) -> dict[str, int]:
    """Spread workers evenly over machines."""
    shares = dict.fromkeys(room, 0)
    left = min(workers, sum(room.values()))
    for name in cycle(room):
        if left == 0:
            break
        if shares[name] < room[name]:
            shares[name] += 1
            left -= 1
    return shares


def _parts(workers: int) -> list[tuple[int, int]]:
    """Split the workers of a machine into actors: where each begins, and how many it has."""
    count = -(-workers // WORKERS_PER_ACTOR)
    bounds = [workers * index // count for index in range(count + 1)] if count else []
    return [(first, end - first) for first, end in pairwise(bounds)]
