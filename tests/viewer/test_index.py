"""The index says what reading everything would say, and keeps up with a run that grows."""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import HostError
from proctor.records.encoding import encode
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket
from proctor.results.summary import summarize
from proctor.storage.run_directory import COMPLETIONS, MANIFEST, RECEIPTS
from proctor.viewer.index import Index

P, W, T, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.CPU_TIME, Bucket.HARNESS
Make = Callable[..., Path]


@pytest.fixture
def opened(cache: Path) -> Callable[..., Index]:
    """Return a function that opens the index of a run."""
    return lambda run, samples=1000: Index(run, samples, cache)


def test_it_says_what_a_summary_says(make_run: Make, opened: Callable[..., Index]) -> None:
    run = make_run("one", {"a": [P, W, T], "b": [P, H], "c": [P]})
    index = opened(run)
    progress = index.update()
    assert (progress.settled, progress.share, progress.damaged) == (True, 1.0, 0)
    summary = summarize(run)
    assert {str(b): n for b, n in index.lookup.buckets().items()} == summary.buckets
    extent = index.lookup.extent()
    assert (extent.receipts, extent.passed, extent.unscored) == (6, 3, 1)
    assert (extent.tasks, extent.max_samples, extent.columns, extent.min_samples) == (3, 3, 3, 1)
    assert [(t.task_id, t.scored, t.passed) for t in index.lookup.tallies()] == [
        ("a", 3, 1),
        ("b", 1, 1),
        ("c", 1, 1),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 6), st.sampled_from(list(Bucket)))
    )
)
def test_counts_agree_with_the_lines(drawn: list[tuple[str, int, Bucket]]) -> None:
    import tempfile

    kept = {(task, sample): bucket for task, sample, bucket in drawn}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder)
        (run / MANIFEST).write_text("{}")
        (run / RECEIPTS).write_bytes(b"".join(_line(*key, bucket) for key, bucket in kept.items()))
        index = Index(run, 100, None)
        index.update()
        assert index.lookup.buckets() == Counter(kept.values())
        _, rows = index.lookup.rows("name", "", 0, 100)
        for row in rows:
            for place, letter in enumerate(row.cells):
                bucket = kept.get((row.name, place))
                assert (letter == ".") == (bucket is None)
                if bucket is not None:
                    assert letter == chr(ord("a") + list(Bucket).index(bucket))
        index.close()


def _line(task: str, sample: int, bucket: Bucket) -> bytes:
    from proctor.records.verdict import OUTCOMES

    fields = {
        "task_id": task,
        "sample": sample,
        "outcome": OUTCOMES[bucket],
        "bucket": bucket,
        "detail": "",
        "judged": "apart",
        "usage": {"cpu_seconds": 0.0, "wall_seconds": 1.0, "memory_bytes": 0},
    }
    return encode(fields) + b"\n"


def test_lines_are_found_where_they_lie(make_run: Make, opened: Callable[..., Index]) -> None:
    index = opened(make_run("one", {"a": [P, W], "ü/☃": [T]}))
    index.update()
    for name in (RECEIPTS, COMPLETIONS):
        for task, sample in (("a", 0), ("a", 1), ("ü/☃", 0)):
            line = index.lookup.line(name, task, sample)
            assert line is not None
            assert f'"task_id":"{task}","sample":{sample}'.encode() in line
        assert index.lookup.line(name, "a", 2) is None
        assert index.lookup.line(name, "'; DROP TABLE task; --", 0) is None


def test_it_reads_on(
    make_run: Make, opened: Callable[..., Index], receipt: Callable[..., Receipt]
) -> None:
    run = make_run("one", {"a": [P, W]}, samples=4)
    index = opened(run)
    first = index.update()
    with (run / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(2, T)) + b"\n" + encode(receipt(3, P))[:50])
    second = index.update()
    assert second.version != first.version
    assert index.lookup.extent().receipts == 3
    assert second.settled  # a torn line is nothing yet
    with (run / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(3, P))[50:] + b"\n")
    index.update()
    assert index.lookup.rows("order", "", 0, 9)[1][0].cells == "abha"


def test_another_process_goes_on_where_one_stopped(
    make_run: Make, opened: Callable[..., Index], receipt: Callable[..., Receipt]
) -> None:
    run = make_run("one", {"a": [P, W]}, samples=4)
    one, other = opened(run), opened(run)
    one.update()
    assert other.lookup.extent().receipts == 2
    with (run / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(2, T)) + b"\n")
    other.update()
    with (run / RECEIPTS).open("ab") as file:
        file.write(encode(receipt(3, P)) + b"\n")
    assert one.update() == other.update()
    assert one.lookup.extent().receipts == 4


def test_a_slice_of_time_is_enough_to_begin(
    make_run: Make, opened: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.index_writer.SLICE", 2)
    index = opened(make_run("one", {"a": [P] * 7}))
    progress = index.update(0.0)
    assert (progress.settled, index.lookup.extent().receipts) == (False, 2)
    assert 0 < progress.share < 1
    while not progress.settled:
        progress = index.update(0.0)
    assert index.lookup.extent().receipts == 7


@pytest.mark.parametrize("change", ["another manifest", "shorter", "edited", "gone"])
def test_a_run_that_is_another_is_read_anew(
    make_run: Make, opened: Callable[..., Index], change: str
) -> None:
    run = make_run("one", {"a": [P, W, W]})
    index = opened(run)
    index.update()
    index.write_note("curve", b"old")
    if change == "another manifest":
        make_run("one", {"a": [P]}, model="other")
    elif change == "shorter":
        make_run("one", {"a": [P]})
    elif change == "edited":
        text = (run / RECEIPTS).read_bytes()
        (run / RECEIPTS).write_bytes(text.replace(b'"sample":2', b'"sample":7'))
        os.utime(run / RECEIPTS, ns=(1, 1))
    else:
        (run / RECEIPTS).unlink()
    index.update()
    expected = {"another manifest": "a", "shorter": "a", "edited": "ab.....b", "gone": ""}
    assert [row.cells for row in index.lookup.rows("order", "", 0, 9)[1]] == [expected[change]]
    assert index.note("curve") is None


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"x":', "not JSON"),
        (b"{}", "field task_id is missing"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, ""),
        (_line("a", 0, P)[:-1], "sample 0 of 'a' has a line already"),
        (_line("a", 1000, P)[:-1], "the run has no sample 1000 of 'a'"),
        (_line("x" * 5000, 0, P)[:-1], "task_id is longer than 4096 characters"),
        (_line("a", -1, P)[:-1], "the run has no sample -1 of 'a'"),
        (_line("a", 5, P)[:-1].replace(b'"passed"', b'"crash"'), "does not go with"),
    ],
)
def test_a_damaged_line_is_named_and_the_rest_is_read(
    make_run: Make, opened: Callable[..., Index], bad: bytes, reason: str
) -> None:
    run = make_run("one", {"a": [P, W]})
    (run / RECEIPTS).write_bytes((run / RECEIPTS).read_bytes() + bad + b"\n" + _line("z", 0, T))
    index = opened(run)
    assert index.update().damaged == 1
    (damage,) = index.lookup.damage()
    assert (damage.file, damage.line) == (RECEIPTS, 3)
    assert reason in damage.reason
    assert index.lookup.extent().receipts == 3


def test_a_line_without_end_is_skipped(
    make_run: Make, opened: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.viewer.index_writer.MAX_RECORD", 5000)
    run = make_run("one", {"a": [P]})
    text = (run / RECEIPTS).read_bytes()
    (run / RECEIPTS).write_bytes(b"x" * 12_000 + b"\n" + text)
    index = opened(run)
    assert index.update().damaged == 1
    assert index.lookup.damage()[0].line == 1
    assert index.lookup.extent().receipts == 1


def test_many_damaged_lines_are_counted_and_few_kept(
    make_run: Make, opened: Callable[..., Index]
) -> None:
    run = make_run("one", {"a": [P]})
    (run / RECEIPTS).write_bytes(b"x\n" * 100)
    index = opened(run)
    assert index.update().damaged == 100
    assert len(index.lookup.damage()) == 20


def test_a_broken_index_is_made_again(
    make_run: Make, opened: Callable[..., Index], cache: Path
) -> None:
    run = make_run("one", {"a": [P]})
    opened(run).close()
    (file,) = cache.glob("*.sqlite")
    file.write_bytes(b"this is no database" * 1000)
    index = opened(run)
    index.update()
    assert index.lookup.extent().receipts == 1


def test_without_a_place_to_keep_it(make_run: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (None, tmp_path / "file" / "cache"):
        index = Index(make_run("one", {"a": [P]}), 10, folder)
        index.update()
        assert index.lookup.extent().receipts == 1


def test_the_run_itself_is_left_alone(make_run: Make, opened: Callable[..., Index]) -> None:
    run = make_run("one", {"a": [P]})
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    opened(run).update()
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == before


def test_nothing_is_half_written(
    make_run: Make, opened: Callable[..., Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("one", {"a": [P, W, T]})
    index = opened(run)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("proctor.viewer.index_writer.IndexWriter._flush", killed)
        with pytest.raises(KeyboardInterrupt):
            index.update()
    index.update()
    assert index.lookup.rows("order", "", 0, 9)[1][0].cells == "abh"


def test_wal_lets_others_read(make_run: Make, opened: Callable[..., Index], cache: Path) -> None:
    opened(make_run("one", {"a": [P]})).update()
    (file,) = cache.glob("*.sqlite")
    assert sqlite3.connect(file).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_index_that_gives_out_is_no_fault_of_the_run(
    make_run: Make, opened: Callable[..., Index]
) -> None:
    index = opened(make_run("one", {"a": [P]}))
    index._database.execute("PRAGMA query_only = 1")
    with pytest.raises(HostError, match=r"the index of .* cannot be kept"):
        index.update()
