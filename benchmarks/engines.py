"""What Ray costs beside threads of one process; what batches would save locally; what 10^8 need.

    python benchmarks/engines.py [--samples 600] [--rounds 3] [--batch-sizes 1,4,16,64]
                                 [--workers 2] [--nodes 1,2,4] [--a-day 1e8]

All contenders judge the same samples, the references and wrong solutions of `basics`, each program
once, into a run directory, turn by turn in every round; ratios are those of one round. Opening a
sandbox, a cluster or an actor is not counted, and each is warm.

`--nodes` simulates so many machines with one processor each on this one: rates add up as long as
this machine has a processor for each. `--a-day` works out from all of it what so many programs a
day need; docs/concepts/scale.md has the model.
"""

import argparse
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from proctor.benchmarks import load
from proctor.grading.engine import Backend, JudgePool, JudgeRequest, grader_threads
from proctor.grading.evaluate import Plan, evaluate
from proctor.grading.prepare import Options
from proctor.grading.ray.engine import BATCH_SIZE, open_ray_engine
from proctor.grading.ray.worker import BatchedRequest, BatchItem, WorkerSetup, brief
from proctor.models.recorded import RecordedSamples
from proctor.records.program import Program
from proctor.sandbox.tiers.select import open_sandbox
from proctor.settings import default_workers
from proctor.storage.run_directory import COMPLETIONS, RECEIPTS

WARM_UP = 60
HAND_OVERS = 20_000
DAY = 86_400
USED = 0.7
"""How much of its time a planned machine is busy."""
GB, MB = 1e9, 1e6


class Turn(NamedTuple):
    """What one contender did in one round."""

    per_second: float
    driver_ms: float
    """Processor time of this process for one program."""
    all_ms: float
    """That of all processes: what a processor that is never idle takes for one program."""


class Sizes(NamedTuple):
    """Bytes that a program takes."""

    there: float
    back: float
    receipt: float
    completion: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-sizes", default=f"1,4,{BATCH_SIZE},64")
    parser.add_argument("--workers", type=int, default=default_workers())
    parser.add_argument("--nodes", default="", help="simulated machines, as in 1,2,4")
    parser.add_argument("--a-day", type=float, default=1e8)
    args = parser.parse_args()
    sizes = sorted({int(size) for size in args.batch_sizes.split(",") if size} | {BATCH_SIZE})
    with tempfile.TemporaryDirectory() as folder:
        samples = Samples(Path(folder), args.samples, args.workers)
        local_batches(samples, args.rounds)
        turns, memory = batch_sizes(samples, sizes, args.rounds)
        plan(args.a_day, samples.workers, turns, memory, bytes_of(samples))
        if args.nodes:
            machines(samples, [int(count) for count in args.nodes.split(",")], args.rounds)


class Samples:
    """Programs that are all different, and plans to judge them."""

    def __init__(self, folder: Path, count: int, workers: int) -> None:
        self.workers = workers
        self._folder, self._runs = folder, 0
        self._benchmark = load("basics")
        self._rows = list(self._texts(count))

    def _texts(self, count: int) -> Iterator[dict[str, str]]:
        tasks = self._benchmark.tasks
        for place in range(count):
            task, turn = tasks[place % len(tasks)], place // len(tasks)
            kinds = [task.canonical_solution or "", *(one.code for one in task.wrong_solutions)]
            code = f"{kinds[turn % len(kinds)]}\n# {place}\n"
            yield {"task_id": task.task_id, "solution": code}

    def plan(self, count: int | None = None) -> Plan:
        file = self._folder / f"{count}.jsonl"
        lines = [msgspec.json.encode(row) + b"\n" for row in self._rows[:count]]
        file.write_bytes(b"".join(lines))
        options = Options(reuse=False, workers=self.workers)
        return Plan(
            benchmark=self._benchmark, model=RecordedSamples(file), options=options, partial=True
        )

    def turn(self, backend: Backend) -> Turn:
        """Judge all of them into a run directory."""
        evaluate(self.plan(WARM_UP), backend, self._place())
        plan_, place = self.plan(), self._place()
        begin, before, whole = time.perf_counter(), time.process_time(), processor_seconds()
        evaluate(plan_, backend, place)
        seconds, busy = time.perf_counter() - begin, time.process_time() - before
        whole, count = processor_seconds() - whole, len(self._rows)
        return Turn(count / seconds, 1000 * busy / count, 1000 * whole / count)

    def _place(self) -> Path:
        self._runs += 1
        return self._folder / f"run{self._runs}"

    def stored(self) -> tuple[float, float]:
        """Return how many bytes a sample's receipt and completion take on disk."""
        last, count = self._folder / f"run{self._runs}", len(self._rows)
        receipts, completions = (last / name for name in (RECEIPTS, COMPLETIONS))
        return receipts.stat().st_size / count, completions.stat().st_size / count

    def questions(self) -> list[JudgeRequest]:
        find = self._benchmark.finder()
        return [
            JudgeRequest(task=find(row["task_id"]), program=Program(source=row["solution"]))
            for row in self._rows
        ]


def local_batches(samples: Samples, rounds: int) -> None:
    """Have threads fetch one program at a time, or many."""
    questions = samples.questions()
    rates: dict[str, list[float]] = {}
    with sandbox() as box:
        judges = JudgePool(box)
        judge_in(judges, questions[:WARM_UP], 1, samples.workers)
        for _ in range(rounds):
            for size in (1, 4, 16, 64):
                begin = time.perf_counter()
                judge_in(judges, questions, size, samples.workers)
                seconds = time.perf_counter() - begin
                rates.setdefault(str(size), []).append(len(questions) / seconds)
    print(f"\nthreads of one process, {samples.workers} of them, that fetch so many at a time:\n")
    table("fetched", rates, "1")
    with grader_threads(samples.workers) as pool:
        begin = time.perf_counter()
        wait([pool.submit(int) for _ in range(HAND_OVERS)])
        each = (time.perf_counter() - begin) / HAND_OVERS
    one = samples.workers / statistics.median(rates["1"])
    print(
        f"\nhanding one program over takes {1e6 * each:.0f} µs, judging one {1e6 * one:.0f} µs: "
        f"{100 * each / one:.2f} %"
    )


def judge_in(judges: JudgePool, questions: Sequence[JudgeRequest], size: int, workers: int) -> None:
    """Judge programs on threads that fetch so many at a time."""

    def judge_all(some: Sequence[JudgeRequest]) -> None:
        for question in some:
            judges.judge(question)

    with grader_threads(workers) as pool:
        starts = range(0, len(questions), size)
        done = [pool.submit(judge_all, questions[start : start + size]) for start in starts]
        for future in done:
            future.result()


def batch_sizes(
    samples: Samples, sizes: Sequence[int], rounds: int
) -> tuple[dict[str, list[Turn]], float]:
    """Judge locally and on Ray, by batch size; return also the memory of a worker."""
    turns: dict[str, list[Turn]] = {}
    memory = 0.0
    for _ in range(rounds):
        with sandbox() as box:
            turns.setdefault("local", []).append(samples.turn(box))
        for size in sizes:
            with cluster(samples.workers, size) as backend:
                turns.setdefault(f"ray, {size}", []).append(samples.turn(backend))
                memory = memory_mib(backend)
    print(f"\n{samples.workers} workers, by the size of a batch (the default is {BATCH_SIZE}):\n")
    rates = {name: [turn.per_second for turn in each] for name, each in turns.items()}
    table("engine", rates, "local")
    print("\nms of processor time a program:\n")
    print(f"    {'engine':12} {'driver':>8} {'in all':>8}   beside local (each round)")
    for name, each in turns.items():
        driver = statistics.median(turn.driver_ms for turn in each)
        whole = statistics.median(turn.all_ms for turn in each)
        pairs = zip(each, turns["local"], strict=True)
        shown = " ".join(f"{turn.all_ms / local.all_ms:.3f}" for turn, local in pairs)
        print(f"    {name:12} {driver:8.2f} {whole:8.2f}   {shown}")
    return turns, memory


def bytes_of(samples: Samples) -> Sizes:
    """Say what a program takes on the network and on disk."""
    questions = samples.questions()[:WARM_UP]
    with sandbox() as box:
        judges = JudgePool(box)
        judged = [judges.judge(question) for question in questions]
    there = back = 0
    for start in range(0, len(questions), BATCH_SIZE):
        some = questions[start : start + BATCH_SIZE]
        items = [
            BatchItem(
                number,
                BatchedRequest(one.task.sha256, one.program, one.rules, one.confirm_failures),
            )
            for number, one in enumerate(some)
        ]
        tasks = {one.task.sha256: pickle.dumps(one.task) for one in some}
        there += len(pickle.dumps((tasks, items)))
        few = [brief(one) for one in judged[start : start + BATCH_SIZE]]
        back += len(pickle.dumps(list(enumerate(few))))
    return Sizes(there / len(questions), back / len(questions), *samples.stored())


def plan(
    a_day: float, workers: int, turns: dict[str, list[Turn]], memory: float, sizes: Sizes
) -> None:
    """Work out what so many programs a day need."""
    ray = turns[f"ray, {BATCH_SIZE}"]
    each = statistics.median(turn.per_second for turn in ray) / workers
    driver = statistics.median(turn.driver_ms for turn in ray) / 1000
    rate = a_day / DAY
    cores = rate / each / USED
    stored = sizes.receipt + sizes.completion
    print(
        f"\nbytes a program: {sizes.there:.0f} to an actor, {sizes.back:.0f} back; on disk "
        f"{sizes.receipt:.0f} of receipts, {sizes.completion:.0f} of completions\n"
        f"\n{a_day:g} programs a day are {rate:.0f} a second:\n\n"
        f"    processors that judge    {cores:8.0f}   {each:.0f} a second each, {USED:.0%} busy\n"
        f"    processors that drive    {rate * driver / USED:8.1f}   {1 / driver:.0f} a second\n"
        f"    GiB of actors          {cores * memory / 1024:8.1f}   {memory:.0f} MiB a worker\n"
        f"    GB a day on disk         {a_day * stored / GB:8.0f}\n"
        f"    MB a second to actors  {rate * sizes.there / MB:8.1f}\n"
        f"    MB a second from them    {rate * sizes.back / MB:8.1f}"
    )


def machines(samples: Samples, counts: Sequence[int], rounds: int) -> None:
    """Judge on so many simulated machines with one processor each."""
    import ray  # noqa: PLC0415  only simulated machines need it by name
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    rates: dict[str, list[float]] = {}
    own = {"num_cpus": 1, "object_store_memory": 80 << 20, "node_ip_address": "127.0.0.2"}
    for _ in range(rounds):
        for count in counts:
            simulated = Cluster(
                initialize_head=True, head_node_args={**own, "include_dashboard": False}
            )
            try:
                for _ in range(count - 1):
                    simulated.add_node(**own)
                ray.init(address=simulated.address, log_to_driver=False, logging_level="ERROR")
                with cluster(0, BATCH_SIZE) as backend:
                    rates.setdefault(str(count), []).append(samples.turn(backend).per_second)
            finally:
                ray.shutdown()
                simulated.shutdown()
    real = default_workers()
    print(f"\nsimulated machines with one processor each, on {real} processors:\n")
    table("machines", rates, str(counts[0]))
    first = statistics.median(rates[str(counts[0])]) / min(counts[0], real)
    print("\nthe model, as many times one machine as there are processors:\n")
    for count in counts:
        print(f"    {count:<12} {first * min(count, real):8.1f}")


def memory_mib(backend: Any) -> float:
    """Return the private memory of one worker: of an actor, and of all processes below it."""
    actor = backend._actors[0]  # noqa: SLF001
    asked = actor.actor.__ray_call__.remote(lambda _: os.getpid())
    pid = backend._ray.get(asked)  # noqa: SLF001
    total = 0
    for one in [pid, *below(pid)]:
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return total / 1024 / actor.slot.workers


def below(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue  # a thread that has ended
        for child in children:
            yield int(child)
            yield from below(int(child))


def processor_seconds() -> float:
    """Return what this process and all below it have used, with those that have ended."""
    ticks = 0
    for pid in [os.getpid(), *below(os.getpid())]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def table(what: str, rates: dict[str, list[float]], beside: str) -> None:
    """Print rates, and in each round their ratio to one of them."""
    print(f"    {what:12} {'per s':>8}   beside {beside} (each round)")
    for name, each in rates.items():
        ratios = [rate / other for rate, other in zip(each, rates[beside], strict=True)]
        shown = " ".join(f"{ratio:.3f}" for ratio in ratios)
        print(f"    {name:12} {statistics.median(each):8.1f}   {shown}")


@contextmanager
def sandbox() -> Iterator[Any]:
    with closing(open_sandbox("auto", sys.executable, None, [])) as box:
        yield box


@contextmanager
def cluster(workers: int, batch_size: int) -> Iterator[Any]:
    setup = WorkerSetup(packages=[])
    with closing(
        open_ray_engine(setup, workers=workers, batch_size=batch_size, say=print)
    ) as backend:
        yield backend


if __name__ == "__main__":
    main()
