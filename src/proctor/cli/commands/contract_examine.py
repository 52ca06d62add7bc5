"""Look at the lines of a contract, under a progress bar."""

from proctor.checks.contract import LINES, examine
from proctor.checks.contract.evidence import Contract, ContractSubject
from proctor.checks.contract.result import Result
from proctor.cli import options as o
from proctor.cli.interrupt import Interrupt
from proctor.cli.progress import Lines
from proctor.records.task import Benchmark
from proctor.settings import Settings

Walls = tuple[str | None, str | None, str, str | None, Settings]


def carry_out(subject: ContractSubject, walls: Walls, *, first: int, workers: int) -> Result:
    """Open a sandbox for what is examined, and look at every line."""
    source = subject.source
    shown = Benchmark(name=source.name, tasks=(), packages=source.libraries)
    sandbox = o.sandbox_for(*walls, benchmark=shown)
    interrupt = Interrupt()
    try:
        with Lines(len(LINES)) as lines:
            exam = Contract(subject, sandbox, first=first, watch=lines.watch, stop=interrupt.stop)
            if exam.survey.is_fit:
                exam.workers = o.workers_for(workers, walls[-1], exam.benchmark)
            interrupt.listen()
            return examine(exam, begin=lines.begin)
    finally:
        interrupt.restore()
        sandbox.close()
