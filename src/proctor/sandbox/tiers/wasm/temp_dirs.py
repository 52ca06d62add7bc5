"""The folder that guests of one worker may write to, and how it is not left behind."""

import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from proctor.errors import SandboxError, boundary
from proctor.sandbox.supervisor.temp_dirs import PREFIX, LockedTempDir, parent_folder

NAME = "scratch"
DOOR, BEHIND = "door", ("border", "stages", "given")
"""What guests find beside it: files that stay empty, see `worker/`."""


class ScratchFolder:
    """A scratch folder, held as the folders of other boxes are where the system has locks."""

    def __init__(self) -> None:
        self._place: LockedTempDir | None = None
        if sys.platform == "win32":
            with boundary(SandboxError, "cannot make a folder for a box"):
                self._parent = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent_folder()))
                _fill(self._parent)
        else:
            self._place = LockedTempDir(_fill)
            self._parent = self._place.path
        self.folder = str(self._parent / NAME)

    @property
    def held(self) -> tuple[int, ...]:
        """Descriptors that a worker has to inherit: it removes the folder if nobody else can."""
        return () if self._place is None else (self._place.fd,)

    def remove(self) -> None:
        """Remove it, if the worker has not."""
        if self._place is not None:
            self._place.remove()
            return
        with suppress(OSError):
            shutil.rmtree(self._parent)


def _fill(folder: Path) -> None:
    (folder / NAME).mkdir()
    (folder / DOOR).mkdir()
    for name in BEHIND:
        (folder / DOOR / name).touch()
