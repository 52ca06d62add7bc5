"""How scores went, drawn."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from proctor.report.chart import plot, svg
from proctor.report.history import render
from proctor.results.history import read_history

Past = Callable[..., Path]
HOSTILE = '</title><script>alert(1)</script>"'


def test_a_line_a_run(past_run: Past, tmp_path: Path) -> None:
    past_run("a", {f"t{n}": "P" if n < 5 else "W" for n in range(10)})
    past_run("b", {"t": "P"})
    past_run("c", {}, samples=4)
    drawn = plot(read_history(tmp_path), "1").splitlines()
    assert drawn[0] == "demo, pass@1: 0 % to 100 %"
    assert drawn[1].startswith("  a ·")
    assert drawn[1].index("●") == 4 + 25
    assert drawn[1].count("─") > 10
    assert drawn[2] == "  b " + "·" * 50 + "● 100.0 %"
    assert len(drawn) == 3  # a run without a score is no point


def test_a_line_chart(past_run: Past, tmp_path: Path) -> None:
    past_run("a", {f"t{n}": "P" if n < 5 else "W" for n in range(10)})
    past_run("b", {f"t{n}": "P" for n in range(10)}, model=HOSTILE)
    past_run("c", {"t": "P"}, benchmark=HOSTILE)
    found = ElementTree.fromstring(svg(read_history(tmp_path), "1"))
    kinds = [one.tag.rpartition("}")[2] for one in found.iter()]
    assert (kinds.count("polyline"), kinds.count("circle")) == (2, 3)
    assert "script" not in kinds
    assert svg(read_history(tmp_path), "1") == svg(read_history(tmp_path), "1")


def test_nothing_to_draw(past_run: Past, tmp_path: Path) -> None:
    past_run("a", {"t": "P"})
    assert plot(read_history(tmp_path), "10") == ""
    assert "polyline" not in svg(read_history(tmp_path), "10")


def test_the_table(past_run: Past, tmp_path: Path) -> None:
    past_run("a", {f"t{n}": "P" for n in range(10)}, model="\x1b[2J" + "x" * 60)
    past_run("b", {}, samples=4)
    lines = render(read_history(tmp_path), "1").splitlines()
    assert lines[0].split()[:3] == ["when", "benchmark", "model"]
    assert "100.0 %" in lines[1]
    assert all(line.isprintable() for line in lines)
    assert "%" not in lines[2]
    assert lines[3].endswith("no sample has a receipt")
