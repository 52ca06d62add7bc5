"""`proctor exec`: run one program in the sandbox."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli import options, setup
from proctor.errors import InputError, boundary
from proctor.extraction.assemble import BASE_IMPORTS, prepend
from proctor.languages import all_languages, unknown_language
from proctor.records.execution import Exited, OutputTooLong, Signalled
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.report.json import render
from proctor.settings import load_settings
from proctor.storage.jsonl import explain_error, read_bounded


def exec(  # noqa: A001  the name of the command
    file: Annotated[str, typer.Argument(help="Program to run; - reads it from standard input.")],
    args: Annotated[list[str] | None, typer.Argument(help="Its arguments.")] = None,
    *,
    language: Annotated[str, typer.Option(help="Language of the program.")] = "python",
    stdin: Annotated[Path | None, typer.Option(help="File to feed it.")] = None,
    sandbox: options.SandboxName = None,
    require: options.Require = None,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    python: options.Python = options.DEFAULT_PYTHON,
    wasm: options.Wasm = None,
    candidate_packages: options.Packages = None,
    preamble: options.PreambleMode = options.Preamble.none,
) -> None:
    """Run one program in the sandbox, print what happened as JSON."""
    settings = load_settings()
    sandbox, python = setup.resolve_wasm(wasm, sandbox, python)
    check_language(language)
    try:
        source = _read(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {file}: {explain_error(error)}") from None
    given = b"" if stdin is None else _read(str(stdin))
    if preamble is options.Preamble.base and language == "python":
        source = prepend(BASE_IMPORTS, source)
    limits = setup.limits_for(timeout, memory, settings)(Limits())
    box = setup.sandbox_for(
        settings, name=sandbox, require=require, python=python, packages=candidate_packages
    )
    program = Program(source=source, language=language, args=tuple(args or ()))
    try:
        execution = box.run(program, limits, given)
    finally:
        box.close()
    typer.echo(render(describe(execution)))


def check_language(name: str) -> None:
    """Refuse a language that there are no rules for."""
    if name not in all_languages():
        raise InputError(f"--language {name}: {unknown_language(name)}")


def describe(execution: Any) -> dict[str, Any]:
    """Return an execution in the words of the command's contract."""
    ending = execution.ending
    return {
        "ending": type(ending).__struct_config__.tag,
        "exit_code": ending.code if isinstance(ending, Exited) else None,
        "signal": ending.signal if isinstance(ending, Signalled) else None,
        "stdout": execution.stdout.decode("utf-8", "replace"),
        "stderr": execution.stderr.decode("utf-8", "replace"),
        "truncated": isinstance(ending, OutputTooLong),
        "usage": {
            "cpu_seconds": execution.usage.cpu_seconds,
            "wall_seconds": execution.usage.wall_seconds,
            "memory_bytes": execution.usage.memory_bytes,
        },
    }


def _read(file: str) -> bytes:
    """Read a file or a pipe."""
    with boundary(InputError, f"cannot read {file}"):
        if file == "-":
            return read_bounded("standard input", sys.stdin.buffer)
        with Path(file).open("rb") as opened:
            return read_bounded(file, opened)
