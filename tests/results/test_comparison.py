"""Runs side by side: paired over tasks, ranks with ties, and what else was different."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.records.limits import Limits
from proctor.results.comparison import compare_runs
from proctor.results.stats import compare_paired, tasks_needed

Past = Callable[..., Path]


def tasks(passed: int, total: int, start: int = 0) -> dict[str, str]:
    """Make tasks of one sample, so many of which pass."""
    return {f"t{n:03}": "P" if start <= n < start + passed else "W" for n in range(total)}


def test_two_runs(past_run: Past) -> None:
    one, other = past_run("one", tasks(10, 40)), past_run("other", tasks(30, 40))
    found = compare_runs([one, other])
    assert [side.model for side in found.runs] == ["one", "other"]
    assert [side.rank for side in found.runs] == [2, 1]
    pair = found.pairs[0]
    assert pair.by_k["1"].difference == pytest.approx(0.5)
    assert (len(pair.by_k["1"].gained), pair.by_k["1"].lost) == (20, ())
    assert (pair.beyond_noise, pair.differs, pair.changed_tasks) == ({"1": True}, {}, 0)
    assert (found.benchmark, found.tasks) == ("demo", 40)
    expected = compare_paired(
        {t: float(s == "P") for t, s in tasks(10, 40).items()},
        {t: float(s == "P") for t, s in tasks(30, 40).items()},
    )
    assert pair.by_k["1"] == expected


def test_what_noise_cannot_tell_apart_shares_a_rank(past_run: Past) -> None:
    runs = [past_run(f"m{n}", tasks(n, 40)) for n in (35, 34, 5)]
    assert [side.rank for side in compare_runs(runs).runs] == [1, 1, 3]


def test_the_more_pairs_the_rarer_a_difference_must_be(past_run: Past) -> None:
    """Six changes for the better and none for the worse: p = 0.03, which one pair in six gives."""
    one, other = past_run("one", tasks(10, 40)), past_run("other", tasks(16, 40))
    alone = compare_runs([one, other])
    assert alone.pairs[0].by_k["1"].p_value == pytest.approx(2 / 2**6)
    assert alone.pairs[0].beyond_noise == {"1": True}
    among = compare_runs(
        [one, other, past_run("third", tasks(11, 40)), past_run("4", tasks(12, 40))]
    )
    assert len(among.pairs) == 6
    assert not any(pair.beyond_noise["1"] for pair in among.pairs)


def test_several_samples_and_several_k(past_run: Past) -> None:
    one = past_run("one", {f"t{n}": "PW" * 5 for n in range(8)})
    other = past_run("other", {f"t{n}": "P" * 10 for n in range(8)})
    found = compare_runs([one, other])
    assert list(found.pairs[0].by_k) == ["1", "10"]
    assert found.pairs[0].by_k["1"].difference == pytest.approx(0.5)
    assert found.pairs[0].by_k["10"].difference == 0
    assert compare_runs([one, other], ks=[2]).runs[0].pass_at_k.keys() == {"2"}
    with pytest.raises(InputError, match="--k 11: no task has more than 10 samples"):
        compare_runs([one, other], ks=[11])


def test_unscored_samples_and_unequal_n(past_run: Past) -> None:
    one = past_run("one", {"a": "PPP", "b": "H", "c": "PW"})
    other = past_run("other", {"a": "W", "b": "P", "c": "HP"})
    found = compare_runs([one, other])
    paired = found.pairs[0].by_k["1"]
    assert (paired.tasks, paired.unpaired) == (2, 1)  # nothing is known of b in the first run
    assert paired.difference == pytest.approx((-1.0 + 0.5) / 2)
    assert [side.unscored for side in found.runs] == [1, 1]


def test_a_task_that_was_changed_is_left_out(past_run: Past) -> None:
    one = past_run("one", {"a": "P", "b": "P"})
    other = past_run("other", {"a": "W", "b": [{"task_sha256": "another"}]})
    pair = compare_runs([one, other]).pairs[0]
    assert (pair.changed_tasks, pair.by_k["1"].tasks) == (1, 1)


def test_what_else_was_different(past_run: Past) -> None:
    one = past_run("one", tasks(1, 6), limits=Limits(cpu_seconds=1.0))
    other = past_run("other", tasks(2, 6), compare="exact", limits=Limits(cpu_seconds=2.0))
    differs = compare_runs([one, other]).pairs[0].differs
    assert differs == {"compare": (None, "exact"), "limits.cpu_seconds": (1.0, 2.0)}


def test_how_many_tasks_it_would_take(past_run: Past) -> None:
    one, other = past_run("one", tasks(10, 40)), past_run("other", tasks(30, 40))
    assert compare_runs([one, other]).needed == tasks_needed(0.01, p=0.25)
    all_right = past_run("right", tasks(40, 40))
    assert compare_runs([all_right, other]).needed == tasks_needed(-0.01, p=0.95)


def test_what_cannot_be_compared(past_run: Past, tmp_path: Path) -> None:
    one = past_run("one", {"a": "P"})
    with pytest.raises(InputError, match=r"is a run of other, .*/one one of demo"):
        compare_runs([one, past_run("two", {"a": "P"}, benchmark="other")])
    with pytest.raises(InputError, match=r"empty: there are no receipts in it yet"):
        compare_runs([one, past_run("empty", {})])
    with pytest.raises(InputError, match="have no task in common with 1 scored samples"):
        compare_runs([one, past_run("three", {"b": "P"})])
    with pytest.raises(InputError, match="is not a run directory"):
        compare_runs([one, tmp_path / "nowhere"])


def test_an_unfinished_run_says_so(past_run: Past) -> None:
    one = past_run("one", tasks(3, 6))
    found = compare_runs([one, past_run("other", tasks(2, 6), samples=99)])
    assert [side.complete for side in found.runs] == [True, False]
