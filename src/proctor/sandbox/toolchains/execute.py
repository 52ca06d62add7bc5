"""How a guest becomes a program of another language, or its compiler, and what came of it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.errors import SandboxError
from proctor.languages.compiler import CompiledProgram, CompileFailure, Outcome, outcome_of
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution, OutOfMemory, SandboxFailed, Signalled
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.environment import ENVIRONMENT
from proctor.sandbox.supervisor.guest import Guest
from proctor.sandbox.supervisor.job import Job
from proctor.sandbox.toolchains.precompiled_headers import show

STACK = 64 * MIB
"""Enough for runtimes, which have a stack of their own making for programs."""
NO_LIMIT = -1
NEARLY = 15 / 16
"""A native program that is ended by a signal with so much of its memory in use had no more."""


def files_around(box: Box, toolchain: Toolchain, job: Job, building: Limits) -> Execution:
    """Compile and run in one folder, where what the compiler leaves lies already."""
    outcome: Outcome = CompiledProgram(files=b"")
    if toolchain.language.products:
        compiled = compile_in_box(box, toolchain, job.program, building)
        outcome = outcome_of(toolchain, compiled)
    if isinstance(outcome, CompileFailure):
        return outcome.execution
    done = run_in_box(box, toolchain, job.program, job.limits, job.stdin, files=b"")
    return msgspec.structs.replace(done, build=outcome.execution)


def compile_in_box(
    box: Box,
    toolchain: Toolchain,
    program: Program,
    limits: Limits,
    *,
    products: Sequence[str] | None = None,
    headers: int | None = None,
) -> Execution:
    """Compile a program, with compiled headers if there are any."""
    spec = make_exec_spec(toolchain, program, toolchain.compiler(tests=program.tests), limits)
    spec["products"] = spec["products"] if products is None else list(products)
    spec["steps"] = [spec["argv"]]
    spec["limits"]["address_bytes"] = None  # its end would say nothing about memory
    extra_fds = show(spec, headers)
    return ending_of(
        box.start("build", limits, program=program, exec_spec=spec, extra_fds=extra_fds)
    )


def run_in_box(
    box: Box, toolchain: Toolchain, program: Program, limits: Limits, stdin: bytes, *, files: bytes
) -> Execution:
    """Run a program, or what its compiler left."""
    spec = make_exec_spec(toolchain, program, toolchain.runner(tests=program.tests), limits)
    if toolchain.language.products:
        spec["file"] = ""
        program = msgspec.structs.replace(program, source="")
    else:
        files = b""
    guest = box.start("toolchain", limits, program=program, code=files, stdin=stdin, exec_spec=spec)
    # One whose time is over before it begins has been compiled all the same.
    execution = msgspec.structs.replace(ending_of(guest), compiled=True)
    return is_used_up(execution, limits) if toolchain.language.address_space else execution


def is_used_up(execution: Execution, limits: Limits) -> Execution:
    """See whether a native program that was ended by a signal had no memory left."""
    much = execution.usage.memory_bytes > NEARLY * limits.memory_bytes
    if much and isinstance(execution.ending, Signalled):
        # by then an allocation was refused, or the kernel would have said so
        return msgspec.structs.replace(execution, ending=OutOfMemory())
    return execution


def ending_of(guest: Guest) -> Execution:
    """Wait for a guest's end; a SandboxError if it is not its own."""
    guest.wait()
    execution = guest.finish()
    if isinstance(execution.ending, SandboxFailed):
        raise SandboxError(execution.ending.reason)
    return execution


def make_exec_spec(
    toolchain: Toolchain, program: Program, words: Any, limits: Limits
) -> dict[str, Any]:
    """Say how a guest becomes a compiler or a program."""
    language, memory = toolchain.language, limits.memory_bytes
    main = toolchain.name_for(program.source)
    suffix = (program.tests and language.tests_suffix) or language.suffix
    # with no limit on the first stack those of threads are small, and addresses bound it as well
    stack = NO_LIMIT if language.address_space else min(memory, STACK)
    own = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("PYTHON")}
    scratch = {"HOME": "/tmp", "TMPDIR": "/tmp"}  # noqa: S108
    return {
        "file": main + suffix,
        "argv": toolchain.argv(words, main, memory),
        "environment": {**own, **scratch, **toolchain.environment(memory)},
        "products": list(language.products),
        "border": False,
        "extra_file": "",
        "warm": toolchain.warm,
        "cache": language.cache,
        "limits": {
            "address_bytes": memory if language.address_space else None,
            "stack_bytes": stack,
        },
    }
