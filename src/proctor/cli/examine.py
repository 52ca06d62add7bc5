"""Look at the lines of a contract, under a progress bar."""

from proctor.benchmarks import load
from proctor.cli import options as o
from proctor.cli.interrupt import Interrupt
from proctor.cli.progress import Lines
from proctor.contract import LINES, Examination, Result, Subject, examine
from proctor.contract.examination import survey
from proctor.errors import InputError
from proctor.settings import Settings
from proctor.task import Benchmark

Walls = tuple[str | None, str | None, str, str | None, Settings]


def carry_out(subject: Subject, walls: Walls, *, first: int, workers: int) -> Result:
    """Open a sandbox for what is examined, and look at every line."""
    benchmark = _loaded(subject)
    sandbox = o.sandbox_for(*walls, benchmark=benchmark)
    at_once = workers or 1
    if benchmark is not None:
        at_once = o.workers_for(workers, walls[-1], benchmark)
    interrupt = Interrupt()
    try:
        with Lines(len(LINES)) as lines:
            exam = Examination(
                subject,
                sandbox,
                first=first,
                workers=at_once,
                watch=lines.watch,
                stop=interrupt.stop,
            )
            interrupt.listen()
            return examine(exam, begin=lines.begin)
    finally:
        interrupt.restore()
        sandbox.close()


def _loaded(subject: Subject) -> Benchmark | None:
    """Return the benchmark, if it can be read: a sandbox shows what its solutions import."""
    if not survey(subject).is_fit:
        return None
    try:
        return load(subject.name, subject.data, subject.folder)
    except InputError:  # a line of the contract says so
        return None
