"""The model that is always wrong: what a benchmark's own tests must reject."""

from collections.abc import Iterator

from proctor.errors import InputError
from proctor.models.prompting import render_prompt
from proctor.records.completion import Completion, Sampling
from proctor.records.task import Benchmark


class Wrong:
    """Answers every task with each of its wrong solutions, once."""

    name = "wrong"

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Answer every task; how often is the benchmark's business."""
        del sampling
        missing = [task.task_id for task in benchmark.tasks if not task.wrong_solutions]
        if missing:
            raise InputError(
                f"{benchmark.source}: no wrong_solutions in {len(missing)} of "
                f"{len(benchmark.tasks)} tasks, the first of which is {missing[0]}"
            )
        for index, task in enumerate(benchmark.tasks):
            for sample, solution in enumerate(task.wrong_solutions):
                yield Completion(
                    task_id=task.task_id,
                    sample=sample,
                    id=f"{index}_s{sample}",
                    completion=solution.code,
                    prompt_sha256=render_prompt(task).sha256,
                    model=self.name,
                    more={"wrong_solution": solution.name, "expected_bucket": solution.bucket},
                )
