"""Looks at a run line by line; every line gives the evidence for its word."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from proctor.benchmarks import TABLE
from proctor.checks.contract.result_store import latest_result, why_not
from proctor.checks.qa.policy import Policy, Smoke
from proctor.errors import InputError, ProctorError
from proctor.grading.verify import Verified
from proctor.records.task import Benchmark
from proctor.results.comparison import compare_runs
from proctor.results.pass_at_k import Estimate
from proctor.results.summary import Summary, failure_reasons, summarize
from proctor.sandbox.tiers.select import ORDER
from proctor.storage.jsonl import explain_error, read_whole
from proctor.storage.run_directory import REPORT, read_manifest

SHOWN = 5


class Means(Protocol):
    """What a gate needs in order to run anything."""

    def benchmark(self) -> Benchmark:
        """Return the benchmark of the run, as it is here."""
        ...

    def evaluate(self, model: str, tasks: int | None) -> Summary:
        """Ask a model the first so many tasks, or all, and judge its answers as the run's were."""
        ...

    def verify(self, share: float) -> Verified:
        """Judge a part of the run's samples again."""
        ...


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one thing that is asked for."""

    line: str
    says: str
    passed: bool | None
    """None: it is not asked for."""
    evidence: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one run."""

    benchmark: str
    model: str
    run_dir: str
    passed: bool
    lines: Sequence[Line]
    pass_at_k: Mapping[str, Estimate]


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about a run, or about all runs of a checkpoint."""

    subject: str
    policy: str
    passed: bool
    gates: Sequence[Gate]
    missing: Mapping[str, str]
    """Benchmarks that there is no run of, though there should be, and why."""
    created: str
    host: str
    versions: Mapping[str, str]
    schema: int = 1


class CheckResult(NamedTuple):
    """Whether a line passes, None if it is not asked for, and by what evidence."""

    passed: bool | None
    evidence: str


NOT_ASKED = CheckResult(None, "not asked for")


class Inspection:
    """One run, what is asked of it, and what was read of it, once."""

    def __init__(self, run: Path, policy: Policy, means: Means) -> None:
        self.run, self.policy, self.means = run, policy, means
        self.manifest = read_manifest(run)
        self.demands = policy.of(self.manifest.benchmark)

    @cached_property
    def summary(self) -> Summary:
        """What the receipts say; the report's own figures are not taken for it."""
        return summarize(self.run)

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark as it is here."""
        return self.means.benchmark()

    def estimate(self, k: str) -> Estimate:
        """Return pass@k of the run."""
        usual = self.summary.pass_at_k.get(k)
        return usual or summarize(self.run, ks=[int(k)]).pass_at_k[k]


def inspect_run(run: Path, policy: Policy, means: Means, begin: Callable[[str], None]) -> Gate:
    """Look at all lines; `begin` hears which one is next."""
    inspection = Inspection(run, policy, means)
    lines = []
    for name, (says, find) in LINES.items():
        begin(name)
        lines.append(_line(inspection, name, says, find))
    for smoke in inspection.demands.smoke:
        begin(f"smoke {smoke.name}")
        says = f"{smoke.name} scores from {smoke.low:g} to {smoke.high:g}"
        find = _smoke(smoke)
        lines.append(_line(inspection, f"smoke {smoke.name}", says, find))
    manifest = inspection.manifest
    return Gate(
        benchmark=manifest.benchmark,
        model=manifest.model,
        run_dir=str(run),
        passed=all(one.passed is not False for one in lines),
        lines=lines,
        pass_at_k=_figures(inspection),
    )


Check = Callable[[Inspection], CheckResult]


def _line(inspection: Inspection, name: str, says: str, find: Check) -> Line:
    """Look at one line; what cannot be looked at is not proven, so it does not pass."""
    if name in inspection.policy.skip:
        found = CheckResult(None, "skipped: the policy does not ask for it")
    else:
        try:
            found = find(inspection)
        except ProctorError as error:
            found = CheckResult(passed=False, evidence=f"it cannot be looked at: {error}")
    return Line(line=name, says=says, passed=found.passed, evidence=found.evidence)


def _figures(inspection: Inspection) -> Mapping[str, Estimate]:
    try:
        return inspection.summary.pass_at_k
    except ProctorError:
        return {}  # the lines say why


def complete(of: Inspection) -> CheckResult:
    """Count receipts, and look for the report, which is written last."""
    summary = of.summary
    counted = f"{summary.samples} of {of.manifest.samples} samples have a receipt"
    if not (of.run / REPORT).is_file():
        return CheckResult(passed=False, evidence=f"{counted}, and there is no {REPORT}")
    return CheckResult(summary.complete, counted)


def whole(of: Inspection) -> CheckResult:
    """Compare the run's tasks with those of the benchmark."""
    here, then = of.benchmark, of.manifest
    if here.sha256 == then.benchmark_sha256:
        return CheckResult(
            passed=True, evidence=f"all of {then.tasks} tasks, sha256 {here.sha256[:16]}…"
        )
    if then.tasks != len(here.tasks):
        return CheckResult(
            passed=False, evidence=f"{then.tasks} of {len(here.tasks)} tasks were run"
        )
    how = "their limits were changed" if then.limits is not None else "they are others here"
    return CheckResult(passed=False, evidence=f"its tasks are not those that are here: {how}")


def report(of: Inspection) -> CheckResult:
    """Compare the figures of the report with those of the receipts."""
    try:
        said = msgspec.json.decode(read_whole(of.run / REPORT), type=Summary)
    except (InputError, ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else explain_error(error)
        return CheckResult(passed=False, evidence=f"it cannot be read: {why}")
    found = summarize(of.run, ks=[int(k) for k in said.pass_at_k])
    pairs = {
        name: (getattr(said, name), getattr(found, name))
        for name in ("benchmark", "samples", "passed", "unscored", "outcomes", "sandbox")
    } | {f"pass@{k}": (one.value, found.pass_at_k[k].value) for k, one in said.pass_at_k.items()}
    for name, (theirs, ours) in pairs.items():
        if theirs != ours:
            said_so = f"it says {name} {theirs}, the receipts say {ours}"
            return CheckResult(passed=False, evidence=said_so)
    return CheckResult(
        passed=True, evidence=f"{found.passed} of {found.samples} passed, as it says"
    )


def scored(of: Inspection) -> CheckResult:
    """Look for samples that nobody could judge."""
    summary = of.summary
    if not summary.unscored:
        return CheckResult(passed=True, evidence=f"all of {summary.samples} samples are scored")
    why = next(iter((*summary.missing, *summary.unfit.values())), "")
    evidence = failure_reasons(summary)[0]
    return CheckResult(passed=False, evidence=f"{evidence}; {why}" if why else evidence)


def contract(of: Inspection) -> CheckResult:
    """Ask when the benchmark kept its contract."""
    then = of.manifest
    asked = then.benchmark if then.benchmark in TABLE else then.source
    why = why_not(of.benchmark, asked, timedelta(days=of.policy.contract_days))
    if why:
        return CheckResult(passed=False, evidence=why)
    kept = latest_result(of.benchmark)
    when = kept.created[:10] if kept else ""
    return CheckResult(passed=True, evidence=f"it kept its contract here on {when}")


def references(of: Inspection) -> CheckResult:
    """Run the benchmark's own solutions; those that are known to be wrong do not count."""
    summary = of.means.evaluate("reference", None)
    kept = latest_result(of.benchmark)
    known = (
        next((one.known for one in kept.findings if one.line == "references"), {}) if kept else {}
    )
    bad = summary.samples - summary.passed
    evidence = f"{summary.passed} of {summary.samples} pass"
    if known:
        evidence += f", {len(known)} are known not to"
    return CheckResult(bad <= len(known), evidence)


def receipts(of: Inspection) -> CheckResult:
    """Judge a part of the samples again."""
    found = of.means.verify(of.policy.verify_share)
    evidence = f"{found.same} of {found.samples} came out the same (of {found.of})"
    if found.flakes:
        first = found.flakes[0]
        evidence += f"; {first.task_id} #{first.sample} was {first.before.bucket}"
        evidence += f" and is {first.now.bucket}"
    if found.unscored:
        evidence += f"; {found.unscored} could not be judged"
    return CheckResult(not found.flakes and not found.unscored, evidence)


def tier(of: Inspection) -> CheckResult:
    """Compare the run's tier with the least that is asked for."""
    names: tuple[str, ...] = ORDER
    found, least = of.manifest.enforcement, of.policy.tier
    enough = names.index(found.tier) <= names.index(least)
    isolated = "isolated" if found.isolated else "not isolated"
    return CheckResult(enough, f"{found.tier}, {isolated}; {least} or better is asked for")


def interval(of: Inspection) -> CheckResult:
    """Measure the intervals."""
    if not of.demands.interval_width:
        return NOT_ASKED
    parts, good = [], True
    for k, max_width in of.demands.interval_width.items():
        one = of.estimate(k)
        if one.low is None or one.high is None:
            parts.append(f"pass@{k}: {one.method}")
            good = False
            continue
        width = one.high - one.low
        good = good and width <= max_width
        parts.append(f"pass@{k}: {100 * width:.1f} points wide, {100 * max_width:.1f} may be")
    return CheckResult(good, "; ".join(parts))


def pass_at_k(of: Inspection) -> CheckResult:
    """Compare scores with the least that is asked for."""
    if not of.demands.pass_at_k:
        return NOT_ASKED
    parts, good = [], True
    for k, min_score in of.demands.pass_at_k.items():
        value = of.estimate(k).value
        good = good and value is not None and value >= min_score
        shown = "no score" if value is None else f"{100 * value:.1f} %"
        parts.append(f"pass@{k}: {shown}, at least {100 * min_score:.1f} % is asked for")
    return CheckResult(good, "; ".join(parts))


def baseline(of: Inspection) -> CheckResult:
    """Compare with the baseline, task by task; only what is worse beyond noise is a regression."""
    if of.demands.baseline is None:
        return NOT_ASKED
    place = Path(of.demands.baseline)
    if place.resolve() == of.run.resolve():
        return CheckResult(passed=False, evidence="it is the baseline itself")
    found = compare_runs([place, of.run])
    pair, before = found.pairs[0], found.runs[0]
    parts, worse = [], []
    for k, one in pair.by_k.items():
        is_worse = pair.beyond_noise[k] and one.difference < 0
        worse.append(is_worse)
        word = "beyond noise" if pair.beyond_noise[k] else "within noise"
        parts.append(f"pass@{k}: {100 * one.difference:+.1f} points over {one.tasks} tasks, {word}")
    if pair.changed_tasks:
        parts.append(f"{pair.changed_tasks} tasks are not the same in both")
    lost = next(iter(pair.by_k.values())).lost
    if any(worse) and lost:
        parts.append(f"worse on {', '.join(lost[:SHOWN])}{' …' if len(lost) > SHOWN else ''}")
    if not before.complete:
        return CheckResult(passed=False, evidence="the baseline is not complete")
    return CheckResult(not any(worse), "; ".join(parts))


def _smoke(smoke: Smoke) -> Check:
    """Return what looks at a model whose score is known."""

    def find(of: Inspection) -> CheckResult:
        if smoke.run is not None:
            summary = summarize(Path(smoke.run), ks=[smoke.k])
            if summary.benchmark != of.manifest.benchmark:
                evidence = f"{smoke.run} is a run of {summary.benchmark}"
                return CheckResult(passed=False, evidence=evidence)
        else:
            summary = of.means.evaluate(smoke.model or "", smoke.tasks)
        one = summary.pass_at_k.get(str(smoke.k))
        if one is None or one.value is None:
            return CheckResult(passed=False, evidence=f"there is no pass@{smoke.k}")
        evidence = f"{summary.model}: pass@{smoke.k} {100 * one.value:.1f} % of {one.tasks} tasks"
        if summary.degraded:
            return CheckResult(
                passed=False, evidence=f"{evidence}; {'; '.join(failure_reasons(summary))}"
            )
        return CheckResult(smoke.low <= one.value <= smoke.high, evidence)

    return find


LINES: Mapping[str, tuple[str, Check]] = {
    "complete": ("every sample has a receipt, and there is a report", complete),
    "report": ("the report says what the receipts say", report),
    "whole": ("it is a run of the whole benchmark, as that is here", whole),
    "scored": ("no sample is unscored", scored),
    "contract": ("the benchmark kept its contract here, not long ago", contract),
    "references": ("the benchmark's own solutions pass here", references),
    "receipts": ("verdicts come out the same when they are judged again", receipts),
    "tier": ("candidates were isolated well enough", tier),
    "interval": ("intervals are narrow enough", interval),
    "pass@k": ("scores are high enough", pass_at_k),
    "baseline": ("it is not worse than the baseline, noise aside", baseline),
}
