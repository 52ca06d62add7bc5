"""Runs to look at, a server that shows them, and a browser."""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from proctor.records.completion import Completion
from proctor.records.encoding import encode
from proctor.records.execution import Usage
from proctor.records.receipt import Manifest, Receipt
from proctor.records.verdict import Bucket
from proctor.results.summary import summarize
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS, pretty
from proctor.viewer.runs import RunCatalog
from proctor.viewer.server import application, listen
from proctor.viewer.site import Site
from proctor.viewer.urls import Served
from tests.requires import requires

Outcomes = dict[str, Sequence[Bucket]]
Make = Callable[..., Path]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder for runs."""
    path = tmp_path / "runs"
    path.mkdir()
    return path


@pytest.fixture
def make_run(
    runs: Path, manifest: Callable[..., Manifest], receipt: Callable[..., Receipt]
) -> Make:
    """Return a function that writes a run: for each task, the bucket of each sample."""

    def make(
        name: str, outcomes: Outcomes, *, report: bool = False, changes: Any = None, **fields: Any
    ) -> Path:
        path = runs / name
        path.mkdir(parents=True, exist_ok=True)
        samples = sum(map(len, outcomes.values()))
        usual = {"tasks": len(outcomes), "samples": samples, **fields}
        (path / MANIFEST).write_bytes(pretty(manifest(**usual)))
        lines, texts = [], []
        for number, (task, buckets) in enumerate(outcomes.items()):
            for sample, bucket in enumerate(buckets):
                code = f"def f(x):\n    return x + {sample}\n"
                made = receipt(sample, bucket, task_id=task, code=code, usage=USAGE)
                made = msgspec.structs.replace(made, **(changes or {}))
                lines.append(encode(made) + b"\n")
                said = f"Sure:\n```python\n{code}```\n"
                text = Completion(
                    task_id=task, sample=sample, id=f"{number}_s{sample}", completion=said
                )
                texts.append(encode(text) + b"\n")
        (path / RECEIPTS).write_bytes(b"".join(lines))
        (path / COMPLETIONS).write_bytes(b"".join(texts))
        if report:
            (path / "report.json").write_bytes(pretty(summarize(path)))
        return path

    return make


USAGE = Usage(cpu_seconds=0.25, wall_seconds=0.5, memory_bytes=20 << 20)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return where indexes are kept."""
    return tmp_path / "cache"


@pytest.fixture
def site(runs: Path, cache: Path) -> Site:
    """Return the pages of the runs, as a server links them."""
    return Site(RunCatalog(runs, cache), Served())


@pytest.fixture
def served(site: Site) -> Iterator[str]:
    """Return the address of a server that shows the runs."""
    with listen(0) as place:
        config = uvicorn.Config(application(site), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Start a browser without a screen, or skip."""
    requires("chromium")
    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program)
        yield opened
        opened.close()


class Watched:
    """A page, and whatever it did that no page of ours should do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.trouble: list[str] = []
        page.set_default_timeout(15_000)
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        page.on("console", lambda said: self.trouble.append(f"console: {said.text}"))
        page.on("request", self._request)

    def _dialog(self, dialog: Any) -> None:
        self.trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "file://")):
            self.trouble.append(f"request: {request.url}")


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """Return a page that is watched; it fails the test that made it do what it should not."""
    context = browser.new_context(color_scheme="light")
    found = Watched(context.new_page())
    yield found
    context.close()
    assert not found.trouble
