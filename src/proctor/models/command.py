"""Any program that answers prompts: JSON lines in, JSON lines out.

It gets one line per prompt, `{"task_id", "prompt", "max_tokens", "temperature", "top_k", "seed",
"stop"}`, and writes one line per answer, flushed, in any order: `{"task_id", "text"}` and, if it
knows them, `tokens_generated`, `tok_per_sec`, `inference_ms`, `used_gpu`. What it writes to stderr
is shown. A task of which several samples are wanted is asked several times, with different seeds,
and answered as often. Whatever it has not answered when it ends is unanswered, and so unscored.
"""

import shlex
import subprocess
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Annotated, Any

import msgspec

from proctor.errors import InputError, ModelError
from proctor.models.providers import ProviderRequest
from proctor.records.completion import (
    Completion,
    Request,
    Sampling,
    completion_for,
    failed_completion,
)

MAX_LINE = 16 << 20


class Said(msgspec.Struct):
    """One answer of a program."""

    task_id: str
    text: str
    tokens_generated: Annotated[int, msgspec.Meta(ge=0)] | None = None
    tok_per_sec: float | None = None
    inference_ms: Annotated[float, msgspec.Meta(ge=0)] | None = None
    used_gpu: bool | None = None


def open_model(name: str, asked: ProviderRequest) -> "Command":
    """Open a model by its name."""
    return Command(name, chat=asked.chat, batch=asked.batch)


class Command:
    """A program, started once for all prompts, or once for each of them."""

    chat = False

    def __init__(self, line: str, *, chat: bool | None, batch: bool) -> None:
        self.name = f"command:{line}"
        self._words = shlex.split(line)
        if not self._words:
            raise InputError(
                "--model command: needs the program and its arguments behind the colon"
            )
        self.chat = chat is True
        self._batch = batch

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests in the order in which the program does."""
        if self._batch:
            yield from self._converse(requests, sampling, stop)
            return
        for request in requests:
            if stop.is_set():
                return
            yield from self._converse(iter([request]), sampling, stop)

    def close(self) -> None:
        """Every program has ended with its prompts."""

    def _converse(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        conversation = _Conversation(self._words, self.name)
        try:
            yield from conversation.run(requests, sampling, stop)
        finally:
            conversation.end()


class _Conversation:
    """One process, fed by a thread of its own so that neither side can block the other."""

    def __init__(self, words: list[str], name: str) -> None:
        self._name = name
        self._open: defaultdict[str, deque[Request]] = defaultdict(deque)
        self._lock = threading.Lock()
        try:
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise InputError(f"--model {name}: cannot start {words[0]}: {error.strerror}") from None

    def run(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        feeder = threading.Thread(target=self._feed, args=(requests, sampling, stop), daemon=True)
        feeder.start()
        assert self._process.stdout is not None  # noqa: S101
        while line := self._process.stdout.readline(MAX_LINE):
            yield self._answer(line)
        status = self._process.wait()
        feeder.join()
        asked = (request for waiting in self._open.values() for request in waiting)
        why = f"{self._name} ended with status {status} and without an answer to this prompt"
        for request in chain(asked, () if stop.is_set() else requests):
            yield failed_completion(request, self._name, why)

    def _feed(self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event) -> None:
        """Hand over all prompts as fast as they are read: some programs want all of them first."""
        assert self._process.stdin is not None  # noqa: S101
        with suppress(OSError), self._process.stdin as pipe:  # it may read no more
            for request in requests:
                if stop.is_set():
                    return
                with self._lock:
                    self._open[request.prompt.task_id].append(request)
                pipe.write(msgspec.json.encode(_line(request, sampling)) + b"\n")
                pipe.flush()

    def _answer(self, line: bytes) -> Completion:
        try:
            said = msgspec.json.decode(line, type=Said)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            start = line[:80].decode("utf-8", "backslashreplace")
            raise ModelError(
                f"{self._name} writes a line that is no answer: {error}; it begins with {start!r}"
            ) from None
        with self._lock:
            waiting = self._open.get(said.task_id)
            if not waiting:
                raise ModelError(
                    f"{self._name} answers {said.task_id!r}, which it was not asked or has answered"
                )
            request = waiting.popleft()
        return completion_for(request, said.text, model=self._name, **_facts(said))

    def end(self) -> None:
        """See that the process is gone."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdout.close()


def _line(request: Request, sampling: Sampling) -> dict[str, Any]:
    return {
        "task_id": request.prompt.task_id,
        "prompt": request.prompt.text,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_k": sampling.tokens_considered,
        "seed": request.seed,
        "stop": list(request.prompt.stop),
    }


def _facts(said: Said) -> dict[str, Any]:
    more = {} if said.tok_per_sec is None else {"more": {"tok_per_sec": said.tok_per_sec}}
    seconds = None if said.inference_ms is None else said.inference_ms / 1000
    return {
        "completion_tokens": said.tokens_generated,
        "seconds": seconds,
        "used_gpu": said.used_gpu,
        **more,
    }
