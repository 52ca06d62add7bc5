"""Local checkpoints, by transformers: batched, padded on the left, on a GPU if there is one."""

import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.errors import InputError, NoAnswer
from proctor.models.logprobs import ScoredText, Token, TracedTokens, leading_tokens, score_tokens
from proctor.models.providers import ProviderRequest
from proctor.models.weights_digest import weights_sha256
from proctor.records.completion import (
    Completion,
    Request,
    Sampling,
    StopReason,
    completion_for,
    failed_completion,
)

BATCH = 8
CHUNK = 256
"""Tokens whose probabilities over all of the vocabulary are in memory at once."""


def open_model(name: str, asked: ProviderRequest) -> "Transformers":
    """Open a model by its name."""
    return Transformers(
        Path(name), chat=asked.chat, batch_size=asked.max_in_flight, device=asked.device
    )


class Transformers:
    """One checkpoint, loaded once."""

    def __init__(
        self, path: Path, *, chat: bool | None, batch_size: int | None, device: str | None
    ) -> None:
        import torch  # noqa: PLC0415  only this provider needs it
        import transformers  # noqa: PLC0415

        if not (path / "config.json").is_file():
            raise InputError(f"--model transformers:{path}: there is no config.json in that folder")
        self.name = f"transformers:{path.name}"
        self.weights_sha256 = weights_sha256(path)
        self._torch = torch
        self._batch = batch_size or BATCH
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        begin = time.monotonic()
        bars = transformers.utils.logging
        shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()  # standard error is ours
        try:
            # never code that comes with a checkpoint, and nothing from the network
            self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(
                path, local_files_only=True, trust_remote_code=False, padding_side="left"
            )
            self.model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                path, local_files_only=True, trust_remote_code=False, dtype="auto"
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"--model {self.name}: it cannot be loaded: {reason}") from None
        finally:
            if shown:
                bars.enable_progress_bar()
        try:
            self.model.to(self.device).eval()
        except (RuntimeError, AssertionError) as error:
            raise InputError(
                f"--device {self.device}: {' '.join(str(error).split())[:200]}"
            ) from None
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.load_seconds = time.monotonic() - begin
        has_template = self.tokenizer.chat_template is not None
        if chat and not has_template:
            raise InputError(f"--model {self.name}: it has no template to chat by; say --base")
        self.chat = has_template if chat is None else chat

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests batch by batch."""
        while not stop.is_set() and (batch := list(islice(requests, self._batch))):
            fitting = [request for request in batch if self._fits(request, sampling)]
            limit = f"{self._context_length} tokens of {self.name}"
            why = f"prompt and answer are longer than the {limit}"
            yield from (
                failed_completion(one, self.name, why) for one in batch if one not in fitting
            )
            if fitting:
                yield from self._generate(fitting, sampling)

    def close(self) -> None:
        """Free the weights."""
        del self.model

    @property
    def _context_length(self) -> int:
        return int(getattr(self.model.config, "max_position_embeddings", 1 << 30))

    def _fits(self, request: Request, sampling: Sampling) -> bool:
        return len(self.tokens(request)) + sampling.max_tokens <= self._context_length

    def tokens(self, request: Request) -> list[int]:
        """Return a prompt as the model sees it."""
        prompt = request.prompt
        if not self.chat:
            return list(self.tokenizer(prompt.text)["input_ids"])
        turns = [{"role": role, "content": text} for role, text in prompt.turns]
        text = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def score(self, text: str, context: int) -> ScoredText:
        """Say how likely a text is; special tokens that it spells out are text to it."""
        plain = {"add_special_tokens": False, "return_offsets_mapping": True}
        encoded = self.tokenizer(text, split_special_tokens=True, **plain)
        body = list(encoded["input_ids"])
        lead = leading_tokens(
            list(self.tokenizer(text, split_special_tokens=True)["input_ids"]), body
        )
        context = min(context, self._context_length)
        found = score_tokens(lead, body, context, self._logprobs)
        skipped = encoded["offset_mapping"][0][1] if body and not lead else 0
        return ScoredText(found, len(text[skipped:].encode()), len(body) - len(found), context)

    def _logprobs(self, ids: list[int], first: int) -> list[float]:
        torch = self._torch
        row = torch.tensor([ids], device=self.device)
        found: list[float] = []
        with torch.inference_mode():
            logits = self.model(input_ids=row).logits[0, first - 1 : -1]
            for some, chosen in zip(logits.split(CHUNK), row[0, first:].split(CHUNK), strict=True):
                found += _chosen(some, chosen)
        return found

    def trace(self, request: Request, sampling: Sampling) -> TracedTokens:
        """Answer one request and say how likely every token was."""
        if not self._fits(request, sampling):
            raise NoAnswer(f"prompt and answer are longer than the {self._context_length} tokens")
        torch, given = self._torch, self.tokens(request)
        row = torch.tensor([given], device=self.device)
        torch.manual_seed(request.seed)
        begin = time.monotonic()
        with torch.inference_mode():
            said = self.model.generate(
                input_ids=row,
                attention_mask=torch.ones_like(row),
                **_sampling(sampling),
                max_new_tokens=sampling.max_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                output_logits=True,
                return_dict_in_generate=True,
                **self._stopping([request]),
            )
        seconds = time.monotonic() - begin
        new = said.sequences[0, len(given) :]
        logprobs = _chosen(torch.cat(said.logits), new)
        completion = self._completion(request, len(given), new.tolist(), seconds, sampling)
        return TracedTokens(completion, [*map(Token, self._pieces(new.tolist()), logprobs)])

    def _pieces(self, ids: list[int]) -> Iterator[str]:
        """Yield the text that each token adds: some tokenizers want to see those in front."""
        before = ""
        for end in range(1, len(ids) + 1):
            text = self.tokenizer.decode(ids[:end])
            yield text[len(before) :]
            before = text

    def _generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Completion]:
        torch = self._torch
        rows = [self.tokens(request) for request in requests]
        batch = self.tokenizer.pad({"input_ids": rows}, return_tensors="pt").to(self.device)
        width = batch["input_ids"].shape[1]
        torch.manual_seed(requests[0].seed)
        begin = time.monotonic()
        with torch.inference_mode():
            whole = self.model.generate(
                **batch,
                **_sampling(sampling),
                max_new_tokens=sampling.max_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
                **self._stopping(requests),
            )
        seconds = (time.monotonic() - begin) / len(requests)
        for request, row, output in zip(requests, rows, whole, strict=True):
            new = output[width:].tolist()
            yield self._completion(request, len(row), new, seconds, sampling)

    def _stopping(self, requests: Sequence[Request]) -> dict[str, Any]:
        """Stop where all of a batch may; what is beyond a request's own is cut off later."""
        stops = [set(request.prompt.stop) for request in requests]
        common = sorted(set.intersection(*stops))
        return {"stop_strings": common, "tokenizer": self.tokenizer} if common else {}

    def _completion(
        self, request: Request, given: int, new: list[int], seconds: float, sampling: Sampling
    ) -> Completion:
        ends = self.model.generation_config.eos_token_id
        ends = set(ends if isinstance(ends, list) else [ends]) | {self.tokenizer.eos_token_id}
        length = next((at for at, token in enumerate(new) if token in ends), len(new))
        text = self.tokenizer.decode(new[:length], skip_special_tokens=True)
        cut = min(
            (at for stop in request.prompt.stop if (at := text.find(stop)) >= 0), default=None
        )
        full = cut is None and length >= sampling.max_tokens
        return completion_for(
            request,
            text if cut is None else text[:cut],
            model=self.name,
            stop=StopReason.LENGTH if full else StopReason.STOP,
            prompt_tokens=given,
            completion_tokens=length,
            seconds=round(seconds, 6),
            used_gpu=self.device != "cpu",
        )


def _chosen(logits: Any, ids: Any) -> list[float]:
    """Return how likely one token of each row is, as a natural logarithm."""
    found = logits.float().log_softmax(-1).gather(1, ids[:, None])[:, 0]
    return [float(one) for one in found]


def _sampling(sampling: Sampling) -> dict[str, Any]:
    if sampling.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    return {
        "do_sample": True,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.tokens_considered,
    }
