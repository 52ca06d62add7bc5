"""Train with TRL, rewarded by Proctor: GRPO on the processor, from nothing, in seconds.

    pip install . trl torch
    python examples/trl_grpo.py 30          # steps

The model is tiny and random and knows whole lines for words, so nothing is downloaded, and it soon
finds out which line answers which prompt. Put a real model in its place. How a row is checked
stands in its own columns, here `assertions`.
"""

import sys
import tempfile
from functools import partial
from typing import Any

from proctor.integrations.trainers import trl_reward

ROWS = [
    {"prompt": "def add(a, b):\n", "assertions": ["add(1, 2) == 3", "add(-1, 1) == 0"]},
    {
        "prompt": "def subtract(a, b):\n",
        "assertions": ["subtract(5, 2) == 3", "subtract(1, 1) == 0"],
    },
]
END = "<end>"
LINES = [f"    return {answer}\n" for answer in ("a + b", "a - b", "a", "b", "a +", "exit()")]
REWARD = partial(trl_reward, timeout_s=2, partial_credit=True)


def tiny_model() -> tuple[Any, Any]:
    """Make a random model whose words are lines, and its tokenizer."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    set_seed(0)
    words = [END, *LINES, *(row["prompt"] for row in ROWS)]
    lines = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, END))
    lines.pre_tokenizer = pre_tokenizers.Split(Regex(r"[^\n]*\n"), "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=lines, pad_token=END, eos_token=END, padding_side="left"
    )
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    shape = LlamaConfig(vocab_size=len(words), num_attention_heads=2, **size)
    return LlamaForCausalLM(shape), tokenizer


def main(steps: int) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    model, tokenizer = tiny_model()
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=REWARD,
            train_dataset=Dataset.from_list(ROWS),
            args=GRPOConfig(
                output_dir=folder,
                max_steps=steps,
                learning_rate=0.02,
                per_device_train_batch_size=16,
                num_generations=8,
                max_completion_length=1,
                logging_steps=1,
                disable_tqdm=True,
                report_to=[],
                use_cpu=True,
            ),
        )
        trainer.train()
    for step in trainer.state.log_history:
        if "reward" in step:
            print(f"step {step['step']}: reward {step['reward']:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
