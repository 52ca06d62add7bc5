#!/usr/bin/env python3
"""Check that a change to the code leaves every verdict as it was.

    same_receipts.py record BEFORE --data DATA    judge everything below with the `proctor` on PATH
    ... change the code ...
    same_receipts.py record AFTER --data DATA
    same_receipts.py compare BEFORE AFTER         print every sample that differs; exit status 1 if any

`record` judges the hostile corpus in the kernel and contained tiers, the references of HumanEval,
MBPP, HumanEval+, MBPP+ and HumanEval-X, the answers of `basics`, answers to MultiPL-E made of
HumanEval-X references, and recorded answers of real models. `--only PATTERN` takes some of them; runs
that are in the folder already are skipped.

`compare` ignores what may differ between two hosts or moments: in receipts the host, times, usage and
attempts, and time limits that were measured with the reference solution, if they are within 30 %; in
manifests the host, the time, the path of the tasks and the versions of software.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

REFERENCES = (
    "basics",
    "cpp-context",
    "humaneval",
    "mbpp",
    "humaneval+",
    "mbpp+",
    "humaneval-x-cpp",
    "humaneval-x-go",
    "humaneval-x-java",
    "humaneval-x-js",
    "humaneval-x-rust",
)
TRANSLATED = {
    "multipl-e-cpp": ("cpp", "multipl-e/humaneval-cpp.jsonl.gz"),
    "multipl-e-go": ("go", "multipl-e/humaneval-go.jsonl.gz"),
    "multipl-e-java": ("java", "multipl-e/humaneval-java.jsonl.gz"),
    "multipl-e-js": ("js", "multipl-e/humaneval-js.jsonl.gz"),
    "multipl-e-rs": ("rust", "multipl-e/humaneval-rs.jsonl.gz"),
    "multipl-e-ts": ("js", "multipl-e/humaneval-ts.jsonl.gz"),
}
"""MultiPL-E benchmark: the HumanEval-X language whose references answer it, and its rows."""
LDB_MODELS = ("codellama", "gpt-3.5-turbo-0613", "starcoder")
CHAT_MODELS = 10
IGNORED_IN_RECEIPTS = {"host", "usage", "attempts"}
IGNORED_IN_MANIFESTS = {"host", "created", "source", "versions"}
VOLATILE = re.compile(r"0x[0-9a-f]{6,}|finished in [0-9.]+s")
"""Addresses, and the times that test harnesses of Rust print."""
SHOWN = 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--data", type=Path, required=True)
    recording.add_argument("--only", default="*")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    args = parser.parse_args()
    if args.command == "record":
        record(args.folder, args.data, args.only)
        return 0
    return compare(args.before, args.after)


def record(folder: Path, data: Path, only: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for tier in ("kernel", "contained"):
        record_corpus(folder / f"corpus-{tier}.json", tier, only)
    for name, command in commands_for(folder, data):
        if fnmatch(name, only) and not (folder / name / "report.json").exists():
            print(name, flush=True)
            proctor(*command, "--out", folder / name)


def record_corpus(path: Path, tier: str, only: str) -> None:
    if fnmatch(path.stem, only) and not path.exists():
        print(path.stem, flush=True)
        found = proctor("selftest", "--sandbox", tier, "--workers", "2", "--json")
        path.write_text(found)


def commands_for(folder: Path, data: Path) -> Iterator[tuple[str, list[Any]]]:
    """Yield a name for each run and the command that makes it."""
    there = ["--data", data]
    for name in REFERENCES:
        yield name, ["run", name, "--model", "reference", *there]
    yield "basics-wrong", ["run", "basics", "--model", "wrong"]
    for name, (language, rows) in TRANSLATED.items():
        samples = translate(folder / f"{name}.jsonl", data, language, data / rows)
        yield name, ["score", name, "--completions", samples, "--partial", *there]
    for model in LDB_MODELS:
        samples = data / f"recorded/ldb-humaneval/{model}.jsonl.gz"
        against = ["--against", "is_solved", "--preamble", "base"]
        yield f"ldb-{model}", ["score", "humaneval", "--completions", samples, *against, *there]
    mbpp = data / "recorded/ldb-mbpp"
    samples = mbpp / "gpt-3.5-turbo-0613.jsonl.gz"
    yield (
        "ldb-mbpp",
        ["score", mbpp / "tests.jsonl.gz", "--completions", samples, "--preamble", "base"],
    )
    agentcoder = data / "recorded/agentcoder-mbpp/zero_shot_gpt-3.5-turbo_0_mbpp.json.gz"
    yield (
        "agentcoder",
        [
            *("score", "mbpp-sanitized", "--completions", agentcoder, "--preamble", "base"),
            *("--solution-field", "full_code", "--partial", "--timeout", "30", *there),
        ],
    )
    for name, samples in chat_completions(folder, data):
        yield name, ["score", "humaneval", "--completions", samples, "--partial", *there]


def translate(path: Path, data: Path, language: str, rows: Path) -> Path:
    """Write the references of HumanEval-X as answers to the same problems of MultiPL-E."""
    answers = {}
    for row in read_rows(data / f"humaneval-x/humaneval_{language}.jsonl.gz"):
        number = row["task_id"].split("/")[1]
        answers[number] = row["declaration"] + row["canonical_solution"]
    samples = []
    for row in read_rows(rows):
        number = row["name"].split("_")[1]
        sample = {"task_id": row["name"], "completion": f"```\n{answers[number]}\n```"}
        samples.append(json.dumps(sample) + "\n")
    path.write_text("".join(samples))
    return path


def chat_completions(folder: Path, data: Path) -> Iterator[tuple[str, Path]]:
    """Unpack the answers of some chat models."""
    packed = data / "recorded/chat-completions/humaneval-93-models.tar.gz"
    with tarfile.open(packed) as archive:
        members = sorted((m for m in archive if m.isfile()), key=lambda member: member.name)
        for place, member in enumerate(members[:: len(members) // CHAT_MODELS]):
            path = folder / f"chat-{place}.jsonl"
            content = archive.extractfile(member)
            assert content is not None
            path.write_bytes(content.read())
            yield path.stem, path


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def proctor(*args: object) -> str:
    """Run a command; degraded runs and failed gates (exit status 1) are results, too."""
    done = subprocess.run(
        ["proctor", *map(str, args)], stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"proctor {' '.join(map(str, args))}: exit status {done.returncode}")
    return done.stdout


def compare(before: Path, after: Path) -> int:
    """Print what differs, and return 1 if anything does."""
    names = {path.name for folder in (before, after) for path in recordings(folder)}
    differences, samples = [], 0
    for name in sorted(names):
        one, other = records(before / name), records(after / name)
        samples += len(one)
        for key in sorted(one.keys() | other.keys(), key=str):
            title = f"{name} {' '.join(map(str, key))}"
            found = differing(one.get(key), other.get(key))
            differences += [f"{title}: {line}" for line in found]
    for line in differences[:SHOWN]:
        print(line[:300])
    print(f"{len(differences)} differences in {samples} records of {len(names)} recordings")
    return 1 if differences or not samples else 0


def recordings(folder: Path) -> Iterator[Path]:
    yield from folder.glob("corpus-*.json")
    yield from (path.parent for path in folder.glob("*/receipts.jsonl"))


def records(path: Path) -> dict[tuple[Any, ...], Any]:
    """Read a recording as key: record, without what may differ between two hosts or moments."""
    if not path.exists():
        return {}
    if path.suffix == ".json":
        found = json.loads(path.read_text())
        return {(one["program"], one["kind"]): normalize(one) for one in found["landings"]}
    manifest = json.loads((path / "manifest.json").read_text())
    kept = {key: value for key, value in manifest.items() if key not in IGNORED_IN_MANIFESTS}
    result: dict[tuple[Any, ...], Any] = {("manifest",): kept}
    for line in (path / "receipts.jsonl").read_text().splitlines():
        receipt = json.loads(line)
        for test in receipt["tests"]:
            test.pop("seconds", None)
        kept = {key: value for key, value in receipt.items() if key not in IGNORED_IN_RECEIPTS}
        result[receipt["task_id"], receipt["sample"]] = normalize(kept)
    return result


def normalize(value: Any) -> Any:
    """Replace addresses of objects, which no two runs share."""
    return json.loads(VOLATILE.sub("0x0", json.dumps(value)))


def differing(before: Any, after: Any) -> Iterator[str]:
    if before is None or after is None:
        yield "only in " + ("after" if before is None else "before")
        return
    for field in sorted(before.keys() | after.keys()):
        old, new = before.get(field), after.get(field)
        if old != new and not (field == "limits" and are_alike(old, new)):
            yield f"{field} was {json.dumps(old)[:120]}, is {json.dumps(new)[:120]}"


def are_alike(old: dict[str, Any] | None, new: dict[str, Any] | None) -> bool:
    """Return whether limits differ in their seconds only, and by at most 30 %."""
    if old is None or new is None:
        return False
    rest = [{k: v for k, v in one.items() if "seconds" not in k} for one in (old, new)]
    ratio = old["wall_seconds"] / new["wall_seconds"]
    return rest[0] == rest[1] and 1 / 1.3 <= ratio <= 1.3


if __name__ == "__main__":
    sys.exit(main())
