"""Starts a container and hands the descriptors of a box into it, which Docker does not do.

Run as a fresh process outside of the container, where it stays as long as the container lives. The
container's first process knocks at a socket in a folder that both see; what it gets there are the
control socket, the bundle of source and a note that says how to go on.
"""

import json
import os
import socket
import subprocess
import sys
from typing import Any

KNOCK = """
import json, os, socket, sys, types
with socket.socket(socket.AF_UNIX) as door:
    door.connect("/proctor/door")
    _, fds, _, _ = socket.recv_fds(door, 1, 3)
with os.fdopen(fds.pop(), "rb") as file:
    note = json.load(file)
package = sys.modules["inside"] = types.ModuleType("inside")
package.__path__ = []
for name, source in note["modules"]:
    folder, leaf = name.split(".")
    if not hasattr(package, folder):
        parent = sys.modules[f"inside.{folder}"] = types.ModuleType(f"inside.{folder}")
        parent.__path__ = []
        setattr(package, folder, parent)
    module = sys.modules[f"inside.{name}"] = types.ModuleType(f"inside.{name}")
    module.__package__ = f"inside.{folder}"
    setattr(getattr(package, folder), leaf, module)
    exec(compile(source, f"<inside {name}>", "exec"), module.__dict__)
for fd in fds:
    os.set_inheritable(fd, True)
plan = note["plan"]
plan["argv"] += map(str, fds)
module.settle(plan)
"""
"""What the first process of a container runs."""
PATIENCE = 0.1


def carry(how: dict[str, Any], control: int, bundle: int) -> int:
    """Start the container, hand over what it needs, wait for its end; return its exit status."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{how['folder']}/door")
    os.chmod(f"{how['folder']}/door", 0o666)  # noqa: S103  whoever the container's user is
    door.listen(1)
    door.settimeout(PATIENCE)
    process = subprocess.Popen(how["command"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        visitor = _await(door, process)
        if visitor is not None:
            note = os.memfd_create("note")
            os.write(note, json.dumps(how["note"]).encode())
            os.lseek(note, 0, os.SEEK_SET)
            socket.send_fds(visitor, [b"!"], [control, bundle, note])
            visitor.close()
        os.closerange(3, 1 << 16)  # or the control socket would never seem closed to the keeper
        return process.wait()
    finally:
        try:
            for name in os.listdir(how["folder"]):
                os.unlink(f"{how['folder']}/{name}")
            os.rmdir(how["folder"])
        except FileNotFoundError:
            pass  # our supervisor was killed, and somebody swept before us


def _await(door: socket.socket, process: "subprocess.Popen[bytes]") -> socket.socket | None:
    """Wait for a knock; None if the container ended before."""
    while process.poll() is None:
        try:
            visitor, _ = door.accept()
        except TimeoutError:
            continue
        visitor.settimeout(None)
        return visitor
    return None


def main() -> None:
    """Carry what the arguments say: the note, a control socket, a bundle."""
    os._exit(carry(json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
