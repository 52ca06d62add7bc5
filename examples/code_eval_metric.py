"""pass@k as by Hugging Face's `evaluate.load("code_eval")`, but in a sandbox.

pip install .
python examples/code_eval_metric.py
"""

from proctor.integrations import hf_code_eval

REFERENCES = ["assert add(2, 3) == 5", "assert is_even(4)\nassert not is_even(5)"]
PREDICTIONS = [
    ["def add(a, b):\n    return a * b", "def add(a, b):\n    return a + b"],
    ["def is_even(n):\n    return n % 2 == 0", "import os\nos._exit(0)"],
]


def main() -> None:
    pass_at_k, results = hf_code_eval.compute(
        references=REFERENCES, predictions=PREDICTIONS, k=[1, 2]
    )
    print(pass_at_k)
    for of_task in results.values():
        for _, result in of_task:
            print(result["task_id"], result["completion_id"], result["result"])


if __name__ == "__main__":
    main()
