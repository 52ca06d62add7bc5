"""A program that looks around in its box for texts that it does not know; see leaks.py.

It is never imported: its text is run in place of a candidate, behind TABLE, NEEDLES and MARK.
"""

TABLE, NEEDLES, MARK = bytes(range(256)), [b""], ""
# --- the probe begins here
import gc
import json
import os
import sys
from typing import Any

INTERPRETER = {sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)}
"""What everybody has holds no test."""
LOOKS = 2
LARGEST = 8 << 20
BLOCK = 1 << 20
MAX_MEMORY = 512 << 20


class Look:
    """Where it has looked, and what it found."""

    left = LOOKS

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.files = self.memory = 0

    def search(self, content: bytes, where: str) -> None:
        changed = content.translate(TABLE)
        for index, needle in enumerate(NEEDLES):
            if needle in changed:
                self.found.append((index, where))

    def file(self, path: str) -> None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return
        try:
            self.search(os.read(descriptor, LARGEST), path)
            self.files += 1
        except OSError:
            pass
        finally:
            os.close(descriptor)

    def folder(self, top: str) -> None:
        for place, folders, files in os.walk(top):
            paths = ((name, os.path.join(place, name)) for name in folders[:200])
            folders[:] = [name for name, path in paths if path not in INTERPRETER]
            for name in files[:500]:
                self.file(os.path.join(place, name))

    def process(self, number: str) -> None:
        for name in ("environ", "cmdline", "comm", "maps", "stat", "status"):
            self.file(f"/proc/{number}/{name}")
        self.folder(f"/proc/{number}/fd")
        try:
            with open(f"/proc/{number}/maps") as lines, open(f"/proc/{number}/mem", "rb", 0) as mem:
                for line in lines:
                    self.region(mem, line.split(), f"the memory of process {number}")
        except OSError:
            pass

    def region(self, mem: Any, fields: list[str], where: str) -> None:
        start, end = (int(text, 16) for text in fields[0].split("-"))
        if "r" not in fields[1] or fields[-1] in ("[vvar]", "[vsyscall]"):
            return
        if len(fields) > 5 and fields[5].startswith("/") and "w" not in fields[1]:
            return  # a file, which holds what it holds for everybody
        while start < end and self.memory < MAX_MEMORY:
            try:
                mem.seek(start)
                content = mem.read(min(BLOCK, end - start))
            except (OSError, ValueError, OverflowError):
                return
            if not content:
                return
            self.memory += len(content)
            self.search(content, where)
            start += len(content) - 256 if len(content) == BLOCK else len(content)

    def objects(self) -> None:
        for one in gc.get_objects():
            for text in one.values() if type(one) is dict else one if type(one) is list else ():
                if type(text) is str:
                    self.search(text.encode("utf-8", "replace"), "an object of its interpreter")
        frame: Any = sys._getframe()
        while frame is not None:
            self.search(repr(list(frame.f_locals)).encode("utf-8", "replace"), "a frame")
            frame = frame.f_back


def look(when: str) -> None:
    """Look everywhere, and say what was found."""
    if Look.left <= 0:
        return
    Look.left -= 1
    here = Look()
    here.search(json.dumps(sys.argv).encode(), "its command line")
    for top in (os.getcwd(), "/tmp", "/dev/shm", "/var/tmp", "/home", "/root", "/run", "/mnt"):
        here.folder(top)
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        numbers = []
    for number in dict.fromkeys(["self", *numbers]):
        here.process(number)
    here.objects()
    found = sorted({(index, f"{where} {when}") for index, where in here.found})
    said = {"found": found[:20], "files": here.files, "memory": here.memory}
    print(MARK + json.dumps(said), file=sys.stderr, flush=True)
