"""A task for Inspect whose commands run in Proctor's sandbox.

    pip install '.[inspect]'
    inspect eval examples/inspect_task.py --model openai/gpt-5
    python examples/inspect_task.py

The last line needs no model: it plays a recorded answer. All that the task says of Proctor is
`sandbox="proctor"`; `inspect eval --sandbox proctor` says it for tasks of others.
"""

import tempfile

from inspect_ai import Task, eval, task  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState, generate, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

SALES = "day,amount\nMonday,20\nTuesday,15\nWednesday,7\n"
ANSWER = "awk -F, 'NR > 1 { sum += $2 } END { print sum }' sales.csv > answer.txt"


@scorer(metrics=[accuracy()])
def in_file() -> Scorer:
    async def score(_: TaskState, target: Target) -> Score:
        try:
            found = await sandbox().read_file("answer.txt")
        except FileNotFoundError:
            return Score(value="I", explanation="there is no answer.txt")
        return Score(value="C" if found.strip() == target.text else "I", answer=found)

    return score


@task
def sums() -> Task:
    return Task(
        dataset=[
            Sample(
                input="Add up the amounts in sales.csv; write the sum alone into answer.txt.",
                target="42",
                files={"sales.csv": SALES},
            )
        ],
        solver=[use_tools(bash(timeout=10)), generate()],
        scorer=in_file(),
        sandbox="proctor",
    )


def main() -> None:
    recorded = [
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": ANSWER}),
        ModelOutput.from_content("mockllm/model", "It is in answer.txt."),
    ]
    for output in recorded:
        output.usage = ModelUsage()  # else tokens are counted, by what has to be downloaded
    model = get_model("mockllm/model", custom_outputs=recorded)
    with tempfile.TemporaryDirectory() as logs:
        log = eval(sums(), model=model, log_dir=logs, display="none")[0]
    value = log.results.scores[0].metrics["accuracy"].value if log.results else None
    print(f"{log.status}: accuracy {value}")


if __name__ == "__main__":
    main()
