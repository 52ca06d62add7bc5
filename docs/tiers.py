"""Write docs/concepts/tiers.md: what each tier of the sandbox stops, found by running the corpus.

python docs/tiers.py    run everything in every tier that works here, and write the page

Tiers that isolate run every program, also those that are kept from a tier because they cannot land
there as they should: what becomes of them is what one wants to know. The portable tier runs only
programs that can do no harm without walls.
"""

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from proctor.errors import SandboxError
from proctor.sandbox import Enforcement
from proctor.sandbox.choose import ORDER, open_sandbox
from proctor.selftest import Findings, Landing, run_all
from proctor.trials import CLASSES, chosen_trials

PAGE = Path(__file__).parent / "concepts" / "tiers.md"
HEAD = "<!-- Written by docs/tiers.py from a real run. Run it again, do not change this file. -->\n"
WORDS = {
    "wrong_answer": "**it got what it wanted**",
    "harness": "**it brought the box down**",
}


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one tier."""

    enforcement: Enforcement
    findings: Findings


def main() -> None:
    """Run the corpus in every tier and write the page."""
    ran: dict[str, Ran] = {}
    missing: dict[str, str] = {}
    for tier in ORDER:
        make = partial(open_sandbox, tier, sys.executable)
        try:
            sandbox = make()
        except SandboxError as error:
            missing[tier] = str(error).partition("; proctor doctor")[0]
            continue
        enforcement = sandbox.enforcement()
        sandbox.close()
        trials = chosen_trials("", quick=True)
        if enforcement.isolated:
            trials = [msgspec.structs.replace(trial, tiers=()) for trial in trials]
        findings = run_all(make, trials, workers=1)
        ran[tier] = Ran(enforcement=enforcement, findings=findings)
        print(f"{tier}: {len(findings.landings)} programs, {findings.seconds:.0f} s")
    PAGE.write_text(HEAD + "\n".join(_page(ran, missing)) + "\n")


def _page(ran: Mapping[str, Ran], missing: Mapping[str, str]) -> Iterator[str]:
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    yield "# What each tier stops\n"
    yield "Every program of the corpus (`tests/corpus/python`) was run in every tier, once, by"
    yield f"{who} on {platform.system()} {platform.release().split('-')[0]}, {platform.machine()}."
    yield "`proctor selftest` runs the same programs on your machine, `proctor doctor` says which"
    yield "tiers work there.\n"
    for tier, why in missing.items():
        yield f"The {tier} tier is not in the tables: {why}.\n"
    yield "## By what\n"
    yield from _walls(ran)
    yield "\n## Programs that landed where they should\n"
    yield from _classes(ran)
    yield "\nA program that lands elsewhere has not always won: an attack that ends with an"
    yield "exception was stopped, too, and what an image of the docker tier lacks cannot be used"
    yield "there. These are all of them:\n"
    for tier, one in ran.items():
        yield from _strays(tier, one.findings)


def _walls(ran: Mapping[str, Ran]) -> Iterator[str]:
    yield f"| | {' | '.join(ran)} |"
    yield "|---|" + "---|" * len(ran)
    names = dict.fromkeys(name for one in ran.values() for name in one.enforcement.walls)
    for name in names:
        cells = (one.enforcement.walls.get(name, "not enforced") for one in ran.values())
        yield f"| {name} | {' | '.join(cells)} |"


def _classes(ran: Mapping[str, Ran]) -> Iterator[str]:
    yield f"| what programs try | {' | '.join(ran)} |"
    yield "|---|" + "---|" * len(ran)
    for topic, what in CLASSES.items():
        cells = []
        for one in ran.values():
            landings = [landing for landing in one.findings.landings if landing.topic == topic]
            landed = sum(landing.ok for landing in landings)
            cells.append(f"{landed} of {len(landings)}" if landings else "not run")
        yield f"| {what} | {' | '.join(cells)} |"


def _strays(tier: str, findings: Findings) -> Iterator[str]:
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
        yield f"| `{landing.program}` | {CLASSES[landing.topic]} | {_came(landing)} |"
    yield ""
    for left in findings.left:
        yield f"Left on the host: `{left}`\n"


def _came(landing: Landing) -> str:
    detail = " ".join(landing.detail.split()).replace("|", "\\|")[:90]
    attack = landing.topic not in ("honest", "mistakes")
    return f"{WORDS.get(landing.got, '') if attack else ''} {landing.got}: {detail}".strip()


if __name__ == "__main__":
    main()
