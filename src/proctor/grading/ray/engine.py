"""An engine on Ray: actors on the machines of a cluster judge programs.

Theory of operation. The process of the run is the *driver*: it turns completions into programs,
writes receipts, and holds only as many programs and judgements as the actors can use. An actor
(`worker.py`) reserves some processors of one machine, and has one sandbox and a thread per
processor. One thread of the driver, the dispatcher, owns all state in this file: it sends programs
(`batching.py` chooses which and where) and keeps one request for judgements waiting at each actor
that owes some. Every event is a call in the dispatcher's queue.

What can fail: an actor or a machine. Its programs are then sent to other actors, and a judgement is
counted only when it arrives, so none is lost or counted twice. A new actor replaces the lost one. A
program that was lost too often is unscored. If no actor is left for a while, the run ends and can
be resumed. A machine that would judge differently from the first one is named and not used.

What is not covered: anyone who can reach the ports of a Ray cluster can run programs on it, and the
driver trusts what actors send.
"""

import contextlib
import pickle
import socket
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from proctor.cancellation import Cancelled, is_cancelled
from proctor.errors import ClusterError, ProctorError, SandboxError
from proctor.grading.engine import JudgeRequest
from proctor.grading.ray.batching import LINGER, MAX_LOSSES, BatchQueue, PendingRequest, Place
from proctor.grading.ray.connect import Connection, connect
from proctor.grading.ray.placement import WorkerSlot, worker_slots
from proctor.grading.ray.worker import (
    BatchedRequest,
    BatchItem,
    JudgeWorker,
    WorkerReady,
    WorkerSetup,
)
from proctor.grading.receipts import software_versions
from proctor.judge.judgement import Judgement
from proctor.records.execution import Enforcement, Execution
from proctor.records.limits import Limits
from proctor.records.receipt import first_difference
from proctor.records.task import Benchmark, Task
from proctor.records.verdict import Unscored
from proctor.sandbox.supervisor.job import Job

BATCH_SIZE = 16
LARGE = 64 * 1024
"""A task of more bytes is not put into messages but into Ray's store, once for each machine."""
KEPT = 64
"""How many tasks are ready to be sent."""
START_SECONDS = 120.0
LONELY_SECONDS = 60.0
"""How long a run without actors waits for one."""
LOOK_SECONDS = 0.05
IDLE_SECONDS = 0.5
MAX_STARTS = 3
"""How often an actor is asked for that ends before it has judged anything."""


def open_ray_engine(
    setup: WorkerSetup,
    *,
    address: str | None = None,
    workers: int = 0,
    batch_size: int = BATCH_SIZE,
    benchmark: Benchmark | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> "RayEngine":
    """Start actors on the cluster at `address`, the one in use, or a new one on this machine.

    They have `workers` threads in all (0: one per processor), or fewer if the memory limits of the
    `benchmark` do not fit. `say` is told which machines are not used.
    """
    memory_bytes = Limits().memory_bytes
    if benchmark is not None:
        languages = sorted(benchmark.languages - {"python"})
        setup = msgspec.structs.replace(setup, wished=benchmark.packages, languages=languages)
        memory_bytes = max(1, benchmark.memory_bytes)
    joined = connect(address, workers)
    slots = worker_slots(joined.ray.nodes(), workers, memory_bytes)
    cluster = RayEngine(joined, setup, slots, batch_size, say)
    try:
        cluster.wait()
    except BaseException:
        cluster.close()
        raise
    return cluster


def _look() -> None:
    """Nothing has happened but that there is something new."""


class _Open:
    """An actor as the driver sees it."""

    def __init__(self, actor: Any, slot: WorkerSlot, batch_size: int, starts: int) -> None:
        self.actor = actor
        self.give = actor.give.options(concurrency_group="give", num_returns=0)
        self.collect = actor.collect.options(concurrency_group="collect")
        self.slot = slot
        self.place = Place(slot.workers, batch_size)
        self.starts = starts
        """How many actors failed to start in this slot before it."""
        self.here = False
        self.collecting = False


class RayEngine:
    """Actors on a cluster, and the dispatcher."""

    def __init__(
        self,
        joined: Connection,
        setup: WorkerSetup,
        slots: Sequence[WorkerSlot],
        batch_size: int,
        say: Callable[[str], None],
    ) -> None:
        self.workers = sum(slot.workers for slot in slots)
        self.max_in_flight = sum(
            Place(slot.workers, batch_size).max_in_flight + batch_size for slot in slots
        )
        """Maximum number of programs at the actors and waiting for them."""
        self.memory_bytes = min((slot.memory_bytes for slot in slots), default=0)
        """What every program may use for all of them to fit."""
        self.refused: list[ProctorError] = []
        """Why machines are not used."""
        self._ray, self._leave = joined
        self._setup, self._batch_size, self._say = setup, batch_size, say
        self._actor_class = self._ray.remote(concurrency_groups={"give": 1, "collect": 1})(
            JudgeWorker
        )
        self._actors: list[_Open] = []
        self._line = BatchQueue(batch_size)
        self._encoded_tasks: OrderedDict[str, Any] = OrderedDict()
        self._enforcement: Enforcement | None = None
        self._settled = threading.Event()
        self._lock = threading.Lock()
        self._over: Exception | None = None
        """Why nothing more can be judged."""
        self._lonely_since = time.monotonic()
        self._new: deque[PendingRequest] = deque()
        self._events: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        for slot in slots:
            self._ask_for(slot)
        self._thread = threading.Thread(target=self._dispatch, name="dispatcher", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until there is an actor, or it is clear that there will be none."""
        if not self._actors:
            raise ClusterError("no machine of the cluster has a processor to judge with")
        self._settled.wait(START_SECONDS)
        if self._enforcement is not None:
            return
        if self.refused:
            raise self.refused[0]
        raise self._over or ClusterError(
            f"no machine of the cluster had a processor free within {START_SECONDS:g} s"
        )

    def enforcement(self) -> Enforcement:
        """See Engine: it is that of the first actor, and the others do not differ."""
        if self._enforcement is None:
            raise ClusterError("no actor of the cluster has answered")
        return self._enforcement

    def require_language(self, language: str) -> str:
        """See Engine."""
        try:
            return self.enforcement().toolchains[language]
        except KeyError:
            raise SandboxError(f"{language} does not work on the cluster") from None

    def judge(self, request: JudgeRequest) -> Judgement:
        """See Engine."""
        judgement: Judgement = self._wait_for(self._begin(request))
        return judgement

    def run_job(self, job: Job) -> Execution:
        """Run one program on the cluster, as a sandbox does."""
        execution: Execution = self._wait_for(self._begin(job))
        return execution

    def submit(self, request: JudgeRequest) -> Future[Judgement]:
        """See Engine."""
        return self._begin(request)

    def _begin(self, asked: JudgeRequest | Job) -> Future[Any]:
        work = PendingRequest(asked, time.monotonic())
        with self._lock:
            if self._over is not None:
                raise self._over
            self._new.append(work)
            new, waiting = len(self._new), len(self._line)
        if new + waiting == 1 or new % self._batch_size == 0:  # else it will be looked at anyway
            self._events.put(_look)
        return work.future

    def _wait_for(self, future: Future[Any]) -> Any:
        while not wait_for([future], LOOK_SECONDS).done:
            if is_cancelled():
                future.cancel()
                raise Cancelled
        return future.result()

    def shutdown(self, *, wait: bool) -> None:
        """See Engine."""
        if wait:
            under_way = [work for one in self._actors for work in list(one.place.works.values())]
            wait_for([work.future for work in under_way])

    def close(self) -> None:
        """See Engine."""
        self._events.put(None)
        self._thread.join()
        leave, self._leave = self._leave, lambda: None
        leave()

    # what follows is the dispatcher's

    def _dispatch(self) -> None:
        """Do what is due, again and again; in the end tell all who wait that nothing comes."""
        error: Exception = ClusterError("the cluster was left")
        try:
            while self._hear_all():
                self._feed()
        except Exception as trouble:  # noqa: BLE001  whoever waits gets it
            error = trouble
        with self._lock:
            self._over = error
        left = [*self._line.drop_all(), *self._new]
        for one in list(self._actors):
            left += one.place.works.values()
            self._remove(one)
        for work in left:
            if not work.future.done():
                work.future.set_exception(error)
        self._settled.set()

    def _hear_all(self) -> bool:
        """Wait for something to happen, and take note of all that has; say whether to go on."""
        event: Callable[[], None] | None = _look
        try:
            event = self._events.get(timeout=self._patience())
            while event is not None:
                event()
                event = self._events.get_nowait()
        except Empty:
            pass
        while self._new:
            self._line.add(self._new.popleft())
        return event is not None

    def _patience(self) -> float:
        """Return how long the dispatcher may wait for something to happen."""
        if self._new:
            return 0.0
        idle = len(self._line) and any(one.here and one.place.is_idle for one in self._actors)
        return LINGER if idle else IDLE_SECONDS

    def _feed(self) -> None:
        """Send what can be sent, and ask for what is owed."""
        now = time.monotonic()
        here = sorted((one for one in self._actors if one.here), key=lambda o: len(o.place.works))
        places = [one.place for one in here]
        for one in here:
            while batch := self._line.batch_for(one.place, places, now):
                self._send(one, batch)
            if one.place.works and not one.collecting:
                one.collecting = True
                self._call(one, one.collect, self._collected, self._batch_size)
        if here:
            self._lonely_since = now
        elif now - self._lonely_since > LONELY_SECONDS and self._settled.is_set():
            raise ClusterError(
                "no machine of the cluster is left; what was graded is kept, and the same command "
                "without --fresh goes on when there is one"
            )

    def _send(self, one: _Open, batch: Sequence[PendingRequest]) -> None:
        encoded_tasks: dict[str, Any] = {}
        items = []
        for work in batch:
            asked = work.asked
            if isinstance(asked, Job):
                items.append(BatchItem(work.number, asked))
                continue
            sha256 = asked.task.sha256
            encoded_tasks[sha256] = encoded_tasks.get(sha256) or self._encode_task(asked.task)
            sent = BatchedRequest(sha256, asked.program, asked.rules, asked.confirm_failures)
            items.append(BatchItem(work.number, sent))
        small = {name: one for name, one in encoded_tasks.items() if isinstance(one, bytes)}
        large = {name: one for name, one in encoded_tasks.items() if name not in small}
        one.give.remote(pickle.dumps((small, items)), large)

    def _encode_task(self, task: Task) -> Any:
        """Return a task as it is sent."""
        encoded = self._encoded_tasks.pop(task.sha256, None)
        if encoded is None:
            content = pickle.dumps(task)
            encoded = content if len(content) <= LARGE else self._ray.put(content)
        self._encoded_tasks[task.sha256] = encoded
        if len(self._encoded_tasks) > KEPT:
            self._encoded_tasks.popitem(last=False)
        return encoded

    def _call(
        self, one: _Open, method: Any, then: Callable[[_Open, Future[Any]], None], *args: Any
    ) -> None:
        """Call a method of an actor; its result arrives as an event."""
        future = method.remote(*args).future()
        future.add_done_callback(
            lambda done: self._events.put(partial(self._hear, one, then, done))
        )

    def _hear(
        self, one: _Open, then: Callable[[_Open, Future[Any]], None], future: Future[Any]
    ) -> None:
        if one not in self._actors:
            return
        error = future.exception()
        if error is None:
            then(one, future)
        elif isinstance(error, self._ray.exceptions.RayError):
            self._lose(one, error)
        else:
            raise error

    def _collected(self, one: _Open, future: Future[Any]) -> None:
        one.collecting = False
        one.starts = 0
        for number, found in pickle.loads(future.result()):  # noqa: S301  an actor's, which we run
            work = one.place.take(number)
            if isinstance(found, Exception):
                work.future.set_exception(found)
            else:
                work.future.set_result(found)

    def _ask_for(self, slot: WorkerSlot, starts: int = 0) -> None:
        affinity = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        where = affinity(slot.node, soft=True)
        actor = self._actor_class.options(num_cpus=slot.workers, scheduling_strategy=where).remote(
            self._setup, slot.workers, self._ray.get, slot.part
        )
        one = _Open(actor, slot, self._batch_size, starts)
        self._actors.append(one)
        self._call(one, actor.arrive, self._arrived)

    def _arrived(self, one: _Open, future: Future[Any]) -> None:
        found: WorkerReady | ProctorError = future.result()
        trouble = found if isinstance(found, ProctorError) else self._difference(found)
        if trouble is None:
            one.here = True
            self._settled.set()
            return
        self.refused.append(trouble)
        self._say(f"not used: {trouble}")
        self._remove(one)

    def _difference(self, arrived: WorkerReady) -> ProctorError | None:
        """Say in what an actor would judge in another way than the first one."""
        ours = software_versions()["proctor"]
        if arrived.version != ours:
            return ClusterError(f"{arrived.host} has Proctor {arrived.version}, not {ours}")
        if self._enforcement is None:
            self._enforcement = arrived.enforcement
        there = msgspec.to_builtins(arrived.enforcement)
        found = first_difference(there, msgspec.to_builtins(self._enforcement))
        if found is None:
            return None
        return ClusterError(
            f"{arrived.host} differs: its {found.field} is {found.ours}, not {found.theirs}"
        )

    def _lose(self, one: _Open, error: BaseException) -> None:
        """Have what was there judged elsewhere, and ask for another actor."""
        reason = str(error).strip().splitlines()[0]
        for work in self._line.lose(one.place):
            said = f"{MAX_LOSSES} machines or processes were lost while they judged it: {reason}"
            work.future.set_result(self._unscored(said))
        starts = one.starts + 1
        self._remove(one)
        if starts < MAX_STARTS:
            self._ask_for(one.slot._replace(part=None), starts)  # it may be elsewhere
        elif not self._actors:
            raise ClusterError(f"no actor stays on the cluster: {reason}")

    def _unscored(self, reason: str) -> Judgement:
        verdict = Unscored(reason=reason)
        return Judgement(verdict=verdict, attempts=MAX_LOSSES, host=socket.gethostname())

    def _remove(self, one: _Open) -> None:
        self._actors.remove(one)
        with contextlib.suppress(Exception):  # it may be gone in any way that Ray knows
            self._ray.kill(one.actor)
        if not self._actors:
            self._settled.set()
