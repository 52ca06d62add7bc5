"""Completions that are asked for: which prompts, in which order, with which seeds."""

import hashlib
import threading
from collections.abc import Callable, Iterator

from proctor.completion import Completion, Request, Sampling
from proctor.models import Provider
from proctor.prompt import Shown, Strategy, render
from proctor.task import Benchmark

Wanted = Callable[[tuple[str, int]], bool]


class Generated:
    """What a provider says to all tasks of a benchmark."""

    def __init__(self, provider: Provider, strategy: Strategy, shown: Shown) -> None:
        self.name = provider.name
        self._provider = provider
        self._strategy: Strategy = strategy
        self._shown: Shown = shown

    def requests(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Request]:
        """Yield all requests: every task once, then every task again."""
        for sample in range(sampling.n_samples):
            for index, task in enumerate(benchmark.tasks):
                chat = self._provider.chat
                prompt = render(task, self._strategy, chat=chat, shown=self._shown)
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
    ) -> Iterator[Completion]:
        """Ask for all samples that are wanted."""
        requests = self.requests(benchmark, sampling)
        return self._provider.answer(
            (request for request in requests if wanted(request.key)), sampling, stop
        )

    def close(self) -> None:
        """Let go of the provider."""
        self._provider.close()
