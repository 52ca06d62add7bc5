"""The model that knows the answers: a benchmark's own reference solutions."""

from collections.abc import Iterator

from proctor.errors import InputError
from proctor.models.prompting import render_prompt
from proctor.records.completion import Completion, Sampling
from proctor.records.task import Benchmark


class Reference:
    """Answers every task with its reference solution."""

    name = "reference"

    def complete(self, benchmark: Benchmark, sampling: Sampling) -> Iterator[Completion]:
        """Answer every task `sampling.n_samples` times."""
        missing = [task.task_id for task in benchmark.tasks if task.canonical_solution is None]
        if missing:
            raise InputError(
                f"{benchmark.source}: no canonical_solution in {len(missing)} of "
                f"{len(benchmark.tasks)} tasks, the first of which is {missing[0]}"
            )
        for index, task in enumerate(benchmark.tasks):
            for sample in range(sampling.n_samples):
                yield Completion(
                    task_id=task.task_id,
                    sample=sample,
                    id=f"{index}_s{sample}",
                    completion=task.canonical_solution or "",
                    prompt_sha256=render_prompt(task).sha256,
                    model=self.name,
                )
