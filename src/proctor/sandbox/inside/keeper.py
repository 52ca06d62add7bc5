"""The keeper of a box: forks guests, waits for them, kills what they leave, cleans up.

It is started as a fresh interpreter and never sees a test. Orders come over a control socket
(one JSON message a packet, descriptors beside it); no guest ever holds that socket. When it
closes, for whatever reason, the keeper ends everything below it and removes the scratch folder.

    order                                       answer
    start role limits + [in, out, err, border]  started pid | failed why; later: ended …
    kill                                        (makes `ended` come)
    open path write                             opened + descriptor | refused why
    wipe                                        wiped
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .roles import become

MAX_ORDER = 1 << 16
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class Become(BaseException):
    """Leaves the keeper's stack in a forked child, so that a guest starts on a clean one."""

    def __init__(self, run: Callable[[], None]) -> None:
        super().__init__()
        self.run = run


class Keeper:
    """One box with at most one guest at a time."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._scratch = os.path.realpath(tempfile.mkdtemp(prefix="proctor-"))
        self._guest: int | None = None
        self._stages: int | None = None
        self._stage = b""
        self._cpu_seconds = 0.0
        self._memory_bytes = 0
        self._wake = self._wake_on_child()

    def serve(self) -> None:
        """Carry out orders until the supervisor is gone."""
        self._say(ready=sys.version, scratch=self._scratch)
        try:
            while self._step():
                pass
        except Become:
            raise
        except BaseException:
            self._clean_up()
            raise
        self._clean_up()

    def _step(self) -> bool:
        watched = [self._control.fileno(), self._wake]
        if self._stages is not None:
            watched.append(self._stages)
        ready, _, _ = select.select(watched, [], [])
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._stages in ready:
            self._read_stage()
        if self._guest is not None:
            self._reap()
        if self._control.fileno() not in ready:
            return True
        message, fds, _, _ = socket.recv_fds(self._control, MAX_ORDER, 8)
        if not message:
            return False
        self._obey(json.loads(message), fds)
        return True

    def _obey(self, order: dict[str, Any], fds: list[int]) -> None:
        what = order.pop("do")
        try:
            if what == "start":
                self._start(order, fds)
            elif what == "kill":
                self._kill()
            elif what == "open":
                self._open(**order)
            elif what == "wipe":
                self._wipe()
                self._say(wiped=True)
        except OSError as error:
            self._say(refused=str(error))
        finally:
            for fd in fds:
                os.close(fd)

    def _start(self, order: dict[str, Any], fds: list[int]) -> None:
        reading, writing = os.pipe()
        self._cpu_seconds, self._memory_bytes, self._stage = 0.0, 0, b""
        pid = os.fork()
        if pid == 0:
            self._control.detach()  # so that no destructor closes a number that is in use again
            scratch, mine = self._scratch, fds.copy()
            fds.clear()  # the caller closes those that are left
            raise Become(lambda: become(order, mine, writing, scratch))
        os.close(writing)
        self._guest, self._stages = pid, reading
        self._say(started=pid)

    def _read_stage(self) -> None:
        """Learn how far the guest's set-up came; the pipe closes before candidate code runs."""
        assert self._stages is not None  # noqa: S101
        data = os.read(self._stages, 4096)
        self._stage += data
        if not data:
            os.close(self._stages)
            self._stages = None

    def _reap(self) -> None:
        """Collect what has died; when the guest itself has, end the rest and report."""
        ending = None
        while (died := self._wait(os.WNOHANG)) is not None:
            if died[0] == self._guest:
                ending = died[1]
        if ending is None:
            return
        self._end_the_rest()
        while self._stages is not None:
            self._read_stage()
        self._guest = None
        self._say(
            ended=os.waitstatus_to_exitcode(ending),
            stage=self._stage.decode("utf-8", "replace"),
            cpu_seconds=self._cpu_seconds,
            memory_bytes=self._memory_bytes,
        )

    def _wait(self, options: int) -> tuple[int, int] | None:
        try:
            pid, status, usage = os.wait4(-1, options)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        self._cpu_seconds += usage.ru_utime + usage.ru_stime
        scale = 1 if sys.platform == "darwin" else 1024
        self._memory_bytes = max(self._memory_bytes, usage.ru_maxrss * scale)
        return pid, status

    def _kill(self) -> None:
        if self._guest is not None:
            _signal_group(self._guest)

    def _end_the_rest(self) -> None:
        """Kill until nothing is left: orphans fall to us, because we are a subreaper."""
        assert self._guest is not None  # noqa: S101
        while True:
            _signal_group(self._guest)
            for pid in _children():
                _signal(pid)
            if self._wait(0) is None:
                return

    def _open(self, path: str, *, write: bool) -> None:
        """Open a file of the scratch folder; no link and no `..` leads out of it."""
        parts = path.split("/")
        if not path or any(part in ("", ".", "..") for part in parts):
            self._say(refused=f"{path!r} is not a path inside the scratch folder")
            return
        folder = os.open(self._scratch, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                if write:
                    _make_folder(part, folder)
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = below
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if write else os.O_RDONLY
            flags |= os.O_NOFOLLOW | os.O_NONBLOCK
            file = os.open(parts[-1], flags, 0o644, dir_fd=folder)
        finally:
            os.close(folder)
        socket.send_fds(self._control, [json.dumps({"opened": True}).encode()], [file])
        os.close(file)

    def _wipe(self) -> None:
        for entry in os.scandir(self._scratch):
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)

    def _clean_up(self) -> None:
        if self._guest is not None:
            self._end_the_rest()
        _remove(self._scratch)

    def _say(self, **answer: Any) -> None:
        try:
            self._control.send(json.dumps(answer).encode())
        except OSError:
            pass  # the supervisor is gone; the next read says so and we clean up

    @staticmethod
    def _wake_on_child() -> int:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        return reading


def _signal_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        _signal(pid)  # it has not made its group yet


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it died by itself


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []  # no such file here: the group is all we can reach


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=folder)
    except FileExistsError:
        pass  # that is as good; whether it is a folder, the next open tells


def _remove(path: str) -> None:
    """Remove a folder whatever rights its owner took away inside it."""

    def again(function: Callable[..., Any], name: str, _: Any) -> None:
        os.chmod(os.path.dirname(name), 0o700)
        if os.path.isdir(name) and not os.path.islink(name):
            os.chmod(name, 0o700)
            shutil.rmtree(name, ignore_errors=True)
        else:
            function(name)

    shutil.rmtree(path, onerror=again)


def main() -> None:
    """Keep one box; a forked guest leaves by `Become` and starts on a clean stack."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        Keeper(socket.socket(fileno=int(sys.argv[1]))).serve()
    except Become as child:
        run = child.run
    else:
        return
    run()
