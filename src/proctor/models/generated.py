"""Completions that are asked for: which prompts, in which order, with which seeds."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue

from proctor.models import RecordedModel, recorded_model
from proctor.models.prompting import Strategy, TestsShown, render_prompt
from proctor.models.providers import Provider, ProviderRequest, open_provider
from proctor.records.completion import Completion, Request, Sampling
from proctor.records.task import Benchmark

Wanted = Callable[[tuple[str, int]], bool]
MOMENT_SECONDS = 0.1
PREFETCH = 64
"""Completions that wait to be graded before no more are taken."""


class GenerativeModel:
    """What a provider says to all tasks of a benchmark."""

    def __init__(self, provider: Provider, strategy: Strategy, shown: TestsShown) -> None:
        self.name = provider.name
        self.strategy: Strategy = strategy
        self._provider = provider
        self._shown: TestsShown = shown

    def requests(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Request]:
        """Yield all requests: every task once, then every task again."""
        for sample in range(sampling.n_samples):
            for index, task in enumerate(benchmark.tasks):
                chat = self._provider.chat
                prompt = render_prompt(task, self.strategy, chat=chat, shown=self._shown)
                number = f"{index}_s{sample}"
                yield Request(prompt=prompt, sample=sample, id=number, seed=sampling.seed + sample)

    def sha256(self, benchmark: Benchmark) -> str:
        """Return a digest of all prompts."""
        digest = hashlib.sha256()
        for request in self.requests(benchmark, Sampling()):
            digest.update(bytes.fromhex(request.prompt.sha256))
        return digest.hexdigest()

    def complete(
        self, benchmark: Benchmark, sampling: Sampling, wanted: Wanted, stop: threading.Event
    ) -> Iterator[Completion | None]:
        """Ask for all samples that are wanted; None comes while there is no answer."""
        requests = (one for one in self.requests(benchmark, sampling) if wanted(one.key))
        return awaited(lambda: self._provider.answer(requests, sampling, stop))

    @property
    def weights_sha256(self) -> str | None:
        """Say which weights are asked, if they are at hand."""
        return getattr(self._provider, "weights_sha256", None)

    def close(self) -> None:
        """Let go of the provider."""
        self._provider.close()


def open_model(
    name: str,
    asked: ProviderRequest | None = None,
    strategy: Strategy = "standard",
    shown: TestsShown = "name+tests",
) -> RecordedModel | GenerativeModel:
    """Return the completions that PROVIDER:NAME or a path means, given or to be asked for."""
    there = recorded_model(name)
    if there is not None:
        return there
    return GenerativeModel(open_provider(name, asked or ProviderRequest()), strategy, shown)


def awaited(ask: Callable[[], Iterator[Completion]]) -> Iterator[Completion | None]:
    """Yield what comes from a thread of its own, and None for every moment that nothing comes."""
    line = _Line()
    threading.Thread(target=line.speak, args=(ask,), name="model", daemon=True).start()
    try:
        yield from line.hear()
    finally:
        line.over.set()


class _Line:
    """Between the thread that asks a model and the one that wants its answers."""

    def __init__(self) -> None:
        self.over = threading.Event()
        """Nobody listens any more."""
        self._answers: Queue[Completion | BaseException | None] = Queue(PREFETCH)

    def speak(self, ask: Callable[[], Iterator[Completion]]) -> None:
        """Ask, and pass on all answers, or what went wrong."""
        try:
            for completion in ask():
                self._put(completion)
                if self.over.is_set():
                    return
            self._put(None)
        except BaseException as error:  # noqa: BLE001  it is raised where somebody listens
            self._put(error)

    def hear(self) -> Iterator[Completion | None]:
        """Yield what was passed on, or None when a moment has passed without."""
        while True:
            try:
                item = self._answers.get(timeout=MOMENT_SECONDS)
            except Empty:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item

    def _put(self, item: Completion | BaseException | None) -> None:
        while not self.over.is_set():
            with suppress(Full):
                self._answers.put(item, timeout=MOMENT_SECONDS)
                break
