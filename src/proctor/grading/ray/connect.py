"""Become part of a Ray cluster: one that is there, or one of our own on this machine.

A cluster of our own listens on loopback only, has no dashboard, reports to nobody, keeps little in
memory, and leaves no files behind.
"""

import contextlib
import logging
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from proctor.errors import ClusterError, InputError
from proctor.records.limits import MIB
from proctor.settings import default_workers, set_library_defaults

STORE_BYTES = 128 * MIB
"""What a cluster of our own keeps for large tasks."""
CONNECT_SECONDS = 5.0
LONGEST_FOLDER = 18


def load_ray() -> Any:
    """Import Ray, which is an extra; nobody else does."""
    try:
        import ray  # noqa: PLC0415  large, and an extra
        import ray.exceptions  # noqa: PLC0415
        import ray.util.scheduling_strategies  # noqa: PLC0415
    except ImportError:
        raise InputError(
            "--engine ray needs ray; install it with pip install '.[ray]' in Proctor's folder"
        ) from None
    return ray


class Connection(NamedTuple):
    """Ray, once this process is part of a cluster."""

    ray: Any
    leave: Callable[[], None]
    """Leaves the cluster, or ends it if it is our own."""


def connect(address: str | None, workers: int) -> Connection:
    """Join the cluster at an address, stay in the one in use, or start one with some workers."""
    ray = load_ray()
    if ray.is_initialized():
        if address is not None:
            raise InputError(f"--address {address}: this process is part of a Ray cluster already")
        return Connection(ray, lambda: None)
    if address is not None:
        _check_address(address)
    set_library_defaults(RAY_USAGE_STATS_ENABLED="0", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    folder = None if address is not None else _new_folder()
    own = {
        "num_cpus": workers or default_workers(),
        "num_gpus": 0,
        "include_dashboard": False,
        "object_store_memory": STORE_BYTES,
        "_node_ip_address": "127.0.0.1",
        "_temp_dir": folder,
    }

    def leave() -> None:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    try:
        with _same_signals():
            ray.init(address=address or "local", **quiet, **(own if address is None else {}))
    except (OSError, RuntimeError, ValueError) as error:
        leave()
        what = "cannot start Ray here" if address is None else f"--address {address}"
        raise ClusterError(f"{what}: {str(error).strip().splitlines()[0]}") from error
    return Connection(ray, leave)


def _new_folder() -> str:
    """Make a folder for Ray's files; names of its sockets are long, and must not be too long."""
    usual = tempfile.gettempdir()
    place = usual if len(usual) <= LONGEST_FOLDER else "/tmp"  # noqa: S108  made for us alone
    return tempfile.mkdtemp(prefix="proctor-ray-", dir=place)


def _check_address(address: str) -> None:
    """Find out fast whether somebody listens there; Ray itself takes minutes to say so."""
    host, colon, port = address.rpartition(":")
    if address == "auto":
        return
    if not (host and colon and port.isdecimal()) or "/" in address:
        raise InputError(
            f"--address {address}: write it as HOST:PORT, as in 10.0.0.1:6379, or auto"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"--address {address}: no Ray cluster answers there: {error}") from None


@contextlib.contextmanager
def _same_signals() -> Iterator[None]:
    """Keep who hears being asked to end: Ray takes its place."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
