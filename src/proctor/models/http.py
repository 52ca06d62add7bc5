"""One HTTP server of models: requests to it, their time limits and retries."""

import copy
import email.utils
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import httpx2
import stamina

from proctor.errors import InputError, ModelError, NoAnswer, PassingNoAnswer
from proctor.models.concurrent import ask_all
from proctor.models.providers import ProviderRequest
from proctor.records.completion import Completion, Request, Sampling

Read = TypeVar("Read")

MAX_BODY = 64 << 20
MAX_SAID = 300
MAX_RETRY_AFTER = 120.0
ATTEMPTS = 6
BUSY = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""Status codes after which a retry may succeed."""


class ServedModel(NamedTuple):
    """How requests are sent to a model behind a server."""

    max_in_flight: int = 16
    """Maximum number of concurrent requests."""
    seconds: float = 600.0
    """Time limit of one request, from sending it to the last byte of the response."""
    first_wait_seconds: float = 0.5
    """Delay before the first retry; later ones grow exponentially, with jitter."""


def served_model(asked: ProviderRequest) -> ServedModel:
    """Return how requests are sent if a user asks for a model so."""
    max_in_flight = asked.max_in_flight or ServedModel().max_in_flight
    return ServedModel(max_in_flight, asked.request_seconds)


def be_quiet() -> None:
    """Turn off the logging of retries in this process."""
    stamina.instrumentation.set_on_retry_hooks([])


class Endpoint:
    """A server, its address and the headers for it; safe for several threads."""

    def __init__(
        self, url: str, headers: Mapping[str, str], key_name: str, served_model: ServedModel
    ) -> None:
        self.url = url.rstrip("/")
        self._key_name = key_name
        self._served_model = served_model
        self._reached = False
        if "@" in self.url:
            raise InputError(f"an address must hold no key or password; put it into {key_name}")
        try:
            self._client = httpx2.Client(
                headers=dict(headers),
                timeout=httpx2.Timeout(
                    served_model.seconds, connect=min(served_model.seconds, 20.0)
                ),
                limits=httpx2.Limits(max_connections=served_model.max_in_flight),
            )
            httpx2.URL(self.url)
        except (httpx2.InvalidURL, UnicodeEncodeError) as error:
            raise InputError(f"{self.url} is not the address of a server: {error}") from None

    def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[dict[str, Any]], Read]
    ) -> Read:
        """Send one request and return `read` of the JSON object in the response.

        If `read` raises PassingNoAnswer, the request is retried.
        """
        content = json.dumps(body).encode()
        first = self._served_model.first_wait_seconds
        for attempt in stamina.retry_context(
            on=_worth_another_try,
            attempts=ATTEMPTS,
            timeout=None,
            wait_initial=first,
            wait_max=60 * first,
            wait_jitter=2 * first,
        ):
            with attempt:
                return read(self._post_once(path, content))
        raise AssertionError("a retry ends with an answer or an error")

    def at_root(self) -> "Endpoint":
        """Return the same server at its address without `/v1`."""
        root = copy.copy(self)
        root.url = self.url.removesuffix("/v1")
        return root

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _post_once(self, path: str, body: bytes) -> dict[str, Any]:
        url = self.url + path
        deadline = time.monotonic() + self._served_model.seconds
        kind = {"content-type": "application/json"}
        try:
            with self._client.stream("POST", url, content=body, headers=kind) as response:
                self._reached = True
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > MAX_BODY:
                        raise NoAnswer(f"{url} answers with more than {MAX_BODY >> 20} MiB")
                    if time.monotonic() > deadline:
                        raise PassingNoAnswer(
                            f"{url}: no answer in {self._served_model.seconds:g} s"
                        )
        except httpx2.ConnectError as error:
            said = f"there is no server at {self.url} ({error})"
            if not self._reached:  # no request has succeeded yet, so this is a wrong address
                raise ModelError(f"{said}; start it, or name another with --base-url") from error
            raise PassingNoAnswer(said) from error
        except httpx2.TimeoutException as error:
            raise PassingNoAnswer(
                f"{url}: no answer in {self._served_model.seconds:g} s"
            ) from error
        except httpx2.UnsupportedProtocol:
            raise InputError(f"{self.url}: an address begins with http:// or https://") from None
        except httpx2.RequestError as error:
            raise PassingNoAnswer(f"{url}: {type(error).__name__} {error}") from error
        if response.status_code != httpx2.codes.OK:
            raise self._refusal(url, response, bytes(content))
        return _object(url, bytes(content))

    def _refusal(self, url: str, response: httpx2.Response, content: bytes) -> Exception:
        """Return the exception for a status that is not 200."""
        status = response.status_code
        said = f"{url} answers {status}: {_reason(content)}"
        if status in (401, 403):
            return InputError(f"{said}; is the key in {self._key_name} right?")
        if status == httpx2.codes.NOT_FOUND:
            return InputError(f"{said}; is that the right model and the right address?")
        if status in BUSY:
            return _Busy(said, _retry_after(response.headers.get("retry-after", "")))
        return NoAnswer(said)


class HttpProvider:
    """Base of providers behind a server; a subclass sends one request and reads its response."""

    def __init__(self, name: str, endpoint: Endpoint, max_in_flight: int) -> None:
        self.name = name
        self._endpoint = endpoint
        self._max_in_flight = max_in_flight

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests concurrently; yield completions as they arrive."""
        return ask_all(
            lambda request: self._ask(request, sampling),
            requests,
            model=self.name,
            max_in_flight=self._max_in_flight,
            stop=stop,
        )

    def close(self) -> None:
        """Close all connections."""
        self._endpoint.close()

    def _ask(self, request: Request, sampling: Sampling) -> Completion:
        raise NotImplementedError


class _Busy(PassingNoAnswer):
    """The server asks for a retry later, perhaps after a given time."""

    def __init__(self, said: str, seconds: float | None) -> None:
        super().__init__(said)
        self.seconds = seconds


def _worth_another_try(error: Exception) -> bool | float:
    """Return whether to retry, or after how many seconds."""
    if isinstance(error, _Busy) and error.seconds is not None:
        return error.seconds
    return isinstance(error, NoAnswer) and error.passing


def _retry_after(text: str) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return min(seconds, MAX_RETRY_AFTER) if seconds >= 0 else None


def _object(url: str, content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        start = content[:60].decode("utf-8", "backslashreplace")
        raise PassingNoAnswer(f"{url} answers with something that is no JSON object: {start!r}")
    return value


def _reason(content: bytes) -> str:
    """Return the message in a server's error."""
    try:
        value = json.loads(content)
        error = value.get("error", value)
        said = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, RecursionError, AttributeError):
        said = content[: 4 * MAX_SAID].decode("utf-8", "replace")
    return " ".join(str(said).split())[:MAX_SAID] or "without a reason"
