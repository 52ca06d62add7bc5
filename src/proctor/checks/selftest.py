"""The hostile corpus, run on this host: where each program landed, and what it left behind."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import msgspec

from proctor.checks.hostile_corpus import SHARING, CorpusProgram
from proctor.errors import SandboxError
from proctor.judge.judge import Judge
from proctor.judge.judgement import Judgement
from proctor.records.program import Program
from proctor.sandbox import Sandbox

MARK = "proctor-corpus"
IPC_KEY = 0x50524F43
PLACES = ("~", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/")  # noqa: S108
PATIENCE_SECONDS = 5.0


class CorpusResult(msgspec.Struct, frozen=True, kw_only=True):
    """Where a trial landed."""

    program: str
    kind: str
    topic: str
    expected: str
    got: str
    ok: bool
    detail: str


class SelftestResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all trials in one tier on this host."""

    sandbox: str
    isolated: bool
    ok: bool
    """Whether every program landed where it should, and nothing was left behind."""
    skipped: Sequence[str]
    """Programs that need walls which this tier does not have."""
    missing: Mapping[str, str] = {}
    """Language or package → why its programs were not run."""
    left: Sequence[str]
    """What they left on the host."""
    landings: Sequence[CorpusResult]
    seconds: float


def run_all(
    make: Callable[[], Sandbox],
    chosen: Sequence[CorpusProgram],
    *,
    workers: int,
    watch: Callable[[], None] = lambda: None,
) -> SelftestResult:
    """Run trials; every worker has a sandbox of its own, so that parts of one share a box."""
    start = time.monotonic()
    sandboxes = [make() for _ in range(workers)]
    try:
        held = sandboxes[0].enforcement()
        missing = _missing(sandboxes[0], chosen)
        known = [
            trial
            for trial in chosen
            if trial.language not in missing and not missing.keys() & {*trial.packages}
        ]
        fit = [trial for trial in known if trial.fits(held.tier)]
        free = SimpleQueue[Sandbox]()
        for sandbox in sandboxes:
            free.put(sandbox)

        def run(trial: CorpusProgram) -> CorpusResult:
            sandbox = free.get()
            try:
                return run_program(sandbox, trial)
            finally:
                free.put(sandbox)
                watch()

        with ThreadPoolExecutor(workers) as pool:
            landings = list(pool.map(run, fit))
    finally:
        for sandbox in sandboxes:
            sandbox.close()
    left = traces()
    return SelftestResult(
        sandbox=held.tier,
        isolated=held.isolated,
        ok=all(landing.ok for landing in landings) and not left,
        skipped=sorted({trial.name for trial in known} - {trial.name for trial in fit}),
        missing=missing,
        left=left,
        landings=landings,
        seconds=round(time.monotonic() - start, 3),
    )


def _missing(sandbox: Sandbox, chosen: Sequence[CorpusProgram]) -> dict[str, str]:
    """Return the languages and packages that candidates do not have here, with the reasons."""
    missing = {}
    held = sandbox.enforcement()
    installed = {package.partition("==")[0] for package in held.packages}
    for trial in chosen:
        for name in trial.packages if trial.fits(held.tier) else ():
            if name not in installed:
                missing[name] = f"{name} is not installed for the Python that runs candidates"
    for language in dict.fromkeys(trial.language for trial in chosen):
        try:
            sandbox.require_language(language)
        except SandboxError as error:
            missing[language] = str(error)
    return missing


def run_program(sandbox: Sandbox, trial: CorpusProgram) -> CorpusResult:
    """Judge the programs of a trial and say where they landed, all of them or the first stray."""
    task, judge = trial.task(), Judge(sandbox)
    programs = [Program(source=source, language=trial.language) for source in trial.sources]
    landings = [_landing(trial, judge.judge(task, program)) for program in programs]
    strays = [landing for landing in landings if not landing.ok]
    return (strays or landings)[0]


def _landing(trial: CorpusProgram, judgement: Judgement) -> CorpusResult:
    verdict = judgement.verdict
    together = trial.kind in SHARING
    return CorpusResult(
        program=trial.name,
        kind=trial.kind,
        topic=trial.topic,
        expected=trial.bucket,
        got=verdict.bucket,
        ok=verdict.bucket is trial.bucket and (judgement.judged == "together") is together,
        detail=verdict.detail,
    )


def traces() -> list[str]:
    """Return what programs of the corpus have left on this host; what is about to go may go."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := sorted(_traces())) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _traces() -> Iterator[str]:
    for folder in PLACES:
        place = os.path.expanduser(folder)  # noqa: PTH111  which does not mind users without a home
        yield from (str(path) for path in Path(place).glob(f"*{MARK}*"))
    for table in ("shm", "sem", "msg"):
        for line in _text(f"/proc/sysvipc/{table}").splitlines():
            if line.split()[0] == str(IPC_KEY):
                yield f"System V {table} {IPC_KEY:#x}"
    for name in ("mountinfo", "net/unix"):
        yield from (line for line in _text(f"/proc/self/{name}").splitlines() if MARK in line)
    for comm in Path("/proc").glob("[0-9]*/comm"):
        if _text(str(comm)).strip() == MARK:
            yield f"process {comm.parent.name}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""  # it went meanwhile, or this host has none
