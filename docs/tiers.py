"""Write docs/concepts/tiers.md: what each tier of the sandbox stops, found by running the corpus.

python docs/tiers.py          run everything in every tier that works here, and write the page
python docs/tiers.py wasm     do so in some tiers, and keep what the page says of the others

The wasm tier needs the setting `wasm`. Tiers that isolate run every program, also those that are
kept from a tier because they cannot land there as they should: what becomes of them is what one
wants to know. The portable tier runs only programs that can do no harm without walls.
"""

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from proctor.checks.hostile_corpus import CLASSES, select_programs
from proctor.checks.selftest import CorpusResult, SelftestResult, run_all
from proctor.errors import SandboxError
from proctor.records.execution import Enforcement
from proctor.sandbox.tiers.select import ORDER, open_sandbox

PAGE = Path(__file__).parent / "concepts" / "tiers.md"
HEAD = "<!-- Written by docs/tiers.py from a real run. Run it again, do not change this file. -->\n"
WORDS = {
    "wrong_answer": "**it got what it wanted**",
    "harness": "**it brought the box down**",
}


BY_WHAT, LANDED = "## By what", "## Programs that landed where they should"


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """What the page says of one tier."""

    walls: Mapping[str, str]
    classes: Mapping[str, str]
    strays: str


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one tier."""

    enforcement: Enforcement
    findings: SelftestResult


def main() -> None:
    """Run the corpus in some tiers, or in every one, and write the page."""
    asked = sys.argv[1:]
    columns: dict[str, Column] = _columns(PAGE.read_text()) if asked else {}
    missing: dict[str, str] = {}
    for tier in asked or ORDER:
        make = partial(open_sandbox, tier, sys.executable)
        try:
            sandbox = make()
        except SandboxError as error:
            missing[tier] = str(error).partition("; proctor doctor")[0]
            continue
        enforcement = sandbox.enforcement()
        sandbox.close()
        trials = select_programs("", "python", quick=True)
        if enforcement.isolated:
            trials = [msgspec.structs.replace(trial, tiers=()) for trial in trials]
        findings = run_all(make, trials, workers=1)
        columns[tier] = _column(tier, Ran(enforcement=enforcement, findings=findings))
        print(f"{tier}: {len(findings.landings)} programs, {findings.seconds:.0f} s")
    known = {tier: columns[tier] for tier in ORDER if tier in columns}
    PAGE.write_text(HEAD + "\n".join(_page(known, missing)) + "\n")


def _column(tier: str, ran: Ran) -> Column:
    return Column(
        walls=ran.enforcement.walls,
        classes=dict(_classes(ran)),
        strays="\n".join(_strays(tier, ran.findings)),
    )


def _columns(page: str) -> dict[str, Column]:
    """Read what a page says of each tier."""
    walls, classes = (_table(page.partition(head)[2]) for head in (BY_WHAT, LANDED))
    sections = re.split(r"^### (\w+)\n", page, flags=re.MULTILINE)[1:]
    strays = dict(zip(sections[::2], sections[1::2], strict=True))
    return {
        tier: Column(
            walls=walls[tier],
            classes=classes[tier],
            strays=f"### {tier}\n{strays[tier].rstrip()}\n",
        )
        for tier in walls
    }


def _table(text: str) -> dict[str, dict[str, str]]:
    """Read a table whose columns are tiers and whose rows have names."""
    lines = [line for line in text.split("\n\n")[1].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {
        tier: {row[0]: row[column] for row in rows[2:]}
        for column, tier in enumerate(rows[0])
        if column
    }


def _page(columns: Mapping[str, Column], missing: Mapping[str, str]) -> Iterator[str]:
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    yield "# What each tier stops\n"
    yield "Every program of the corpus (`tests/corpus/python`) was run in every tier, once, by"
    yield f"{who} on {platform.system()} {platform.release().split('-')[0]}, {platform.machine()}."
    yield "`proctor selftest` runs the same programs on your machine, `proctor doctor` says which"
    yield "tiers work there. Each column is of the day on which its tier was run last, and the"
    yield "corpus grows.\n"
    for tier, why in missing.items():
        yield f"The {tier} tier is not in the tables: {why}.\n"
    yield f"{BY_WHAT}\n"
    yield from _rows("", {tier: column.walls for tier, column in columns.items()}, "not enforced")
    yield f"\n{LANDED}\n"
    classes = {tier: column.classes for tier, column in columns.items()}
    yield from _rows("what programs try", classes, "not run")
    yield "\nA program that lands elsewhere has not always won: an attack that ends with an"
    yield "exception was stopped, too, and what an image of the docker tier or WASI lacks cannot be"
    yield "used there. These are all of them:\n"
    yield from (column.strays for column in columns.values())


def _rows(title: str, cells: Mapping[str, Mapping[str, str]], else_: str) -> Iterator[str]:
    yield f"| {' | '.join((title, *cells))} |"
    yield "|---|" + "---|" * len(cells)
    for name in dict.fromkeys(name for column in cells.values() for name in column):
        yield f"| {' | '.join((name, *(column.get(name, else_) for column in cells.values())))} |"


def _classes(ran: Ran) -> Iterator[tuple[str, str]]:
    for topic, what in CLASSES.items():
        landings = [landing for landing in ran.findings.landings if landing.topic == topic]
        landed = sum(landing.ok for landing in landings)
        yield what, f"{landed} of {len(landings)}" if landings else "not run"


def _strays(tier: str, findings: SelftestResult) -> Iterator[str]:
    yield f"### {tier}\n"
    if findings.skipped:
        names = ", ".join(f"`{name.partition('/')[2]}`" for name in findings.skipped)
        yield f"Not run, because nothing would hold them: {names}.\n"
    strays = [landing for landing in findings.landings if not landing.ok]
    if not strays:
        yield "None.\n"
        return
    yield "| program | what it tries | what came of it |\n|---|---|---|"
    for landing in strays:
        name = landing.program.removeprefix("python/")
        yield f"| `{name}` | {CLASSES[landing.topic]} | {_came(landing)} |"
    yield ""
    for left in findings.left:
        yield f"Left on the host: `{left}`\n"


def _came(landing: CorpusResult) -> str:
    detail = " ".join(landing.detail.split()).replace("|", "\\|")[:90]
    attack = landing.topic not in ("honest", "mistakes")
    return f"{WORDS.get(landing.got, '') if attack else ''} {landing.got}: {detail}".strip()


if __name__ == "__main__":
    main()
