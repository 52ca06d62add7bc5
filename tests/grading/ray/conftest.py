"""A Ray cluster of several machines, simulated on this one; samples of every kind."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.grading.evaluate import Plan
from proctor.grading.prepare import Options
from proctor.models.recorded import RecordedSamples
from proctor.records.receipt import Receipt
from proctor.records.task import Task
from proctor.storage.journal import read_journal
from proctor.storage.run_directory import RECEIPTS
from tests.requires import requires

TIMES = {"usage", "host"}


class Machines:
    """A cluster whose machines are processes here, each with one processor as far as Ray knows."""

    def __init__(self, ray: Any, kind: Any) -> None:
        self._ray = ray
        self._cluster = kind(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1,
                "include_dashboard": False,
                "object_store_memory": 80 << 20,
                "node_ip_address": "127.0.0.2",
            },
        )
        self._more: list[Any] = []
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="ERROR")

    def have(self, count: int) -> None:
        """Have so many machines, the first one included."""
        while len(self._more) + 1 < count:
            self._more.append(
                self._cluster.add_node(
                    num_cpus=1, object_store_memory=80 << 20, node_ip_address="127.0.0.2"
                )
            )
        while len(self._more) + 1 > count:
            self.kill_one()

    def kill_one(self) -> None:
        """Have a machine vanish without a word."""
        self._cluster.remove_node(self._more.pop(), allow_graceful=False)

    def close(self) -> None:
        self._ray.shutdown()
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    """Start a cluster of one machine."""
    requires("ray")
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Machines(ray, Cluster)
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Plan]:
    """Return a function that makes a plan of so many samples: right, wrong, broken, identical."""
    basics = load("basics")

    def texts(tasks: Sequence[Task], number: int) -> Iterator[dict[str, str]]:
        turns = -(-number // len(tasks))
        for place in range(number):
            task, turn = tasks[place // turns], place % turns
            right, wrong = task.canonical_solution or "", task.wrong_solutions
            kinds = [right, right, *(one.code for one in wrong), "def (", "raise ValueError\n", ""]
            code = kinds[turn % len(kinds)]
            draw = f"\n# draw {turn}\n" if turn >= len(kinds) else ""
            yield {"task_id": task.task_id, "solution": code + draw}

    def plan(number: int) -> Plan:
        file = tmp_path_factory.mktemp("samples") / "samples.jsonl"
        some = msgspec.structs.replace(basics, tasks=basics.tasks[:: max(1, 300 // number)])
        rows = texts(some.tasks, number)
        file.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        options = Options(workers=2)
        return Plan(benchmark=some, model=RecordedSamples(file), options=options, partial=True)

    return plan


def stripped(run: Path) -> dict[tuple[str, int], Any]:
    """Return the receipts of a run, without what was measured and where."""
    found = {}
    for receipt in read_journal(run / RECEIPTS, Receipt):
        fields = msgspec.to_builtins(receipt)
        for test in fields["tests"]:
            test.pop("seconds", None)
        found[receipt.task_id, receipt.sample] = {
            name: value for name, value in fields.items() if name not in TIMES
        }
    return found


@pytest.fixture(scope="session")
def facts() -> Callable[[Path], dict[tuple[str, int], Any]]:
    """Return what reads receipts so that those of two runs can be compared."""
    return stripped
