"""The gate: it passes what is sound, and names the right line for each defect that is planted."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.checks.qa.gate import LINES, GateResult
from proctor.records.receipt import Receipt
from proctor.results.summary import summarize
from proctor.storage.run_directory import pretty

Proctor = Callable[..., Any]
Write = Callable[..., Path]
TASKS = 8
QUICK = 'tier = "portable"\nskip = ["references", "receipts"]\n'
WHOLE = 'tier = "portable"\nverify_share = 1.0\n'


def rows(wrong_reference: int | None = None) -> list[dict[str, Any]]:
    return [
        {
            "task_id": f"demo/{n}",
            "prompt": "def add(a, b):\n",
            "entry_point": "add",
            "tests": {"kind": "assertions", "targets": [f"add({n}, 2) == {n + 2}"]},
            "canonical_solution": f"    return a + b + {int(n == wrong_reference)}\n",
        }
        for n in range(TASKS)
    ]


@pytest.fixture
def samples(jsonl: Write) -> Callable[..., Path]:
    """Return a function that writes answers, some of them right."""

    def write(name: str, right: int) -> Path:
        answers = [f"    return a + b + {int(n >= right)}\n" for n in range(TASKS)]
        return jsonl(
            f"{name}.jsonl",
            [{"task_id": f"demo/{n}", "completion": text} for n, text in enumerate(answers)],
        )

    return write


@pytest.fixture
def demo(jsonl: Write, relied_on: Callable[..., Any], alone: Path) -> Path:
    """Return a benchmark that is relied on."""
    del alone
    path = jsonl("demo.jsonl", rows())
    relied_on(path)
    return path


@pytest.fixture
def run(proctor: Proctor, demo: Path, samples: Callable[..., Path]) -> Callable[..., Path]:
    """Return a function that makes a run of which so many of eight samples pass."""

    def make(name: str, right: int = 6, *flags: object) -> Path:
        answers = samples(f"{name}-samples", right)
        ran = proctor("score", demo, "--completions", answers, "--out", name, *flags)
        assert ran.status in (0, 1), ran.err
        return Path(name)

    return make


@pytest.fixture
def gate(proctor: Proctor) -> Callable[..., GateResult]:
    """Return a function that has a run looked at; its exit status goes with what it says."""

    def look(subject: Path, policy: str, *flags: object) -> GateResult:
        Path("qa.toml").write_text(policy)
        ran = proctor("qa", subject, "--policy", "qa.toml", "--json", *flags)
        checked = msgspec.json.decode(ran.out, type=GateResult)
        assert ran.status == (0 if checked.passed else 1)
        return checked

    return look


def failing(checked: GateResult) -> dict[str, str]:
    return {
        line.line: line.evidence
        for one in checked.gates
        for line in one.lines
        if line.passed is False
    }


def test_what_is_sound_passes(
    run: Callable[..., Path], proctor: Proctor, samples: Callable[..., Path], alone: Path
) -> None:
    sound, old = run("sound"), run("old", 7)
    bad = samples("bad", 0)
    Path("qa.toml").write_text(
        f'{WHOLE}[benchmark.demo]\nbaseline = "{old}"\n'
        "[benchmark.demo.pass_at_k]\n1 = 0.7\n[benchmark.demo.interval_width]\n1 = 0.9\n"
        '[[benchmark.demo.smoke]]\nname = "good"\nmodel = "reference"\ntasks = 4\nlow = 1\nhigh = 1\n'
        f'[[benchmark.demo.smoke]]\nname = "bad"\nmodel = "recorded:{bad}"\nlow = 0\nhigh = 0.1\n'
    )
    ran = proctor("qa", sound, "--policy", "qa.toml", "--badge", "badge.svg")
    assert ran.status == 0, ran.out
    assert "FAIL" not in ran.out
    assert ran.out.endswith("\n  passed\n")
    for line in (*LINES, "smoke good", "smoke bad"):
        assert f"  ok   {line:<11} " in ran.out
    badge = (alone / "badge.svg").read_text()
    assert "proctor qa: passed · demo pass@1 75.0 %" in badge
    assert ET.fromstring(badge).tag.endswith("svg")


def test_receipts_that_are_missing(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    folder = run("cut")
    lines = (folder / "receipts.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "receipts.jsonl").write_bytes(b"".join(lines[:-1]))
    found = failing(gate(folder, QUICK))
    assert found["complete"] == "7 of 8 samples have a receipt"
    assert "it says samples 8, the receipts say 7" in found["report"]
    assert set(found) == {"complete", "report"}


def test_a_report_that_is_missing(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    folder = run("unfinished")
    (folder / "report.json").unlink()
    assert set(failing(gate(folder, QUICK))) == {"complete", "report"}


def test_a_report_that_says_something_else(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    folder = run("boasting")
    report = json.loads((folder / "report.json").read_text())
    report["pass_at_k"]["1"]["value"] = 0.99
    (folder / "report.json").write_text(json.dumps(report))
    assert failing(gate(folder, QUICK)) == {"report": "it says pass@1 0.99, the receipts say 0.75"}


def test_a_part_of_the_benchmark(
    proctor: Proctor, demo: Path, gate: Callable[..., GateResult]
) -> None:
    assert proctor("run", demo, "--model", "reference", "--samples", 5, "--out", "part").status == 0
    assert failing(gate(Path("part"), QUICK)) == {"whole": "5 of 8 tasks were run"}


def test_other_limits(run: Callable[..., Path], gate: Callable[..., GateResult]) -> None:
    found = failing(gate(run("slower", 6, "--timeout", "20"), QUICK))
    assert set(found) == {"whole"}
    assert "their limits were changed" in found["whole"]


def test_samples_that_nobody_judged(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    found = failing(gate(run("late", 6, "--benchmark-timeout", "0"), QUICK))
    assert set(found) == {"scored"}
    assert found["scored"].startswith("8 samples are unscored, not wrong; not graded within 0 s")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"created": "2020-01-01T00:00:00+00:00"},
            "it kept its contract on 2020-01-01, too long ago",
        ),
        ({"in_rotation": False, "reason": "lazy: it accepts None"}, "lazy: it accepts None"),
    ],
)
def test_a_contract_that_is_not_kept(
    run: Callable[..., Path],
    gate: Callable[..., GateResult],
    demo: Path,
    relied_on: Callable[..., Any],
    changes: dict[str, Any],
    said: str,
) -> None:
    folder = run("sound")
    relied_on(demo, **changes)
    found = failing(gate(folder, QUICK))
    assert set(found) == {"contract"}
    assert found["contract"].startswith(said)


def test_a_reference_that_fails_here(
    jsonl: Write,
    run: Callable[..., Path],
    gate: Callable[..., GateResult],
    relied_on: Callable[..., Any],
) -> None:
    relied_on(jsonl("demo.jsonl", rows(wrong_reference=3)))
    found = failing(gate(run("sound"), WHOLE))
    assert found == {"references": "7 of 8 pass"}


def test_a_verdict_that_somebody_changed(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    folder = run("forged")
    lines = [
        msgspec.json.decode(line, type=Receipt)
        for line in (folder / "receipts.jsonl").read_bytes().splitlines()
    ]
    lines.sort(key=lambda one: one.task_id)  # two workers finish in any order
    lines[7] = msgspec.structs.replace(
        lines[0], task_id="demo/7", task_sha256=lines[7].task_sha256,
        completion_sha256=lines[7].completion_sha256,
    )  # fmt: skip
    (folder / "receipts.jsonl").write_bytes(b"".join(msgspec.json.encode(x) + b"\n" for x in lines))
    (folder / "report.json").write_bytes(pretty(summarize(folder)))
    found = failing(gate(folder, WHOLE))
    assert set(found) == {"receipts"}
    assert "demo/7 #0 was passed and is wrong_answer" in found["receipts"]


def test_an_answer_that_somebody_changed(
    run: Callable[..., Path], gate: Callable[..., GateResult]
) -> None:
    folder = run("retold")
    text = (folder / "completions.jsonl").read_text()
    (folder / "completions.jsonl").write_text(text.replace("a + b + 1", "a + b + 0"))
    found = failing(gate(folder, WHOLE))
    assert set(found) == {"receipts"}
    assert "is not what was judged; the file was changed since" in found["receipts"]


def test_walls_that_are_too_low(run: Callable[..., Path], gate: Callable[..., GateResult]) -> None:
    folder = run("open", 6, "--sandbox", "portable")
    found = failing(gate(folder, QUICK.replace("portable", "contained")))
    assert found == {"tier": "portable, not isolated; contained or better is asked for"}


@pytest.mark.parametrize(
    ("demand", "line", "said"),
    [
        ("[benchmark.demo.interval_width]\n1 = 0.1", "interval", "points wide, 10.0 may be"),
        ("[benchmark.demo.interval_width]\n10 = 0.1", "interval", "no task has more than 1 samples"),
        ("[benchmark.demo.pass_at_k]\n1 = 0.8", "pass@k", "75.0 %, at least 80.0 % is asked for"),
        ("[benchmark.demo.pass_at_k]\n10 = 0.1", "pass@k", "no task has more than 1 samples"),
        ("[benchmark.demo]\nbaseline = 'nowhere'", "baseline", "it cannot be looked at: "),
        ("[benchmark.demo]\nbaseline = 'sound'", "baseline", "it is the baseline itself"),
    ],
)  # fmt: skip
def test_figures_that_are_not_good_enough(
    run: Callable[..., Path], gate: Callable[..., GateResult], demand: str, line: str, said: str
) -> None:
    found = failing(gate(run("sound"), f"{QUICK}{demand}\n"))
    assert set(found) == {line}
    assert said in found[line]


def test_a_regression(run: Callable[..., Path], gate: Callable[..., GateResult]) -> None:
    run("old", 8)
    demand = f'{QUICK}[benchmark.demo]\nbaseline = "old"\n'
    assert gate(run("a little worse", 7), demand).passed
    found = failing(gate(run("much worse", 1), demand))
    assert set(found) == {"baseline"}
    assert "-87.5 points over 8 tasks, beyond noise" in found["baseline"]
    assert "worse on demo/1" in found["baseline"]


def test_known_models_that_score_otherwise(
    run: Callable[..., Path], gate: Callable[..., GateResult], samples: Callable[..., Path]
) -> None:
    half = samples("half", 4)
    bands = "".join(
        f'[[benchmark.demo.smoke]]\nname = "{name}"\n{what}\nlow = {low}\nhigh = {high}\n'
        for name, what, low, high in (
            ("good", f'model = "recorded:{half}"', 0.9, 1.0),
            ("bad", f'run = "{run("known", 4)}"', 0.0, 0.1),
            ("fine", f'model = "recorded:{half}"', 0.4, 0.6),
        )
    )
    found = failing(gate(run("sound"), QUICK + bands))
    assert set(found) == {"smoke good", "smoke bad"}
    assert "pass@1 50.0 % of 8 tasks" in found["smoke good"]


def test_what_is_skipped_is_said(run: Callable[..., Path], gate: Callable[..., GateResult]) -> None:
    [one] = gate(run("sound"), QUICK).gates
    said = {line.line: line.evidence for line in one.lines if line.passed is None}
    assert said == {
        "references": "skipped: the policy does not ask for it",
        "receipts": "skipped: the policy does not ask for it",
        "interval": "not asked for",
        "pass@k": "not asked for",
        "baseline": "not asked for",
    }


def test_a_badge_that_says_no(
    run: Callable[..., Path], gate: Callable[..., GateResult], alone: Path
) -> None:
    demand = f"{QUICK}[benchmark.demo.pass_at_k]\n1 = 0.8\n"
    gate(run("sound"), demand, "--badge", "badge.svg")
    assert "proctor qa: not passed" in (alone / "badge.svg").read_text()


@pytest.mark.parametrize(
    ("subject", "policy", "said"),
    [
        ("nowhere", "", "nowhere is no run directory; for a checkpoint, say by --results"),
        ("nowhere", "nonsense = 1", "qa.toml: field nonsense is not known"),
    ],
)
def test_bad_input(proctor: Proctor, subject: str, policy: str, said: str) -> None:
    Path("qa.toml").write_text(policy)
    ran = proctor("qa", subject, "--policy", "qa.toml")
    assert ran.status == 2
    assert ran.complaint.startswith(said)
