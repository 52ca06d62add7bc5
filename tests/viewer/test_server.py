"""The server answers for this machine, for reading only, and with the headers on everything."""

import json
import re
import socket
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from proctor.errors import InputError
from proctor.records.verdict import Bucket
from proctor.viewer.server import listen

P, W, T, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME, Bucket.HARNESS
Make = Callable[..., Path]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)",
    "</title></pre></code></textarea><svg/onload=alert(4)>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(5)",
    "]]><!--",
    "\u202e\u0000\x1b[31m",
    "</script><script>alert(6)</script>",
]
"""What models write who have read how pages are attacked."""


class Tags(HTMLParser):
    """Fails at the first element or attribute that no template of ours has."""

    known = re.findall(
        r"\w+",
        "html head meta title link script body header a nav button main section article div p span "
        "h1 h2 h3 svg rect line circle polygon polyline text title table thead tbody tr th td "
        "form input select option label canvas details summary dl dt dd dialog kbd pre code ol ul "
        "li progress strong br",
    )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.known
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("style", "srcdoc", "formaction")
            assert name not in ("href", "src", "action") or (value or "").startswith("/")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


@pytest.fixture
def ask(served: str) -> Callable[..., Answer]:
    """Return a function that asks the server."""

    def get(path: str, method: str = "GET", host: str | None = None, **query: object) -> Answer:
        connection = HTTPConnection(served.removeprefix("http://"), timeout=20)
        headers = {} if host is None else {"Host": host}
        address = f"{path}?{urlencode(query, doseq=True)}" if query else path
        connection.request(method, address, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, text)

    return get


def test_all_pages(make_run: Make, ask: Callable[..., Answer]) -> None:
    make_run("one", {str(n): [P, W, T] for n in range(6)}, report=True)
    make_run("two", {str(n): [P, P, H] for n in range(6)})
    for path, query in (
        ("/", {}),
        ("/run", {"run": "one"}),
        ("/run", {"run": "one", "bucket": "cpu_time", "page": 1}),
        ("/run", {"run": "one", "order": "hardest", "wanted": "3"}),
        ("/sample", {"run": "one", "task": "3", "sample": 1}),
        ("/diff", {"run": "one", "task": "3", "sample": 0, "other": 1}),
        ("/compare", {"run": ["one", "two"]}),
        ("/version", {"run": "one"}),
        ("/version", {}),
        ("/matrix", {"run": "one"}),
        ("/static/viewer.js", {}),
        ("/static/viewer.css", {}),
        ("/static/icon.svg", {}),
    ):
        answer = ask(path, **query)
        assert answer.status == 200, (path, answer.text)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        if answer.headers["content-type"].startswith("text/html"):
            assert " style=" not in answer.text
            assert not re.search(r"<[^>]* on\w+=", answer.text)
            assert not re.search(r"<script(?! src=| type=.application/json)", answer.text)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::2]", "0.0.0.0"],
)
def test_other_hosts_are_refused(ask: Callable[..., Answer], host: str) -> None:
    answer = ask("/", host=host)
    assert answer.status == 421
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:7399"])
def test_this_machine_has_several_names(ask: Callable[..., Answer], host: str) -> None:
    assert ask("/", host=host).status == 200


def test_another_host_cannot_be_forwarded(served: str) -> None:
    with socket.create_connection(served.removeprefix("http://").split(":"), timeout=20) as line:
        line.sendall(b"GET / HTTP/1.0\r\nX-Forwarded-Host: localhost\r\n\r\n")
        assert b" 421 " in line.makefile("rb").readline()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(ask: Callable[..., Answer], method: str) -> None:
    answer = ask("/", method=method)
    assert answer.status == 405
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2f..%2fsettings.py",
        "/static/viewer.py",
        "/../../etc/passwd",
        "/schema",
        "/nothing",
    ],
)
def test_no_other_file_is_served(ask: Callable[..., Answer], path: str) -> None:
    answer = ask(path)
    assert answer.status == 404
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("run", ["..", "../..", "/etc", "one/../one", "nothing", "%00", "<b>x</b>"])
def test_no_other_folder_is_a_run(make_run: Make, ask: Callable[..., Answer], run: str) -> None:
    make_run("one", {"a": [P]})
    for path, query in (("/run", {}), ("/sample", {"task": "a", "sample": 0}), ("/matrix", {})):
        answer = ask(path, run=run, **query)
        assert answer.status == 404
        assert "there is no run" in answer.text
        assert "<b>x" not in answer.text


@pytest.mark.parametrize(
    ("path", "query", "said"),
    [
        ("/run", {}, "the address lacks run="),
        ("/run", {"run": "one", "page": "x"}, "page=x in the address is no number"),
        ("/run", {"run": "one", "page": "9" * 99}, "is no number"),
        ("/sample", {"run": "one", "task": "a", "sample": "-1"}, "is no number"),
        ("/sample", {"run": "one", "task": "a", "sample": "7"}, "no receipt of sample 7 of a"),
        ("/sample", {"run": "one", "task": "zz", "sample": "0"}, "no receipt of sample 0 of zz"),
        ("/compare", {"run": ["one"]}, "choose from 2 to 8 different runs"),
        ("/compare", {"run": ["one", "one"]}, "choose from 2 to 8 different runs"),
    ],
)
def test_addresses_that_lead_nowhere(
    make_run: Make, ask: Callable[..., Answer], path: str, query: dict[str, str], said: str
) -> None:
    make_run("one", {"a": [P]})
    answer = ask(path, **query)
    assert answer.status == 404
    assert said in unescape(answer.text)


def test_a_page_far_out_is_empty(make_run: Make, ask: Callable[..., Answer]) -> None:
    make_run("one", {"a": [P]})
    assert ask("/run", run="one", page=10**12).status == 200
    assert ask("/matrix", run="one", start=10**12, count=10**12).status == 200


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_escaped_on_every_page(
    make_run: Make, ask: Callable[..., Answer], text: str
) -> None:
    changes = {"detail": text, "stderr": text, "stdout": text, "code": text, "toolchain": text}
    outcomes = {f"{n} {text}": [P, W] for n in range(6)}
    make_run("one", outcomes, changes=changes, model=text, source=text, host=text, benchmark=text)
    make_run("two", outcomes, changes=changes, model=text, benchmark=text)
    task = f"0 {text}"
    pages = [
        ask("/"),
        ask("/run", run="one"),
        ask("/run", run="one", bucket="wrong_answer", wanted=text),
        ask("/run", run="one", wanted=text, order=text, bucket=text),
        ask("/sample", run="one", task=task, sample=1),
        ask("/diff", run="one", task=task, sample=0, other=1),
        ask("/compare", run=["one", "two"]),
    ]
    for page in pages:
        assert page.status == 200, page.text
        Tags().feed(page.text)
    if text.isprintable():
        assert text in unescape(pages[4].text)


def test_a_run_is_never_shown_as_nothing(make_run: Make, ask: Callable[..., Answer]) -> None:
    make_run("empty", {}, samples=9)
    corrupt = make_run("corrupt", {"a": [P]})
    (corrupt / "receipts.jsonl").write_text("{}\n")
    make_run("unscored", {"a": [H]})
    for name, reason in (
        ("empty", "there are no receipts yet"),
        ("corrupt", "receipts.jsonl, line 1: field task_id is missing"),
        ("unscored", "no sample is scored"),
    ):
        page = ask("/run", run=name).text
        assert "no score" in page
        assert reason in page
        assert "0.0 %</span>" not in page
    listed = ask("/").text
    assert "0.0 %" not in listed
    assert listed.count("no score ·") == 3


def test_a_corrupt_run_cannot_be_compared(make_run: Make, ask: Callable[..., Answer]) -> None:
    make_run("one", {"a": [P]})
    (make_run("two", {"a": [P]}) / "receipts.jsonl").write_text("{}\n")
    answer = ask("/compare", run=["one", "two"])
    assert (answer.status, "two cannot be compared" in answer.text) == (404, True)


def test_a_receipt_that_changed_under_us(make_run: Make, ask: Callable[..., Answer]) -> None:
    path = make_run("one", {"a": [P]}) / "receipts.jsonl"
    assert ask("/sample", run="one", task="a", sample=0).status == 200
    path.write_bytes(path.read_bytes().replace(b'"sample":0', b'"sample":1'))
    assert ask("/sample", run="one", task="a", sample=0).status == 404


def test_the_matrix_is_small(make_run: Make, ask: Callable[..., Answer]) -> None:
    make_run("one", {f"t{n}": [P, W] for n in range(300)})
    found = json.loads(ask("/matrix", run="one", start=100, count=50).text)
    assert (found["total"], found["columns"], len(found["rows"])) == (300, 2, 50)
    assert found["rows"][0] == ["t100", "ab"]


def test_a_folder_whose_name_is_no_text(
    make_run: Make, runs: Path, ask: Callable[..., Answer]
) -> None:
    import os

    make_run("one", {"a": [P]})
    (runs / "one").rename(runs / os.fsdecode(b"\xff<b>"))
    assert ask("/").status == 200
    link = re.search(r'href="(/run[^"]*)"', ask("/").text)
    assert link is not None
    assert ask(unescape(link[1])).status == 200


def test_long_texts_are_cut(make_run: Make, ask: Callable[..., Answer]) -> None:
    changes = dict.fromkeys(("detail", "stderr", "stdout", "code", "toolchain"), "x" * 1_000_000)
    make_run("one", {"a": [P]}, changes=changes, model="m" * 1_000_000)
    for page in (ask("/"), ask("/run", run="one"), ask("/sample", run="one", task="a", sample=0)):
        assert page.status == 200
        assert len(page.text) < 1_000_000
        assert "more characters" in page.text


def test_a_defect_is_a_page_and_a_trace(
    make_run: Make,
    ask: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_run("one", {"a": [P]})
    monkeypatch.setattr("proctor.viewer.pages.run.charts", None)
    answer = ask("/run", run="one")
    assert answer.status == 500
    assert "Traceback" not in answer.text
    assert "content-security-policy" in answer.headers
    assert "AttributeError" in capsys.readouterr().err


def test_a_port_that_is_taken() -> None:
    said = r"cannot listen on 127.0.0.1.*--port 0"
    with listen(0) as taken, pytest.raises(InputError, match=said):
        listen(taken.getsockname()[1])


def test_only_the_loopback_interface_is_bound() -> None:
    with listen(0) as server:
        assert server.getsockname()[0] == "127.0.0.1"
