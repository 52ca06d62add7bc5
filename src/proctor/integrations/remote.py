"""Samples that a service judges in place of this process."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from proctor.client import Client
from proctor.client.requests import AnyTask
from proctor.errors import InputError
from proctor.grading.prepare import Options
from proctor.records.receipt import Receipt
from proctor.settings import load_settings, server_of

AT_ONCE = 64
"""Requests under way to one service; more would wait there."""


def submit_to(url: str, task: AnyTask, text: str, options: Options) -> Future[Receipt]:
    """Begin to have one completion judged by the service at an address.

    The key for it, if it wants one, is the environment variable PROCTOR_API_KEY.
    """
    client, pool = _connection(url, os.getpid())
    return pool.submit(client.grade, task, text, **_asked(options))


@lru_cache(maxsize=8)
def _connection(url: str, process: int) -> tuple[Client, ThreadPoolExecutor]:
    """Return what asks a service; a forked process has its own."""
    del process
    _, key = server_of("proctor", load_settings())
    return Client(url, key), ThreadPoolExecutor(AT_ONCE, thread_name_prefix="service")


def _asked(options: Options) -> dict[str, Any]:
    """Return options as a service takes them."""
    rules = options.rules
    if rules.checker is not None:
        raise InputError("a service takes a checker only with its task, as tests.compare.checker")
    return {
        "extract": options.extract,
        "preamble": options.preamble,
        "early_stop": rules.early_stop,
        "compare": rules.compare,
        "max_tests": rules.max_tests,
    }
