"""Write docs/reference from the code, so that it cannot say anything else.

python docs/generate.py          write the files
python docs/generate.py --check  exit with 1 if any of them is out of date
"""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import proctor
from proctor.axes.measure import Axes
from proctor.benchmarks import TABLE, tasks_file
from proctor.benchmarks.source import Declaration
from proctor.benchmarks.suites import SUITES
from proctor.checks.contract import LINES
from proctor.checks.contract.result import Result as Contract
from proctor.checks.qa.gate import GateResult
from proctor.checks.qa.policy import Policy
from proctor.cli.app import SUMMARIES, load
from proctor.grading.generate import About
from proctor.integrations import hf_code_eval, trainers
from proctor.judge.comparators import PROFILES
from proctor.measure.parity import Parity
from proctor.measure.perplexity import Perplexity
from proctor.measure.throughput import Throughput
from proctor.records.completion import Completion
from proctor.records.receipt import Manifest, Receipt
from proctor.records.verdict import OUTCOMES
from proctor.results.summary import SuiteSummary, Summary
from proctor.server import openapi
from proctor.settings import Settings
from proctor.watch.config import Config
from proctor.watch.job_state import Evaluated
from proctor.watch.status import Status

HERE = Path(__file__).parent / "reference"
HEAD = "<!-- Written by docs/generate.py. Change the code, not this file. -->\n\n"


def cli() -> Iterator[str]:
    """Yield every command with its arguments and options."""
    yield "# Commands\n"
    for name in sorted(SUMMARIES):
        command = load(name)
        yield from page(name, command)
        for part, below in sorted(getattr(command, "commands", {}).items()):
            yield from page(f"{name} {part}", below)


def page(name: str, command: Any) -> Iterator[str]:
    """Yield what one command takes."""
    yield f"## proctor {name}\n\n{inspect.cleandoc(command.help or '')}\n"
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join(p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments)
    yield f"    proctor {name} {usage} [OPTIONS]".replace("  [", " [") + "\n"
    yield "| option | meaning | default |\n|---|---|---|"
    for param in command.params:
        if param.param_type_name == "argument" or param.name == "help":
            continue
        shown = "the Python that runs proctor" if param.name == "python" else param.default
        default = "" if shown in (None, False, "") or shown == () else f"`{shown}`"
        yield f"| `{' '.join(param.opts)}` | {getattr(param, 'help', '') or ''} | {default} |"
    yield ""


def python() -> Iterator[str]:
    """Yield the names that `from proctor import …` gives."""
    yield "# From Python\n"
    for name in proctor.__all__:
        value = getattr(proctor, name)
        if callable(value):
            yield f"## {name}\n\n```python\n{name}{inspect.signature(value)}\n```\n"
            yield f"{inspect.getdoc(value)}\n"
        elif name.startswith("EXIT_"):
            yield f"## {name}\n\n`{value!r}`\n"
        else:
            yield f"## {name}\n\nText of {len(str(value).splitlines())} lines of imports.\n"
    for module in (trainers, hf_code_eval):
        yield f"# {module.__name__}\n\n{inspect.getdoc(module)}\n"
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_":
                yield f"## {name}\n\n```python\n{name}{inspect.signature(value)}\n```\n"
                yield f"{inspect.getdoc(value)}\n"


def formats() -> Iterator[str]:
    """Yield the JSON Schemas of all files."""
    yield "# Files\n\nJSON Schemas of what Proctor reads and writes, one record a line."
    for title, kind in (
        ("A line of a tasks file", tasks_file.Row),
        ("A line of completions.jsonl", Completion),
        ("A line of receipts.jsonl", Receipt),
        ("manifest.json", Manifest),
        ("report.json", Summary),
        ("FILE.about.json, beside what `proctor generate` writes", About),
        ("What `proctor run A,B --json` prints", SuiteSummary),
        ("What `proctor perplexity --json` prints", Perplexity),
        ("What `proctor parity --json` prints", Parity),
        ("axes.json, and what `proctor axes --json` prints", Axes),
        ("A row of what `proctor bench model --json` prints", Throughput),
        ("What `proctor contract --json` prints, and --out writes", Contract),
        ("NAME.contract.toml, beside a tasks file", Declaration),
        ("CONFIG.toml of `proctor watch`", Config),
        ("evaluated.json, and what `proctor watch --status --json` prints of each job", Evaluated),
        ("What `proctor watch --status --json` prints", Status),
        ("qa.toml, the policy of `proctor qa`", Policy),
        ("What `proctor qa --json` prints", GateResult),
        ("proctor.toml", Settings),
    ):
        schema = json.dumps(msgspec.json.schema(kind), indent=1, default=str)
        yield f"\n## {title}\n\n```json\n{schema}\n```"


def outcomes() -> Iterator[str]:
    """Yield the table of outcomes and buckets."""
    yield "# Outcomes and buckets\n\n| bucket | outcome |\n|---|---|"
    for bucket, outcome in OUTCOMES.items():
        yield f"| `{bucket}` | {f'`{outcome}`' if outcome else 'unscored'} |"


def benchmarks() -> Iterator[str]:
    """Yield the benchmarks and comparators that are known by name."""
    yield "# Benchmarks and comparators\n\n| name | tasks | what | licence | sha256 |"
    yield "|---|---|---|---|---|"
    for source in TABLE.values():
        row = f"| `{source.name}` | {source.tasks or ''} | {source.summary} | {source.licence} "
        yield row + (f"| `{source.sha256[:16]}…` |" if source.sha256 else "| |")
    yield "\nLines of [the contract](../guides/contract.md):\n\n| line | says |\n|---|---|"
    for name, line in LINES.items():
        yield f"| `{name}` | {line.says} |"
    names = ", ".join(f"`{name}`" for name in PROFILES)
    yield f"\nComparators by name: {names}"
    yield "and `float(abs, rel)`, `evalplus(abs)`; [what each accepts](../concepts/comparing.md)."
    yield "\nSuites, which `proctor run` takes like benchmarks:\n"
    for name, names in SUITES.items():
        yield f"- `{name}`: {', '.join(names)}"


def api() -> Iterator[str]:
    """Yield the native API of the service."""
    yield "# The API of `proctor serve`\n\nThe service itself shows this at `/schema`, and"
    yield "as OpenAPI at `/schema/openapi.json`; [how to use it](../guides/service.md)."
    for one in openapi.OPERATIONS:
        yield f"\n## {one.method.upper()} {one.path}\n\n{one.about}"
        yield f"Needs the scope `{one.scope}`." if one.scope else "Needs no key."
        for name, place, about in one.parameters:
            yield f"- `{name}` ({place}): {about}"
        for verb, kind in (("Takes", one.takes), ("Gives", one.gives)):
            if kind not in (None, str):
                yield f"- {verb} `{inspect.formatannotation(kind)}`".replace(
                    "proctor.client.schema.", ""
                )
    whole = json.loads(openapi.document())
    yield "\n## Records"
    for name, schema in whole["components"]["schemas"].items():
        yield f"\n### {name}\n\n```json\n{json.dumps(schema, indent=1)}\n```"


PAGES = {
    "cli.md": cli,
    "api.md": api,
    "python.md": python,
    "formats.md": formats,
    "outcomes.md": outcomes,
    "benchmarks.md": benchmarks,
}


def render(page: str) -> str:
    """Return the text of one page."""
    return HEAD + "\n".join(PAGES[page]()) + "\n"


def main() -> None:
    """Write all pages, or check them."""
    stale = []
    for page in PAGES:
        path = HERE / page
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(render(page))
        elif not path.exists() or path.read_text() != render(page):
            stale.append(page)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run python docs/generate.py")


if __name__ == "__main__":
    main()
