"""One program with all that it is given, files included, and all that is wanted of it afterwards.

A guest's own scratch folder goes with the guest. So a job with files has a box whose folder stays
until it is wiped: filled before, read when nothing of the guest is left, and then empty again.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Execution
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor.box_pool import Pool, R
from proctor.sandbox.supervisor.protocols import BoxProtocol

MAX_FILES = 1024
MAX_PATH = 1024
NOT_THERE = "there is no such file"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What to run, among which files, and which of them to fetch.

    Paths are checked where a job is made: an InputError says which leads out of the folder.
    """

    program: Program
    limits: Limits
    stdin: bytes = b""
    building: Limits | None = None
    """Of its compiler, if it has one; None: what compilers have otherwise."""
    files: Mapping[str, bytes] = {}
    fetch: Sequence[str] = ()
    fetch_bytes: int = 16 * MIB
    """How much is fetched in all."""

    def __post_init__(self) -> None:
        """Refuse paths that lead out of the folder, and more than there may be."""
        for path in (*self.files, *self.fetch):
            is_inside(path)
        if max(len(self.files), len(self.fetch)) > MAX_FILES:
            raise InputError(f"more than {MAX_FILES} files")
        given = sum(map(len, self.files.values()))
        if given > self.limits.scratch_bytes:
            raise InputError(f"{given} bytes of files; {self.limits.scratch_bytes} are allowed")

    @property
    def bare(self) -> bool:
        """Whether it has nothing to do with files."""
        return not self.files and not self.fetch

    def refuse_name(self, *names: str) -> None:
        """Refuse files that are called as the program itself is."""
        for path in self.files:
            if is_inside(path) in names:
                raise SandboxError(f"{path!r} is what the program itself is called")


def is_inside(path: str) -> str:
    """Return a path without detours; an InputError if it leads out of the working folder."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    fine = parts and not path.startswith("/") and ".." not in parts and "\0" not in path
    if not fine or len(path.encode("utf-8", "replace")) > MAX_PATH:
        raise InputError(f"{path[:80]!r} is not a path inside the working folder")
    if any("\ud800" <= letter <= "\udfff" for letter in path):
        raise InputError(f"{path[:80]!r} is no text that UTF-8 can hold")
    return "/".join(parts)


def path_in_folder(pool: Pool[R], job: Job, run: Callable[[R], Execution]) -> Execution:
    """Fill the folder of a box, run, fetch, and leave the folder empty."""
    box = pool.take()
    try:
        _fill(box, job)
        execution = run(box)
        files, left = _fetch(box, job)
        box.wipe()
    except BaseException:
        box.close()  # nobody knows what lies in it
        raise
    pool.give_back(box)
    return msgspec.structs.replace(execution, files=files, left=left)


def _fill(box: BoxProtocol, job: Job) -> None:
    try:
        for path, content in job.files.items():
            box.write(is_inside(path), content)
    except OSError as error:  # no boundary: it is the box that has no room, not the host
        raise SandboxError(f"the files do not fit: {error.strerror}") from error


def _fetch(box: BoxProtocol, job: Job) -> tuple[dict[str, bytes], dict[str, str]]:
    files: dict[str, bytes] = {}
    left: dict[str, str] = {}
    room = job.fetch_bytes
    for path in job.fetch:
        try:
            content = box.read(is_inside(path), room + 1)
        except SandboxError:
            if not box.alive():
                raise
            left[path] = NOT_THERE  # or a folder, a link, a pipe, which is no file
            continue
        if len(content) > room:
            left[path] = f"more than {job.fetch_bytes} bytes in all"
            continue
        files[path] = content
        room -= len(content)
    return files, left
