"""The failures of a run, for the terminal."""

from collections.abc import Iterator

from proctor.report.text import printable
from proctor.results.failures import Cluster, Failures

WIDTH = 100


def render(found: Failures, max_clusters: int) -> str:
    """Return the largest clusters with an example or two of each."""
    return "\n".join(_lines(found, max_clusters)) + "\n"


def _lines(found: Failures, max_clusters: int) -> Iterator[str]:
    yield f"{printable(found.benchmark)} · {printable(found.model)}"
    yield ""
    yield f"  {found.failed} of {found.samples} samples failed, {found.unscored} are unscored"
    for cluster in found.clusters[:max_clusters]:
        yield ""
        yield from _cluster(cluster, found.failed + found.unscored)
    rest = found.clusters[max_clusters:]
    if rest:
        yield ""
        count, kinds = sum(cluster.samples for cluster in rest), len(found.clusters)
        yield f"  {count} more samples of {len(rest)} other kinds; --top {kinds} shows all"


def _cluster(cluster: Cluster, total: int) -> Iterator[str]:
    share = 100 * cluster.samples / total
    where = f"{cluster.outcome or 'unscored'}/{cluster.bucket}"
    tasks = "1 task" if cluster.tasks == 1 else f"{cluster.tasks} tasks"
    yield f"  {cluster.samples:>6}  {share:4.1f} %  {where}  ({tasks})"
    if cluster.message:
        yield f"          {_cut(printable(cluster.message))}"
    for example in cluster.examples:
        said = printable(example.detail)
        more = f": {said}" if said and said != printable(cluster.message) else ""
        yield _cut(f"          · {printable(example.task_id)} #{example.sample}{more}")


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
