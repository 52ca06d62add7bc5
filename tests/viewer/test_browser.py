"""The pages in a real browser: what a reader does, and what hostile text does not."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from proctor.records.encoding import encode
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket
from proctor.storage.run_directory import RECEIPTS
from proctor.viewer.export import export_site
from proctor.viewer.runs import RunCatalog

P, W, T, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME, Bucket.HARNESS
Make = Callable[..., Path]
HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>"
    "\"'><a href=javascript:alert(4)>x</a></pre></title></script><script>alert(5)</script>"
    "<iframe srcdoc='<script>parent.alert(6)</script>'></iframe>"
    "<style>*{background:url(//evil.example/)}</style>&lt;b&gt;{{7*7}}"
)


@pytest.fixture
def three(make_run: Make) -> None:
    """Make three runs that differ in everything one can sort by."""
    created = "2026-01-0{}T00:00:00+00:00"
    tasks = [f"t/{n}" for n in range(8)]
    make_run(
        "x/good", {t: [P, P] for t in tasks}, report=True, model="good", created=created.format(1)
    )
    make_run(
        "x/bad", {t: [W, T] for t in tasks}, report=True, model="bad", created=created.format(2)
    )
    make_run(
        "y/fair", {t: [P, W] for t in tasks}, report=True, model="fair", created=created.format(3)
    )


def models(page: Page) -> list[str]:
    """Return the models of the rows in sight, in their order."""
    return page.locator("#runs tbody tr:visible td.model").all_inner_texts()


@pytest.mark.usefixtures("three")
def test_filter_and_sort(served: str, watched: Any) -> None:
    page: Page = watched.page
    page.goto(served)
    assert models(page) == ["fair", "bad", "good"]
    page.keyboard.press("/")
    page.keyboard.type("x/")
    assert models(page) == ["bad", "good"]
    expect(page.locator("#count")).to_have_text("2 of 3")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="pass@1").click()
    assert models(page) == ["good", "bad"]
    page.get_by_role("button", name="pass@1").click()
    assert models(page) == ["bad", "good"]
    assert re.search(r"\?q=x%2F&sort=score$", page.url)
    page.reload()
    assert models(page) == ["bad", "good"]
    page.locator("#filter").fill("no such run")
    expect(page.get_by_text("No run matches the filter.")).to_be_visible()


@pytest.mark.usefixtures("three")
def test_keys_lead_from_all_runs_to_a_sample_and_back(served: str, watched: Any) -> None:
    page: Page = watched.page
    page.goto(served)
    for key in "jjk":
        page.keyboard.press(key)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title("demo · bad · Proctor")
    expect(page.locator(".big")).to_have_text("0.0 %")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("t/0")
    expect(page.locator("h1")).to_contain_text("sample 0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_contain_text("sample 1")
    expect(page.locator(".code")).to_contain_text("return x + 1")
    expect(page.locator("pre.text").first).to_contain_text("Sure:")
    page.keyboard.press("d")
    expect(page.locator(".diff .changed .left")).to_have_text("    return x + 1")
    expect(page.locator(".diff .changed .right")).to_have_text("    return x + 0")
    for title in ("t/0 · sample 1", "demo · bad", "Runs"):
        page.keyboard.press("u")
        expect(page).to_have_title(f"{title} · Proctor")
        page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).not_to_be_visible()


@pytest.mark.usefixtures("three")
def test_two_runs_are_compared(served: str, watched: Any) -> None:
    page: Page = watched.page
    page.goto(served)
    expect(page.locator("#compare-button")).to_be_disabled()
    for key in ("j", "x", "j", "x", "c"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_contain_text("8 tasks in common")
    expect(page.get_by_text("-50.0 points")).to_be_visible()
    expect(page.get_by_text("Worse on 8")).to_be_visible()
    page.get_by_role("link", name="side by side").last.click()
    expect(page.locator("h1")).to_have_text("t/7")
    expect(page.locator(".heads")).to_contain_text("y/fair")
    expect(page.locator(".heads")).to_contain_text("x/bad")
    page.locator("select[name=other]").select_option("1")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".diff .changed .right")).to_have_text("    return x + 1")
    page.locator(".heads a").last.click()
    expect(page).to_have_title("t/7 · sample 1 · Proctor")


def test_a_matrix_of_many_tasks(make_run: Make, served: str, watched: Any) -> None:
    make_run("m", {f"task/{n}": [P if n % 3 else W, T] for n in range(1000)}, report=True)
    page: Page = watched.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/run?run=m")
    box = page.locator("#matrix")
    expect(box.locator(".spacer")).to_have_css("height", "14000px")
    assert len([url for url in asked if "/matrix" in url]) == 1
    box.evaluate("box => { box.scrollTop = box.scrollHeight; }")
    page.wait_for_timeout(300)
    assert len([url for url in asked if "/matrix" in url]) <= 3
    area = box.bounding_box()
    assert area is not None
    colour = "canvas => [...canvas.getContext('2d').getImageData(canvas.width * 0.26 | 0, canvas.height - 7, 1, 1).data]"
    assert box.locator("canvas").evaluate(colour)[3] == 255
    last = {"x": 225, "y": area["height"] - 6}
    box.hover(position=last)
    expect(page.locator("#pointed")).to_have_text("task/999 · sample 0 · wrong_answer")
    box.click(position=last)
    expect(page).to_have_title("task/999 · sample 0 · Proctor")


def test_tasks_are_filtered_and_sorted_by_the_server(
    make_run: Make, served: str, watched: Any
) -> None:
    make_run("m", {f"t/{n}": [P] * n + [W] * (9 - n) for n in range(9)})
    page: Page = watched.page
    page.goto(f"{served}/run?run=m")
    page.locator("select[name=order]").select_option("easiest")
    expect(page.locator("#tasks .main").first).to_have_text("t/8")
    page.locator("#filter").fill("t/3")
    page.keyboard.press("Enter")
    expect(page.locator("#tasks .main")).to_have_text("t/3")
    page.get_by_role("link", name="wrong_answer").click()
    expect(page.locator("tr[data-nav]")).to_have_count(45)


HOLD = """
import fcntl, os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held() -> Iterator[Callable[[Path], Callable[[], None]]]:
    """Return a function that has another process hold a run, as one that makes it does."""
    holders = []

    def hold(path: Path) -> Callable[[], None]:
        command = [sys.executable, "-c", HOLD, str(path)]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        return lambda: (holder.communicate(), None)[1]

    yield hold
    for holder in holders:
        if holder.poll() is None:
            holder.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists locks")
def test_a_run_in_progress_is_followed(
    make_run: Make, served: str, watched: Any, receipt: Callable[..., Receipt], held: Any
) -> None:
    path = make_run("m", {f"t/{n}": [P] for n in range(6)}, samples=8)
    release = held(path)
    page: Page = watched.page
    page.goto(f"{served}/run?run=m")
    expect(page.locator(".badge").first).to_have_text("running")
    expect(page.locator(".hero")).to_contain_text("6 of 8 samples")
    expect(page.locator(".figure")).to_contain_text("so far")
    page.evaluate("window.same = true")
    with (path / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(0, W, task_id="t/6")) + b"\n")
    expect(page.locator(".hero")).to_contain_text("7 of 8 samples")
    expect(page.locator(".bars")).to_contain_text("wrong_answer")
    with (path / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(0, W, task_id="t/7")) + b"\n")
    release()
    expect(page.locator(".badge").first).to_have_text("complete")
    expect(page.locator(".figure")).to_contain_text("75.0 %")
    expect(page.locator(".figure")).not_to_contain_text("so far")
    assert page.evaluate("window.same")  # it was never loaded anew


def test_a_new_run_comes_into_the_list(make_run: Make, served: str, watched: Any) -> None:
    make_run("one", {"a": [P]})
    page: Page = watched.page
    page.goto(served)
    expect(page.locator("#runs tbody tr")).to_have_count(1)
    make_run("two", {"a": [P]})
    expect(page.locator("#runs tbody tr")).to_have_count(2)


def test_a_server_that_is_gone_is_told(make_run: Make, site: Any, browser: Browser) -> None:
    import threading

    import uvicorn

    from proctor.viewer.server import application, listen

    make_run("one", {"a": [P]})
    page = browser.new_page()
    with listen(0) as place:
        server = uvicorn.Server(
            uvicorn.Config(application(site), log_level="error", lifespan="off")
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        page.goto(f"http://127.0.0.1:{place.getsockname()[1]}/")
        expect(page.locator("main.lost")).to_have_count(0)
        server.should_exit = True
        thread.join()
    expect(page.locator("main.lost")).to_have_count(1, timeout=15_000)
    page.close()


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.usefixtures("three")
def test_dark_and_light(served: str, watched: Any) -> None:
    page: Page = watched.page
    page.goto(served)
    light = background(page)
    page.emulate_media(color_scheme="dark")
    dark = background(page)
    assert dark != light
    page.keyboard.press("t")
    assert background(page) == light
    page.goto(f"{served}/run?run=x/good")
    assert background(page) == light
    page.get_by_role("button", name="Dark or light").click()
    page.reload()
    assert background(page) == dark


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/run?run=x/bad",
        "/sample?run=x/bad&task=t/1&sample=1",
        "/compare?run=x/bad&run=x/good",
    ],
)
def test_a_phone_is_wide_enough(served: str, browser: Browser, path: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, is_mobile=True)
    page = context.new_page()
    page.goto(served + path)
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_hostile_text_shows_as_text_and_runs_nothing(
    make_run: Make, served: str, watched: Any
) -> None:
    fields = {"model": HOSTILE, "benchmark": HOSTILE, "source": HOSTILE, "host": HOSTILE}
    changes = dict.fromkeys(("detail", "stderr", "stdout", "code", "toolchain"), HOSTILE)
    outcomes = {f"{n} {HOSTILE}": [P, W] for n in range(6)}
    make_run("one", outcomes, changes=changes, **fields)
    make_run("two", outcomes, changes=changes, **fields)
    task = f"1 {HOSTILE}"
    page: Page = watched.page
    for path, query in (
        ("/", {"q": HOSTILE[:6], "sort": HOSTILE}),
        ("/run", {"run": "one", "wanted": HOSTILE}),
        ("/run", {"run": "one", "bucket": "wrong_answer"}),
        ("/sample", {"run": "one", "task": task, "sample": 1}),
        ("/diff", {"run": "one", "task": task, "sample": 0, "other": 1}),
        ("/compare", {"run": ["one", "two"]}),
    ):
        page.goto(f"{served}{path}?{urlencode(query, doseq=True)}")
        page.wait_for_timeout(300)
        assert "<script>alert(1)</script><img src=x" in page.inner_text("body")
        assert page.locator("img, iframe, style, [href^='javascript']").count() == 0
    page.goto(f"{served}/run?{urlencode({'run': 'one'})}")
    page.locator("#matrix").hover(position={"x": 300, "y": 5})
    expect(page.locator("#pointed")).to_contain_text("<script>alert(1)")


@pytest.mark.usefixtures("three")
def test_the_pages_as_files(runs: Path, cache: Path, tmp_path: Path, watched: Any) -> None:
    list(export_site(RunCatalog(runs, cache), tmp_path / "site"))
    page: Page = watched.page
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.locator("#filter").fill("fair")
    assert models(page) == ["fair"]
    page.locator("#runs a").first.click()
    expect(page).to_have_title("demo · fair · Proctor")
    page.locator("#matrix").click(position={"x": 240, "y": 5})
    expect(page).to_have_title(re.compile("t/0 · sample"))
    page.wait_for_load_state()
    page.keyboard.press("u")
    expect(page).to_have_title("demo · fair · Proctor")
    page.wait_for_load_state()
    page.keyboard.press("u")
    page.get_by_role("link", name="x/good and x/bad").click()
    expect(page.get_by_text("Worse on 8")).to_be_visible()
