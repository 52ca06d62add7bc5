"""A Ray cluster of several machines, simulated on this one; samples of every kind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from proctor.benchmarks import load
from proctor.completion import Completion
from proctor.evaluation import Plan
from proctor.journal import read_journal
from proctor.models.recorded import Recorded
from proctor.receipt import Receipt
from proctor.run import Options
from proctor.store import RECEIPTS

if TYPE_CHECKING:
    from proctor.task import Benchmark

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
                "node_ip_address": "127.0.0.1",
            },
        )
        self._more: list[Any] = []
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="ERROR")

    def have(self, count: int) -> None:
        """Have so many machines, the first one included."""
        while len(self._more) + 1 < count:
            self._more.append(
                self._cluster.add_node(
                    num_cpus=1, object_store_memory=80 << 20, node_ip_address="127.0.0.1"
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


@pytest.fixture(scope="package")
def machines() -> Iterator[Machines]:
    """Start a cluster of one machine."""
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Machines(ray, Cluster)
    yield cluster
    cluster.close()


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Plan]:
    """Return a function that makes a plan of so many samples: right, wrong, broken, identical."""
    basics = load("basics")

    def texts(number: int) -> Iterator[Completion]:
        tasks = basics.tasks
        for place in range(number):
            task, turn = tasks[place % len(tasks)], place // len(tasks)
            wrong = [one.code for one in task.wrong_solutions]
            kinds = [task.canonical_solution or "", *wrong, "def (", "", "raise ValueError\n"]
            code = kinds[turn % len(kinds)]
            if turn % 3 == 1 and code:
                code += f"\n# draw {turn}\n"
            yield Completion(
                task_id=task.task_id,
                sample=turn,
                id=f"{place}_s{turn}",
                completion=code,
                whole=True,
            )

    def plan(number: int) -> Plan:
        file = tmp_path_factory.mktemp("samples") / "samples.jsonl"
        rows = [{"task_id": one.task_id, "solution": one.completion} for one in texts(number)]
        file.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        some: Benchmark = basics.first(min(number, len(basics.tasks)))
        return Plan(benchmark=some, model=Recorded(file), options=Options(workers=2))

    return plan


def stripped(run: Path) -> dict[tuple[str, int], Any]:
    """Return the receipts of a run, without what was measured and where."""
    found = {}
    for receipt in read_journal(run / RECEIPTS, Receipt):
        fields = msgspec.to_builtins(receipt)
        for test in fields["tests"]:
            del test["seconds"]
        found[receipt.task_id, receipt.sample] = {
            name: value for name, value in fields.items() if name not in TIMES
        }
    return found


@pytest.fixture
def facts() -> Callable[[Path], dict[tuple[str, int], Any]]:
    """Return what reads receipts so that those of two runs can be compared."""
    return stripped
