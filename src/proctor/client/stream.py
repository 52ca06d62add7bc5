"""Streams of samples, sent part by part; what has not been answered is sent again."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from proctor.client.requests import (
    ATTEMPTS,
    LATER,
    AnyTask,
    asked,
    encode,
    pause_before,
    trouble_of,
)
from proctor.client.schema import BatchAnswer
from proctor.errors import InputError, ServiceError
from proctor.records.receipt import Receipt

if TYPE_CHECKING:
    import httpx2

Sample = tuple[AnyTask, str]
LATER_CODES = frozenset({"busy", "draining", "sandbox", "host"})
CHUNK_LINES, CHUNK_BYTES = 128, 1 << 20
"""How much of a stream is sent before its answers are read."""


class Chunk:
    """A part of a stream of samples."""

    def __init__(self, lines: dict[int, bytes]) -> None:
        self.lines = lines
        self.trouble: ServiceError | InputError | None = None
        self._attempt = 0
        self._response: httpx2.Response | None = None

    def request(self) -> dict[str, Any]:
        """Ask for all that is not answered."""
        self.trouble = self._response = None
        return {
            "url": "/v1/grade/batch",
            "content": b"".join(self.lines.values()),
            "headers": {"content-type": "application/x-ndjson"},
        }

    def take(self, line: str) -> Iterator[tuple[int, Receipt]]:
        """Take a line of the answer."""
        if not line.strip():
            return
        answer = msgspec.json.decode(line, type=BatchAnswer)
        number = int(answer.id)
        if answer.receipt is not None and self.lines.pop(number, None) is not None:
            self._attempt = 0
            yield number, answer.receipt
        elif answer.error is not None:
            said = f"sample {number}: {answer.error.get('detail')}"
            if answer.error.get("code") not in LATER_CODES:
                raise InputError(f"the service refuses {said}")
            self.trouble = ServiceError(said)

    def refused(self, response: "httpx2.Response") -> None:
        """Take an answer that there is none."""
        self.trouble, self._response = trouble_of(response), response
        if response.status_code not in LATER:
            raise self.trouble

    def pause(self) -> float:
        """Return how long to wait before the rest is sent again, which is not done for ever."""
        if not self.lines:
            return 0.0
        self._attempt += 1
        if self._attempt >= ATTEMPTS:
            raise self.trouble or ServiceError("the service answers only a part of a stream")
        return pause_before(self._attempt - 1, self._response)


def chunks(samples: Iterable[Sample], options: Mapping[str, Any]) -> Iterator[Chunk]:
    """Divide a stream into parts whose answers are read before the next one is sent."""
    lines: dict[int, bytes] = {}
    size = 0
    for number, (task, completion) in enumerate(samples):
        line = {**asked(task, options), "id": number, "completion": completion}
        lines[number] = encode(line) + b"\n"
        size += len(lines[number])
        if len(lines) >= CHUNK_LINES or size >= CHUNK_BYTES:
            yield Chunk(lines)
            lines, size = {}, 0
    if lines:
        yield Chunk(lines)
