"""The pages as files, to be put on any web server or opened from a disk.

A run may have a million samples, and a folder many runs: an export has bounds, and says in its
last lines what they left out. Failures come first, they are what people look for.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.errors import InputError, ProctorError, boundary
from proctor.records.verdict import Bucket
from proctor.viewer.pages import compare, home, run, sample, watched
from proctor.viewer.runs import RunCatalog, Standing, Status
from proctor.viewer.site import HERE, Site

MAX_RUNS = 200
MAX_SAMPLES = 500
"""Of one run."""
ASSETS = ("viewer.css", "viewer.js", "icon.svg")
Key = tuple[str, str, int]


class Files:
    """Names of files, all in one folder, for what is exported."""

    static = True

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}
        self._samples: dict[Key, str] = {}
        self._pairs: dict[tuple[str, ...], str] = {}
        self.left_out: list[str] = []

    def add_run(self, name: str) -> None:
        """Give a run a page."""
        self._runs[name] = f"run-{len(self._runs) + 1}"

    def add_sample(self, name: str, task: str, number: int) -> None:
        """Give a sample a page."""
        place = len(self._samples) + 1
        self._samples[name, task, number] = f"{self._runs[name]}-sample-{place}.html"

    def add_comparison(self, names: Sequence[str]) -> None:
        """Give a comparison a page."""
        self._pairs[tuple(names)] = f"compare-{len(self._pairs) + 1}.html"

    @property
    def comparisons(self) -> Sequence[tuple[str, ...]]:
        """Runs whose comparison has a page."""
        return list(self._pairs)

    @property
    def samples(self) -> Sequence[Key]:
        """All samples that have a page."""
        return list(self._samples)

    def asset(self, name: str) -> str:
        """See Links."""
        return name

    def home(self) -> str:
        """See Links."""
        return "index.html"

    def watched(self) -> str | None:
        """See Links."""
        return "checkpoints.html"

    def run(self, run: str, **query: str | int) -> str | None:
        """See Links; a file cannot be asked for a part."""
        del query
        return f"{self._runs[run]}.html" if run in self._runs else None

    def sample(self, run: str, task: str, sample: int) -> str | None:
        """See Links."""
        return self._samples.get((run, task, sample))

    def diff(self, run: str, task: str, sample: int, other: int, against: str = "") -> str | None:
        """See Links; there are too many pairs."""
        del run, task, sample, other, against
        return None

    def compare(self, runs: Sequence[str]) -> str | None:
        """See Links."""
        return self._pairs.get(tuple(runs))


def export_site(catalogue: RunCatalog, folder: Path) -> Iterator[str]:
    """Write the pages into a folder and yield lines that say what is there, and what is not."""
    with boundary(InputError, f"cannot write to {folder}", "name another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"--export {folder}: there are files in it; name a new folder")
    files = Files()
    site = Site(catalogue, files)
    statuses = catalogue.statuses(float("inf"))
    shown = [one for one in statuses if one.manifest is not None][:MAX_RUNS]
    if len(statuses) > MAX_RUNS or catalogue.cut:
        files.left_out.append(f"runs beyond the first {MAX_RUNS}")
    for status in shown:
        files.add_run(status.run.name)
        more = _choose(site, files, status)
        if more:
            files.left_out.append(f"{more} samples of {status.run.name}")
    for pair in _pairs(shown):
        files.add_comparison(pair)
    pages = 0
    for name, text in _pages(site, files, shown):
        _write(folder / name, text.encode("utf-8", "backslashreplace"))
        pages += 1
    for name in ASSETS:
        _write(folder / name, (HERE / "static" / name).read_bytes())
    yield f"{folder}: {pages} pages of {len(shown)} runs and {len(files.comparisons)} comparisons"
    for what in files.left_out:
        yield f"left out: {what}"


def _choose(site: Site, files: Files, status: Status) -> int:
    """Give pages to samples of a run, failures first; return how many get none."""
    lookup = site.open(status.run.name).index.lookup
    room = MAX_SAMPLES
    for bucket in sorted(lookup.buckets(), key=lambda bucket: bucket is Bucket.PASSED):
        for found in lookup.in_bucket(bucket, 0, room)[1]:
            files.add_sample(status.run.name, found.task, found.sample)
            room -= 1
    return max(0, status.extent.receipts - MAX_SAMPLES)


def _pairs(statuses: Sequence[Status]) -> Iterator[tuple[str, str]]:
    """Pair every run with the one of the same benchmark before it."""
    last: dict[str, str] = {}
    for status in sorted(statuses, key=lambda one: one.manifest.created if one.manifest else ""):
        if status.manifest is None or status.standing is Standing.CORRUPT:
            continue
        if not status.extent.receipts:
            continue
        before = last.get(status.manifest.benchmark)
        if before is not None:
            yield before, status.run.name
        last[status.manifest.benchmark] = status.run.name


def _pages(site: Site, files: Files, shown: Sequence[Status]) -> Iterator[tuple[str, str]]:
    yield files.home(), home.render(site)
    if watched.is_watched(site.catalogue.folder):
        yield files.watched() or "", watched.render(site)
    for status in shown:
        yield files.run(status.run.name) or "", run.render(site, status.run.name)
    for name, task, number in files.samples:
        yield files.sample(name, task, number) or "", sample.render(site, name, task, number)
    for pair in files.comparisons:
        try:
            page = compare.render(site, pair)
        except ProctorError as error:  # they have no task in common, or the like
            page = site.trouble("Comparison", str(error))
        yield files.compare(pair) or "", page


def _write(path: Path, content: bytes) -> None:
    with boundary(InputError, f"cannot write {path}"):
        path.write_bytes(content)
