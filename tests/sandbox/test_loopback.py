"""A network that leads back to the candidate and nowhere else, where a task asks for it."""

import socket
import sys
import threading

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.tiers.select import open_sandbox

PLAIN = Limits().with_seconds(10)
LOOP = msgspec.structs.replace(PLAIN, loopback=True)
TALK = """
import socket, threading
def serve():
    connection, _ = server.accept()
    connection.sendall(connection.recv(100)[::-1])
    connection.close()
for family, host in ((socket.AF_INET, "localhost"), (socket.AF_INET, socket.gethostname())):
    server = socket.create_server((host, 0), family=family)
    threading.Thread(target=serve).start()
    client = socket.create_connection(server.getsockname())
    client.sendall(b"abc")
    print(client.recv(100))
"""


def said(sandbox: Sandbox, source: str, limits: Limits = LOOP) -> list[str]:
    execution = sandbox.run(Program(source=source), limits)
    return (execution.stdout + execution.stderr).decode().strip().splitlines()


def attempts(*expressions: str) -> str:
    """Return a program that says what becomes of each expression."""
    lines = ["import socket, os"]
    for expression in expressions:
        lines += [
            f"try:\n    {expression}\n    print('done')",
            "except OSError as error:\n    print(type(error).__name__)",
        ]
    return "\n".join(lines)


def test_a_candidate_talks_to_itself(kernel: Sandbox) -> None:
    assert said(kernel, TALK) == ["b'cba'", "b'cba'"]


def test_a_port_is_free_again_at_once(kernel: Sandbox) -> None:
    source = """
import socket, threading
server = socket.socket()
server.bind(("localhost", 5000))
server.listen()
def serve():
    connection, _ = server.accept()
    connection.sendall(b"abc")
    connection.close()
threading.Thread(target=serve).start()
print(socket.create_connection(server.getsockname()).recv(100))
"""
    for _ in range(3):
        assert said(kernel, source) == ["b'abc'"]
    runs = kernel.repeat(Program(source=source), LOOP, times=3)
    try:
        assert {runs.run(b"", 1000).stdout for _ in range(3)} == {b"b'abc'\n"}
    finally:
        runs.close()


def test_not_unless_it_is_asked_for(kernel: Sandbox) -> None:
    families = [f"socket.socket({family})" for family in ("socket.AF_INET", "socket.AF_INET6")]
    assert said(kernel, attempts(*families), PLAIN) == ["PermissionError"] * 2
    assert said(kernel, TALK) == ["b'cba'", "b'cba'"]
    assert said(kernel, attempts(*families), PLAIN) == ["PermissionError"] * 2


def test_nothing_else_is_on_that_network(kernel: Sandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        tries = attempts(
            f"socket.create_connection(('127.0.0.1', {port}), 2)",
            "socket.create_connection(('10.0.0.1', 80), 2)",
            "socket.create_connection(('8.8.8.8', 53), 2)",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))",
            "socket.getaddrinfo('example.com', 80)",
        )
        assert said(kernel, tries) == ["ConnectionRefusedError", *["OSError"] * 3, "gaierror"]
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()


def test_no_other_family_and_no_rights_over_it(kernel: Sandbox) -> None:
    families = ("AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_TIPC", "AF_CAN")
    tries = attempts(
        *(f"socket.socket(socket.{name}, socket.SOCK_RAW)" for name in families),
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)",
        "socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)",
        "socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)",
        "open('/proc/sys/net/ipv4/tcp_rmem', 'w')",
        "__import__('fcntl').ioctl(socket.socket(), 0x8914, b'lo' + bytes(38))",
    )
    heard = said(kernel, tries)
    assert heard.pop(10) in {"PermissionError", "OSError"}  # or: a read-only file system
    assert heard == ["PermissionError"] * 11
    sizes = "print(*(open(f'/proc/sys/net/ipv4/tcp_{x}mem').read().split()[2] for x in 'rw'))"
    assert said(kernel, sizes) == ["262144 262144"]


def test_candidates_at_the_same_time_do_not_meet(kernel: Sandbox) -> None:
    waiting = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 7777))\n"
        "server.settimeout(2)\n"
        "try:\n    server.accept()\n    print('met')\n"
        "except TimeoutError:\n    print('nobody came')\n"
    )
    calling = (
        "import socket, time\n"
        "for _ in range(15):\n"
        "    try:\n        socket.create_connection(('127.0.0.1', 7777), 1)\n        print('met')\n"
        "    except ConnectionRefusedError:\n        time.sleep(0.1)\n"
    )
    heard: list[str] = []
    thread = threading.Thread(target=lambda: heard.extend(said(kernel, waiting)))
    thread.start()
    assert said(kernel, calling) == []
    thread.join()
    assert heard == ["nobody came"]


def test_what_a_candidate_leaves_listening_is_gone(kernel: Sandbox) -> None:
    leave = (
        "import os, socket, time\n"
        "server = socket.create_server(('127.0.0.1', 7778))\n"
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n"
        "print('left')\n"
    )
    visit = attempts(
        "socket.create_connection(('127.0.0.1', 7778), 1)",
        "socket.create_server(('127.0.0.1', 7778))",
    )
    for _ in range(3):
        assert said(kernel, leave) == ["left"]
        assert said(kernel, visit) == ["ConnectionRefusedError", "done"]


def test_a_tier_without_namespaces_has_none() -> None:
    try:
        contained = open_sandbox("contained", sys.executable)
    except SandboxError as error:
        pytest.skip(str(error))
    assert said(contained, attempts("socket.socket(socket.AF_INET)")) == ["PermissionError"]
    contained.close()
