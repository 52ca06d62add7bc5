"""Starts a container and passes file descriptors into it, which Docker cannot do.

This runs as a fresh process outside of the container, for as long as the container runs. The first
process of the container connects to a Unix socket in a mounted folder, and receives three
descriptors: the control socket, the bundle of source, and a file with code and a plan (the note).
"""

import json
import os
import socket
import subprocess
import sys
from typing import Any

CONTAINER_BOOT = """
import json, os, socket, sys, types
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect("/proctor/fds.sock")
    _, fds, _, _ = socket.recv_fds(connection, 1, 3)
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
module.build_in_container(plan)
"""
"""The program of the first process of a container."""
ACCEPT_SECONDS = 0.1


def run_container(spec: dict[str, Any], control: int, bundle: int) -> int:
    """Start a container, pass the descriptors to it, and return its exit status."""
    listener = socket.socket(socket.AF_UNIX)
    path = f"{spec['folder']}/fds.sock"
    listener.bind(path)
    os.chmod(path, 0o666)  # noqa: S103  the container runs as another user
    listener.listen(1)
    listener.settimeout(ACCEPT_SECONDS)
    process = subprocess.Popen(spec["command"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        client = _accept(listener, process)
        if client is not None:
            note = os.memfd_create("note")
            os.write(note, json.dumps(spec["note"]).encode())
            os.lseek(note, 0, os.SEEK_SET)
            socket.send_fds(client, [b"!"], [control, bundle, note])
            client.close()
        os.closerange(3, 1 << 16)  # or the keeper would never see the control socket closed
        return process.wait()
    finally:
        try:
            for name in os.listdir(spec["folder"]):
                os.unlink(f"{spec['folder']}/{name}")
            os.rmdir(spec["folder"])
        except FileNotFoundError:
            pass  # the supervisor was killed, and another process has removed the folder


def _accept(listener: socket.socket, process: "subprocess.Popen[bytes]") -> socket.socket | None:
    """Wait for the container to connect; return None if it ends first."""
    while process.poll() is None:
        try:
            client, _ = listener.accept()
        except TimeoutError:
            continue
        client.settimeout(None)
        return client
    return None


def main() -> None:
    """Run a container; the arguments are its spec, the control socket and the bundle."""
    os._exit(run_container(json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
