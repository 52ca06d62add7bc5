"""A summary comes from a run's manifest and receipts alone."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from proctor.errors import InputError
from proctor.records.encoding import encode
from proctor.records.receipt import Manifest, Receipt
from proctor.records.verdict import OUTCOMES, Bucket, Outcome
from proctor.report import text
from proctor.results.summary import Summary, check_ks, summarize
from proctor.storage.run_directory import MANIFEST, RECEIPTS, pretty

Row = tuple[str, int, Bucket]
P, W, H = Bucket.PASSED, Bucket.WRONG_ANSWER, Bucket.HARNESS


@pytest.fixture
def run(
    tmp_path: Path, manifest: Callable[..., Manifest], receipt: Callable[..., Receipt]
) -> Callable[..., Path]:
    """Return a function that makes a run directory of receipts."""

    def make(rows: list[Row], **changes: object) -> Path:
        usual = {"samples": len(rows), "tasks": len({row[0] for row in rows})}
        (tmp_path / MANIFEST).write_bytes(pretty(manifest(**{**usual, **changes})))
        lines = [encode(receipt(n, bucket, task_id=task_id)) for task_id, n, bucket in rows]
        (tmp_path / RECEIPTS).write_bytes(b"".join(line + b"\n" for line in lines))
        return tmp_path

    return make


def test_counts(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P), ("a", 1, W), ("b", 0, Bucket.SYNTAX), ("b", 1, H)]))
    assert (summary.benchmark, summary.model) == ("demo", "recorded:samples.jsonl")
    assert (summary.tasks, summary.samples, summary.passed, summary.unscored) == (2, 4, 1, 1)
    assert summary.outcomes == {
        Outcome.PASS: 1,
        Outcome.ASSERTION_FAIL: 1,
        Outcome.SYNTAX_ERROR: 1,
        Outcome.TIMEOUT: 0,
        Outcome.ERROR: 0,
    }
    assert summary.buckets == {P: 1, W: 1, Bucket.SYNTAX: 1, H: 1}
    assert summary.judged == {"apart": 4}
    assert (summary.sandbox, summary.isolated) == ("portable", False)


def test_every_bucket_is_counted_once(run: Callable[..., Path]) -> None:
    summary = summarize(run([(bucket, 0, bucket) for bucket in Bucket]))
    assert sum(summary.outcomes.values()) + summary.unscored == summary.samples == len(Bucket)
    assert summary.unscored == sum(outcome is None for outcome in OUTCOMES.values())
    assert set(summary.buckets) == set(Bucket)


def test_pass_at_1_is_the_mean_over_tasks(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P), ("a", 1, W), ("b", 0, P), ("b", 1, P)]))
    assert list(summary.pass_at_k) == ["1"]
    assert summary.pass_at_k["1"].value == 0.75


def test_unscored_samples_are_no_failures(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P), ("a", 1, H), ("b", 0, H), ("b", 1, H)]))
    one = summary.pass_at_k["1"]
    assert (one.value, one.tasks, one.samples, one.unscored, one.left_out) == (1.0, 1, 1, 3, 1)
    assert (summary.degraded, summary.complete) == (True, True)


def test_what_the_compiler_had_no_memory_for_counts_with_and_without(
    run: Callable[..., Path],
) -> None:
    starved = Bucket.COMPILE_RESOURCE
    summary = summarize(run([("a", 0, P), ("a", 1, starved), ("b", 0, W), ("b", 1, starved)]))
    assert summary.pass_at_k["1"].value == 0.25
    without = summary.without_compile_resource["1"]
    assert (without.value, without.samples, without.tasks) == (0.5, 2, 2)
    assert (summary.unscored, summary.degraded) == (0, False)
    assert "without compile_resource" in text.render(summary)
    assert summarize(run([("a", 0, P)])).without_compile_resource == {}


def test_why_samples_are_unscored(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P), ("a", 1, H), ("b", 0, H), ("c", 0, Bucket.BENCHMARK)]))
    assert summary.missing == {"it is harness": 2}
    assert summary.unfit == {"c": "it is benchmark"}
    assert "    2 samples: it is harness\n" in text.render(summary)


def test_by_default_k_is_what_all_tasks_allow(run: Callable[..., Path]) -> None:
    rows = [(task, n, P) for task in "ab" for n in range(10)]
    assert list(summarize(run(rows)).pass_at_k) == ["1", "10"]
    assert list(summarize(run([*rows, ("c", 0, P)])).pass_at_k) == ["1"]


def test_a_k_that_some_tasks_allow_counts_the_others(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P), ("b", 0, P), ("b", 1, W)]), ks=[2, 1])
    assert list(summary.pass_at_k) == ["2", "1"]
    assert summary.pass_at_k["2"].left_out == 1


def test_a_k_that_none_allows_is_an_error(run: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match=r"^--k 3: no task has more than 2 samples$"):
        summarize(run([("a", 0, P), ("b", 0, P), ("b", 1, W)]), ks=[3])
    check_ks([5], [])
    check_ks([], [1])


def test_a_run_that_is_not_complete(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P)], samples=7))
    assert (summary.complete, summary.degraded, summary.samples) == (False, True, 1)


def test_a_run_that_has_not_begun(run: Callable[..., Path]) -> None:
    path = run([], samples=7)
    (path / RECEIPTS).unlink()
    summary = summarize(path)
    assert (summary.samples, summary.tasks, summary.pass_at_k) == (0, 0, {})


def test_a_torn_last_line_is_not_counted(run: Callable[..., Path]) -> None:
    path = run([("a", 0, P), ("b", 0, P)])
    (path / RECEIPTS).write_bytes((path / RECEIPTS).read_bytes()[:-1])
    assert summarize(path).samples == 1


def test_a_receipt_that_is_none(run: Callable[..., Path]) -> None:
    path = run([("a", 0, P)])
    good = (path / RECEIPTS).read_text()
    for old, new, said in (
        ('"bucket":"passed"', '"bucket":"odd"', "field bucket cannot be 'odd'"),
        ('"bucket":"passed"', '"bucket":"crash"', "outcome pass does not go with bucket crash"),
        ('"sample":0', '"sample":7', "the run has no sample 7 of 'a'"),
        ("}\n", "}\n" + good, "sample 0 of 'a' has a line already"),
    ):
        (path / RECEIPTS).write_text(good.replace(old, new))
        with pytest.raises(InputError, match=f"receipts.jsonl, line [12]: {said}; take that line"):
            summarize(path)


def test_the_seed_decides_the_bootstrap(run: Callable[..., Path]) -> None:
    rows = [(f"t{n}", s, P if (n * 7 + s) % 3 else W) for n in range(12) for s in range(4)]
    path = run(rows)
    first, again, other = summarize(path), summarize(path), summarize(path, seed=5)
    assert first.pass_at_k == again.pass_at_k
    assert "seed 5" in other.pass_at_k["1"].method
    assert first.pass_at_k["1"].value == other.pass_at_k["1"].value


def test_parts_count_with_those_before_them(
    run: Callable[..., Path], receipt: Callable[..., Receipt]
) -> None:
    path = run([], samples=5, tasks=2)
    found = [("a", P, P, P), ("a", W, P, W), ("a", W, W, P), ("b", W, W, W), ("b", H, H, H)]
    lines = [
        encode(receipt(n, bucket, task_id=task_id, groups={"base": base, "plus": plus}))
        for n, (task_id, bucket, base, plus) in enumerate(found)
    ]
    (path / RECEIPTS).write_bytes(b"".join(line + b"\n" for line in lines))
    groups = summarize(path).groups
    assert list(groups) == ["base", "base+plus"]
    assert (groups["base"].passed, groups["base+plus"].passed) == (2, 1)
    assert groups["base"].pass_at_k["1"].value == pytest.approx(1 / 3)
    assert groups["base+plus"].pass_at_k["1"].value == pytest.approx(1 / 6)
    assert groups["base"].pass_at_k["1"].unscored == 1


def test_a_summary_can_be_read_again(run: Callable[..., Path]) -> None:
    summary = summarize(run([("a", 0, P)]), seconds=1.5)
    assert msgspec.json.decode(encode(summary), type=Summary) == summary
