"""A candidate in its place in a repository: compiled there, linked with the rest and with tests.

The candidate's translation unit is compiled by itself, with the compiler and flags that the task
declares: that alone says whether it compiles. What the rest of the repository is compiled to is
kept. Tests are a unit of their own, which no candidate can include, and see only headers.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from proctor.judge.conversation import CandidateEnded
from proctor.judge.live_tests import UnfitError
from proctor.languages.compiler import BuildRecipe, CompileFailure, bucket_of, unpack_files
from proctor.languages.toolchain import Toolchain, find_toolchain
from proctor.records.execution import Execution, Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.repository import UNITS, Repository
from proctor.records.verdict import Bucket
from proctor.sandbox import Sandbox
from proctor.sandbox.toolchains.runner import ToolchainRunner

TESTS = "main.cpp"
STRUCTURED, WITH_JSON = "-fdiagnostics-format=json", range(9, 16)
"""Later versions of g++ have other formats only."""
MAX_DIAGNOSTICS, MAX_MESSAGE = 20, 200


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a compiler says of a place; what it says is for people only."""

    kind: str
    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.kind}: {self.message}"


def run(
    sandbox: Sandbox, context: Repository, program: Program, tests: str, limits: Limits
) -> Execution | CandidateEnded:
    """Compile a candidate where it belongs, link it with the rest and with tests, run that."""
    runner, toolchain = sandbox.native(program.language), find_toolchain(program.language)
    files = {path: text.encode("utf-8", "surrogatepass") for path, text in context.files.items()}
    unit = {**files, context.unit: program.source.encode("utf-8", "surrogatepass")}
    outcome = runner.build_recipe(toolchain, _compiling(toolchain, context, context.unit, unit))
    if isinstance(outcome, CompileFailure):
        return refusal(outcome)
    objects = {"unit.o": unpack_files(outcome.files)["unit.o"]}
    objects |= _rest(runner, toolchain, context, files)
    headers = {path: data for path, data in files.items() if not path.endswith(UNITS)}
    flags = context.flags_of(context.unit)
    linked = runner.build_recipe(
        toolchain,
        BuildRecipe(
            files={**headers, **objects, TESTS: tests.encode("utf-8", "surrogatepass")},
            steps=[[toolchain.commands["g++"], *flags, "-o", "main", TESTS, *objects]],
            products=["main"],
        ),
    )
    if isinstance(linked, CompileFailure):
        return linked.execution
    nothing = Program(source="", language=program.language)
    return runner.run(toolchain, nothing, limits, b"", linked.files)


def _compiling(
    toolchain: Toolchain, context: Repository, file: str, files: Mapping[str, bytes]
) -> BuildRecipe:
    """Return what compiles one unit of a repository."""
    words = [*context.flags_of(file), *structured(), "-c", file, "-o", "unit.o"]
    return BuildRecipe(
        files=files, steps=[[toolchain.commands["g++"], *words]], products=["unit.o"]
    )


@cache
def structured() -> tuple[str, ...]:
    """Return the flag by which the compiler lists what it found as JSON, if it has one."""
    number = re.search(r"(\d+)\.\d+", find_toolchain("cpp").version)
    return (STRUCTURED,) if number and int(number[1]) in WITH_JSON else ()


def _rest(
    runner: ToolchainRunner, toolchain: Toolchain, context: Repository, files: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return what all other units of a repository are compiled to."""
    units = {context.unit, *context.sources}
    shared = {path: data for path, data in files.items() if path not in units}
    objects = {}
    for number, file in enumerate(context.sources):
        recipe = _compiling(toolchain, context, file, {**shared, file: files[file]})
        outcome = runner.build_recipe(toolchain, recipe)
        if isinstance(outcome, CompileFailure):
            raise UnfitError(f"context_broken: {file} does not compile: {refusal(outcome).detail}")
        objects[f"rest{number}.o"] = unpack_files(outcome.files)["unit.o"]
    return objects


def refusal(refused: CompileFailure) -> CandidateEnded:
    """Say why a unit did not compile.

    A compiler that ends without any list of what it found ran out of something: only that it is
    there counts, never what it says.
    """
    execution = refused.execution
    bucket = bucket_of(execution)
    said = execution.stderr.decode("utf-8", "replace")
    found = diagnostics(said)
    listed = "[" in said or not structured()
    if bucket is Bucket.COMPILE and isinstance(execution.ending, Exited) and not listed:
        bucket = Bucket.COMPILE_RESOURCE
    lines = [str(one) for one in found if one.kind != "warning"]
    return CandidateEnded(bucket, "\n".join(lines) or said.strip()[:MAX_MESSAGE])


def diagnostics(said: str) -> list[Diagnostic]:
    """Read what a compiler lists as JSON, as far as it is whole and as much as one wants to see."""
    start = said.find("[{")
    decoder = json.JSONDecoder()
    found: list[Diagnostic] = []
    at = start + 1
    while start >= 0 and len(found) < MAX_DIAGNOSTICS:
        try:
            one, at = decoder.raw_decode(said, at)
        except (ValueError, RecursionError):
            break
        diagnostic = _diagnostic(one)
        if diagnostic is not None:
            found.append(diagnostic)
        at += len(said[at : at + 2]) - len(said[at : at + 2].lstrip(", "))
    return found


def _diagnostic(one: Any) -> Diagnostic | None:
    match one:
        case {"kind": str(kind), "message": str(message), "locations": [{"caret": caret}, *_]}:
            pass
        case _:
            return None
    match caret:
        case {"file": str(file), "line": int(line), "column": int(column)}:
            return Diagnostic(
                kind=kind, file=file, line=line, column=column, message=message[:MAX_MESSAGE]
            )
    return None
