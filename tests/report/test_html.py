"""A page of its own: nothing of what models wrote becomes markup, and nothing is fetched."""

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from proctor.records.verdict import Bucket
from proctor.report.breakdown import compute_details
from proctor.report.html import render
from proctor.results.summary import summarize

Past = Callable[..., Path]
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "table"),
    *("thead", "tbody", "tr", "th", "td", "svg", "rect"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "viewbox", "role"),
    *("aria-label", "x", "y", "width", "height"),
}


class Markup(HTMLParser):
    """Collects what a page consists of."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def page(run: Path) -> tuple[str, Markup]:
    text = render(summarize(run), compute_details(run))
    markup = Markup()
    markup.feed(text)
    return text, markup


def test_hostile_text_stays_text(past_run: Past, hostile: str) -> None:
    row = {"bucket": Bucket.BENCHMARK, "detail": hostile, "labels": [hostile]}
    run = past_run("run", {hostile.encode("utf-8", "replace").decode(): [row]}, model=hostile)
    text, markup = page(run)
    assert set(markup.tags) <= TAGS
    assert markup.attributes <= ATTRIBUTES
    assert text.encode()
    assert text.count("<script") == 0


def test_a_page_allows_itself_nothing_but_its_style(past_run: Past) -> None:
    text, markup = page(past_run("run", {"a": "PWT", "b": "H"}))
    assert "default-src 'none'; style-src 'sha256-" in text
    assert "http://" not in text
    assert "https://" not in text
    assert markup.tags.count("rect") == 4
    assert "1 of 4 samples passed, 2 tasks." in markup.text
    assert "Degraded: 1 samples are unscored, not wrong." in markup.text


def test_the_same_run_gives_the_same_bytes(past_run: Past) -> None:
    run = past_run("run", {f"t{n}": "PW" for n in range(20)})
    assert page(run)[0] == page(run)[0]


def test_an_empty_run_is_no_score_of_nothing(past_run: Past) -> None:
    text, _ = page(past_run("run", {}, samples=3))
    assert "some samples have no receipt yet" in text
    assert "0.0 %" not in text
