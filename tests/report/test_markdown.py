"""Markdown in which nothing that models wrote is markup."""

import re
from collections.abc import Callable
from pathlib import Path

from proctor.records.verdict import Bucket
from proctor.report.breakdown import compute_details
from proctor.report.markdown import escape, render
from proctor.results.summary import summarize

Past = Callable[..., Path]


def test_hostile_text_stays_text(past_run: Past, hostile: str) -> None:
    row = {"bucket": Bucket.BENCHMARK, "detail": hostile}
    usual = render(*both(past_run("usual", {"a": [{**row, "detail": "plain"}]})))
    found = render(*both(past_run("run", {"a": [row]}, model=hostile)))
    assert len(found.splitlines()) == len(usual.splitlines())
    assert len(re.findall(r"(?<!\\)\|", found)) == len(re.findall(r"(?<!\\)\|", usual))
    assert not re.search(r"(?<!\\)[<`\[]", found)


def both(run: Path):
    return summarize(run), compute_details(run)


def test_escape() -> None:
    assert escape("a_b|c") == r"a\_b\|c"
    assert escape("https://x.y") == r"https\://x.y"
    assert escape("plain words 1.5 %") == "plain words 1.5 %"


def test_a_report(past_run: Past) -> None:
    found = render(*both(past_run("run", {"a": "PW", "b": "PP"})))
    assert found.startswith("# demo · run\n\n3 of 4 samples passed, 2 tasks.\n\n## Scores\n")
    assert "| assertion\\_fail | wrong\\_answer | 1 | 25.0 % |" in found
    again = past_run("again", {"a": "PW", "b": "PP"}, model="run")
    assert found == render(*both(again))  # wherever the run lies
