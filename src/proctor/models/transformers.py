"""Local checkpoints, by transformers: batched, padded on the left, on a GPU if there is one."""

import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.completion import Completion, Request, Sampling, StopReason, answered, unanswered
from proctor.errors import InputError
from proctor.models.weights import fingerprint

BATCH = 8


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
        self.weights_sha256 = fingerprint(path)
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
        self.model.to(self.device).eval()
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.load_seconds = time.monotonic() - begin
        self.chat = chat if chat is not None else self.tokenizer.chat_template is not None

    def answer(
        self, requests: Iterator[Request], sampling: Sampling, stop: threading.Event
    ) -> Iterator[Completion]:
        """Answer requests batch by batch."""
        while not stop.is_set() and (batch := list(islice(requests, self._batch))):
            fitting = [request for request in batch if self._fits(request, sampling)]
            why = f"prompt and answer are longer than the {self._most} tokens of {self.name}"
            yield from (unanswered(one, self.name, why) for one in batch if one not in fitting)
            if fitting:
                yield from self._generate(fitting, sampling)

    def close(self) -> None:
        """Free the weights."""
        del self.model

    @property
    def _most(self) -> int:
        return int(getattr(self.model.config, "max_position_embeddings", 1 << 30))

    def _fits(self, request: Request, sampling: Sampling) -> bool:
        return len(self.tokens(request)) + sampling.max_tokens <= self._most

    def tokens(self, request: Request) -> list[int]:
        """Return a prompt as the model sees it."""
        prompt = request.prompt
        if not self.chat:
            return list(self.tokenizer(prompt.text)["input_ids"])
        turns = [{"role": role, "content": text} for role, text in prompt.turns]
        text = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

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
        return answered(
            request,
            text if cut is None else text[:cut],
            model=self.name,
            stop=StopReason.LENGTH if full else StopReason.STOP,
            prompt_tokens=given,
            completion_tokens=length,
            seconds=round(seconds, 6),
            used_gpu=self.device != "cpu",
        )


def _sampling(sampling: Sampling) -> dict[str, Any]:
    if sampling.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    return {
        "do_sample": True,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.tokens_considered,
    }
