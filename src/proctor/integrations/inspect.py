"""A sandbox for Inspect: `sandbox="proctor"` runs a sample's commands behind our walls.

Inspect finds this module by the entry points `inspect_ai`. A sample has one box of the kernel tier
from its beginning to its end (see `sandbox/supervisor/workspace.py`): files stay between commands,
processes do not. Nothing here is retried: what ran out of time once would do so again.

What Inspect may ask for and does not get: another user than the one that there is, a connection for
a person to log in by, and tools that leave a server of theirs running in the sandbox.
"""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from errno import EFBIG
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from anyio import get_cancelled_exc_class, to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    concurrency,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proctor.cancellation import cancellable
from proctor.errors import InputError, SandboxError
from proctor.records.execution import (
    Denied,
    Execution,
    Exited,
    OutOfMemory,
    OutputTooLong,
    SandboxFailed,
    Signalled,
    TimedOut,
)
from proctor.records.limits import GIB, MIB, Limits
from proctor.sandbox.supervisor.workspace import Command, Workspace
from proctor.sandbox.tiers.kernel import open_kernel
from proctor.sandbox.tiers.pooled import PooledSandbox
from proctor.settings import default_workers, load_settings
from proctor.storage.jsonl import parse_toml, read_whole

T = TypeVar("T")
USERS = ("candidate", "1000")
NOT_FOUND, NOT_BEGUN, KILLED, BY_SIGNAL = 127, 126, 137, 128
"""Statuses as a shell says them."""
MAX_CONFIG = 1 << 20


class ProctorSandboxConfig(BaseModel):  # type: ignore[misc]
    """What a sample may use; also the fields of a TOML file that stands for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_bytes: int = Field(default=2 * GIB, ge=64 * MIB)
    scratch_bytes: int = Field(default=GIB, ge=MIB)
    """All files of a sample together."""
    processes: int = Field(default=256, ge=1, le=4096)
    open_files: int = Field(default=1024, ge=16, le=65536)
    max_seconds: float | None = Field(default=None, gt=0, le=86400)
    """The longest that a command runs, whatever its own timeout; None: the setting max_seconds."""
    loopback: bool = False
    """Whether commands may talk to themselves over a network that leads nowhere else."""
    languages: tuple[str, ...] = ()
    """Languages besides Python and bash whose compilers or runtimes are in sight."""
    packages: tuple[str, ...] | None = None
    """Installed packages that Python finds; None: the setting candidate_packages."""

    def limits(self) -> Limits:
        """Return what one command may use."""
        seconds = self.max_seconds or load_settings().max_seconds
        return Limits(
            wall_seconds=seconds,
            cpu_seconds=seconds * default_workers(),
            memory_bytes=self.memory_bytes,
            processes=self.processes,
            file_bytes=self.scratch_bytes,
            scratch_bytes=self.scratch_bytes,
            open_files=self.open_files,
            loopback=self.loopback,
        )


class CommandTimeout(TimeoutError):
    """A command ran out of time; what it wrote until then is kept."""

    def __init__(self, message: str, truncated_output: str) -> None:
        super().__init__(message)
        self.truncated_output = truncated_output


@sandboxenv(name="proctor")
class ProctorSandboxEnvironment(SandboxEnvironment):  # type: ignore[misc]
    """The box of one sample."""

    def __init__(self, workspace: Workspace, limits: Limits) -> None:
        super().__init__()
        self._workspace = workspace
        self._limits = limits

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Have a few samples for each processor at once: most wait for a model."""
        return 4 * default_workers()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """Read what stands in a log."""
        return ProctorSandboxConfig(**config)

    @classmethod
    async def task_init(cls, task_name: str, config: BaseModel | str | None) -> None:  # noqa: ARG003
        """Find out before the first sample whether this host can do it."""
        workspace = await to_thread.run_sync(_open, _configured(config))
        await to_thread.run_sync(workspace.close)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,  # noqa: ARG003
        config: BaseModel | str | None,
        metadata: dict[str, str],  # noqa: ARG003
    ) -> dict[str, SandboxEnvironment]:
        """Open a box."""
        known = _configured(config)
        workspace = await to_thread.run_sync(_open, known)
        return {"default": cls(workspace, known.limits())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,  # noqa: ARG003
        config: BaseModel | str | None,  # noqa: ARG003
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,  # noqa: ARG003, FBT001
    ) -> None:
        """Leave nothing of a sample."""
        for environment in environments.values():
            await to_thread.run_sync(environment.as_type(cls).close)

    def close(self) -> None:
        """End the box."""
        self._workspace.close()

    async def exec(  # noqa: PLR0917  as Inspect has it
        self,
        cmd: list[str],
        input: str | bytes | None = None,  # noqa: A002
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,  # noqa: ASYNC109
        timeout_retry: bool = True,  # noqa: ARG002, FBT001, FBT002
        concurrency: bool = True,  # noqa: FBT001, FBT002
    ) -> ExecResult[str]:
        """Run a command and say how it ended."""
        if user is not None and user not in USERS:
            raise SandboxUserUnsupportedError(f"cannot run as {user!r}: there is {USERS[0]} only")
        command = Command(
            argv=cmd, folder=cwd or ".", environment=env or {}, stdin=_bytes(input or b"")
        )
        limits = self._for_one(timeout)
        try:
            execution = await self._do(
                partial(self._workspace.run, command, limits), throttled=concurrency
            )
        except PermissionError:
            raise
        except OSError as error:
            missing = isinstance(error, FileNotFoundError) and error.filename == cmd[0]
            return ExecResult(False, NOT_FOUND if missing else NOT_BEGUN, "", f"{error}\n")
        return _result(execution, limits)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, and make the folders that lead to it."""
        await self._do(partial(self._workspace.write, file, _bytes(contents)))

    async def read_file(self, file: str, text: bool = True) -> str | bytes:  # noqa: FBT001, FBT002
        """Return a file."""
        max_bytes = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        said = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
        try:
            content = await self._do(partial(self._workspace.read, file, max_bytes))
        except OSError as error:
            if error.errno != EFBIG:
                raise
            raise OutputLimitExceededError(said, None) from None
        return content.decode("utf-8") if text else content

    def _for_one(self, timeout: int | None) -> Limits:
        """Return the limits of a command that may have a time limit of its own."""
        limits = msgspec.structs.replace(
            self._limits, output_bytes=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        )
        if timeout is None or timeout >= limits.wall_seconds:
            return limits
        seconds = max(float(timeout), 0.001)
        return msgspec.structs.replace(
            limits, wall_seconds=seconds, cpu_seconds=seconds * default_workers()
        )

    async def _do(self, work: Callable[[], T], *, throttled: bool = False) -> T:
        """Work on a thread; whoever is cancelled ends the command that runs there."""
        dropped = threading.Event()

        def run() -> T:
            with cancellable(dropped):
                return work()

        turn = concurrency("proctor", default_workers()) if throttled else nullcontext()
        try:
            async with turn:
                done: T = await to_thread.run_sync(run, abandon_on_cancel=True)
                return done
        except get_cancelled_exc_class():
            dropped.set()
            raise
        except SandboxError as error:
            raise SandboxUnavailableError(str(error)) from error


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _result(execution: Execution, limits: Limits) -> ExecResult[str]:
    """Say in Inspect's words how a command ended."""
    stdout = execution.stdout.decode("utf-8", "replace")
    stderr = execution.stderr.decode("utf-8", "replace")
    match execution.ending:
        case Exited(code):
            return ExecResult(code == 0, code, stdout, stderr)
        case Signalled(number):
            return ExecResult(False, BY_SIGNAL + number, stdout, stderr)
        case TimedOut(clock):
            seconds = limits.wall_seconds if clock == "wall" else limits.cpu_seconds
            said = f"the command was ended after {seconds:g} seconds ({clock} time)"
            raise CommandTimeout(said, stdout + stderr)
        case OutputTooLong():
            said = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR
            raise OutputLimitExceededError(said, stdout + stderr)
        case OutOfMemory():
            why = f"it used more than {limits.memory_bytes} bytes of memory"
        case Denied(what):
            why = f"it tried {what}"
        case SandboxFailed(reason):
            raise SandboxUnavailableError(reason)
    return ExecResult(False, KILLED, stdout, f"{stderr}proctor: killed: {why}\n")


def _configured(config: BaseModel | str | None) -> ProctorSandboxConfig:
    """Take a configuration as it is, or from a TOML file."""
    if isinstance(config, ProctorSandboxConfig):
        return config
    if config is None:
        return ProctorSandboxConfig()
    if not isinstance(config, str):
        raise InputError(f"a sandbox cannot be made of {type(config).__name__}")
    path = Path(config)
    try:
        return ProctorSandboxConfig(**parse_toml(path, read_whole(path, MAX_CONFIG)))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: field {field}: {first['msg']}") from None


def _open(config: ProctorSandboxConfig) -> Workspace:
    packages = config.packages
    if packages is None and load_settings().candidate_packages is not None:
        packages = tuple(load_settings().candidate_packages or ())
    tier = _tier(packages, os.getpid())
    return tier.workspace(config.limits(), config.languages)


@lru_cache(maxsize=16)
def _tier(packages: tuple[str, ...] | None, process: int) -> PooledSandbox:  # noqa: ARG001  for each its own
    return open_kernel(sys.executable, packages)
