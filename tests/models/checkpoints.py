"""Two small checkpoints: one knows a few tasks by heart, one knows nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDTH, LAYERS, LENGTH = 64, 2, 512
STEPS, RATE, ENOUGH = 600, 5e-3, 0.005
END = "<|end|>"


def tokenizer(texts: Sequence[str]) -> Any:
    """Make a tokenizer whose tokens are the characters of some texts."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    # transformers looks at how a tokenizer writes "abcdef" when it is told where to stop
    characters = sorted({character for text in [*texts, "abcdef"] for character in text})
    vocabulary = {token: number for number, token in enumerate([END, "<|unknown|>", *characters])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<|unknown|>"))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    raw.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token=END, pad_token=END, unk_token="<|unknown|>"
    )


def untrained(vocabulary: int) -> Any:
    """Make a model that says anything."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=WIDTH,
            intermediate_size=2 * WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=4,
            max_position_embeddings=LENGTH,
            eos_token_id=0,
            bos_token_id=0,
            pad_token_id=0,
        )
    )


def save_known_bad(folder: Path, texts: Sequence[str]) -> None:
    """Save a checkpoint that was never trained."""
    words = tokenizer(texts)
    untrained(len(words)).save_pretrained(folder)
    words.save_pretrained(folder)


def save_known_good(folder: Path, pairs: Sequence[tuple[str, str]]) -> None:
    """Train a checkpoint until it goes on with every prompt as it was taught to, and save it."""
    import torch

    torch.set_num_threads(1)  # more of them only wait for one another, for hours on a busy machine
    words = tokenizer([prompt + answer for prompt, answer in pairs])
    model = untrained(len(words))
    rows = [words(prompt + answer)["input_ids"] + [0] for prompt, answer in pairs]
    longest = max(map(len, rows))
    inputs = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    labels = inputs.masked_fill(mask == 0, -100)
    for row, (prompt, _) in enumerate(pairs):
        labels[row, : len(prompt)] = -100  # which question comes is nothing to be learnt
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for _ in range(STEPS):
        loss = model(input_ids=inputs, attention_mask=mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < ENOUGH:
            break
    else:
        raise AssertionError(f"it did not learn: the loss is still {loss.item():.4f}")
    model.save_pretrained(folder)
    words.save_pretrained(folder)
