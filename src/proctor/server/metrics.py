"""What is counted about the service, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter

from proctor.records.receipt import Receipt
from proctor.records.verdict import Verdict, outcome_of
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.pooled import PooledSandbox
from proctor.server.queue import RequestQueue

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the histogram of latencies, in seconds."""


class Histogram:
    """How often something took how long."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


class Metrics:
    """Counters of one service; safe for use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """By method, route and status."""
        self.latencies: dict[str, Histogram] = {}
        self.samples: Counter[tuple[str, str]] = Counter()
        """By outcome and bucket; an unscored one has the outcome `unscored`."""
        self.executions: Counter[str] = Counter()
        """By ending."""
        self.in_flight = 0

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        with self._lock:
            self.requests[method, route, status] += 1
            self.latencies.setdefault(route, Histogram()).add(seconds)

    def graded(self, receipt: Receipt) -> None:
        """Count a sample."""
        with self._lock:
            self.samples[receipt.outcome or "unscored", receipt.bucket] += 1

    def judged(self, verdict: Verdict) -> None:
        """Count a sample that has no receipt."""
        with self._lock:
            self.samples[outcome_of(verdict) or "unscored", verdict.bucket] += 1

    def executed(self, ending: str) -> None:
        """Count a program that was run."""
        with self._lock:
            self.executions[ending] += 1

    def text(self, *, gate: RequestQueue, sandbox: Sandbox, sessions: int, draining: bool) -> str:
        """Return all of it in the text format of Prometheus."""
        with self._lock:
            gauges = _gauges(gate, sandbox, self.in_flight, sessions, draining=draining)
            lines = [*gauges, *_counters(self), *_histograms(self.latencies)]
        return "\n".join(lines) + "\n"


def _gauges(
    gate: RequestQueue, sandbox: Sandbox, in_flight: int, sessions: int, *, draining: bool
) -> list[str]:
    found = sandbox.enforcement()
    gauges: list[tuple[str, str, float]] = [
        ("queue_waiting", "Work that waits for its turn.", gate.waiting),
        ("queue_most", "Work that may wait before requests are turned away.", gate.max_waiting),
        ("workers", "Candidates that may run at once.", gate.workers),
        ("workers_busy", "Candidates that run.", gate.running),
        ("work_mean_seconds", "How long work takes, lately.", gate.mean_seconds),
        ("requests_in_flight", "Requests that are being answered.", in_flight),
        ("sessions", "Notebooks that are open.", sessions),
        ("draining", "1 while the service ends.", int(draining)),
    ]
    if isinstance(sandbox, PooledSandbox):
        gauges.append(("boxes_idle", "Warm boxes that wait for a candidate.", sandbox.idle()))
    lines = []
    for name, about, value in gauges:
        lines += [f"# HELP proctor_{name} {about}", f"# TYPE proctor_{name} gauge"]
        lines.append(f"proctor_{name} {value:g}")
    tier = f'tier="{found.tier}",isolated="{str(found.isolated).lower()}"'
    about = "# HELP proctor_sandbox_info Where candidates run."
    return [
        *(*lines, about, "# TYPE proctor_sandbox_info gauge"),
        f"proctor_sandbox_info{{{tier}}} 1",
    ]


def _counters(metrics: Metrics) -> list[str]:
    lines = ["# HELP proctor_requests_total Requests by what they were answered."]
    lines.append("# TYPE proctor_requests_total counter")
    for (method, route, status), count in sorted(metrics.requests.items()):
        labels = f'method="{method}",route="{route}",status="{status}"'
        lines.append(f"proctor_requests_total{{{labels}}} {count}")
    lines.append("# HELP proctor_samples_total Samples by what became of them.")
    lines.append("# TYPE proctor_samples_total counter")
    for (outcome, bucket), count in sorted(metrics.samples.items()):
        labels = f'outcome="{outcome}",bucket="{bucket}"'
        lines.append(f"proctor_samples_total{{{labels}}} {count}")
    unscored = sum(
        count for (outcome, _), count in metrics.samples.items() if outcome == "unscored"
    )
    lines.append("# HELP proctor_unscored_total Samples that we failed to judge.")
    lines.append("# TYPE proctor_unscored_total counter")
    lines.append(f"proctor_unscored_total {unscored}")
    lines.append("# HELP proctor_executions_total Programs that were run, by how they ended.")
    lines.append("# TYPE proctor_executions_total counter")
    for ending, count in sorted(metrics.executions.items()):
        lines.append(f'proctor_executions_total{{ending="{ending}"}} {count}')
    return lines


def _histograms(latencies: dict[str, Histogram]) -> list[str]:
    name = "proctor_request_seconds"
    lines = [f"# HELP {name} How long requests took.", f"# TYPE {name} histogram"]
    for route, histogram in sorted(latencies.items()):
        total = 0
        for bound, count in zip((*BOUNDS, None), histogram.counts, strict=True):
            total += count
            le = "+Inf" if bound is None else f"{bound:g}"
            lines.append(f'{name}_bucket{{route="{route}",le="{le}"}} {total}')
        lines.append(f'{name}_sum{{route="{route}"}} {histogram.seconds:.6f}')
        lines.append(f'{name}_count{{route="{route}"}} {total}')
    return lines
