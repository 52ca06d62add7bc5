"""Proctor as verl's reward function: nothing to write but the flags.

    pip install . verl
    python -m verl.trainer.main_ppo … \
        reward.custom_reward_function.path=pkg://proctor.integrations.trainers \
        reward.custom_reward_function.name=verl_score \
        +reward.custom_reward_function.reward_kwargs.timeout_s=5 \
        +reward.custom_reward_function.reward_kwargs.partial_credit=False

Rows are what verl reads from parquet; the ground truth says how to check a response. This runs
what verl does with each of them, without a policy:

    python examples/verl_reward.py
"""

import json
from typing import Any

from proctor.integrations.trainers import verl_score


def row(question: str, ground_truth: Any) -> dict[str, Any]:
    return {
        "data_source": "mine",
        "prompt": [{"role": "user", "content": question}],
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": json.dumps(ground_truth)},
        "extra_info": {"split": "train"},
    }


ROWS = [
    row(
        "Write a program that reads numbers and prints their sum.",
        {"inputs": ["1 2 3\n", "10\n"], "outputs": ["6\n", "10\n"]},
    ),
    row(
        "Complete the method `twoSum` of the class `Solution`.",
        {
            "fn_name": "twoSum",
            "inputs": [[[2, 7, 11], 9], [[3, 3], 6]],
            "outputs": [[0, 1], [0, 1]],
        },
    ),
    row("Write max_of(numbers).", {"assert_case": ["assert max_of([1, 3, 2]) == 3"]}),
]
RESPONSES = [
    "```python\nprint(sum(map(int, input().split())))\n```",
    "```python\nclass Solution:\n    def twoSum(self, nums, target):\n        return [0, 1]\n```",
    "```python\nimport os\nos._exit(0)\n```",
]


def main() -> None:
    for one, response in zip(ROWS, RESPONSES, strict=True):
        score = verl_score(
            data_source=one["data_source"],
            solution_str=response,
            ground_truth=one["reward_model"]["ground_truth"],
            extra_info=one["extra_info"],
        )
        print(f"score {score}")


if __name__ == "__main__":
    main()
