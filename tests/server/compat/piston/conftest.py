"""Requests in Piston's dialect to the server that all tests of the service share."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.requires import requires

Running = Any
"""The server of the folder above."""


@pytest.fixture(scope="session")
def execute(server: Running) -> Callable[..., tuple[int, Any]]:
    """Return a function that asks for a program to be run and returns status and answer."""

    def post(content: str = "", language: str = "python", **fields: Any) -> tuple[int, Any]:
        body = {"language": language, "version": "*", "files": [{"content": content}], **fields}
        answer = server.client.post("/api/v2/execute", json=body)
        return answer.status_code, answer.json() if answer.content else None

    return post


@pytest.fixture(scope="session")
def ran(execute: Callable[..., tuple[int, Any]]) -> Callable[..., Any]:
    """Return a function that runs a program and returns the answer."""

    def post(content: str, language: str = "python", **fields: Any) -> Any:
        status, answer = execute(content, language, **fields)
        assert status == 200, answer
        return answer

    return post


@pytest.fixture(scope="session")
def languages(server: Running) -> set[str]:
    """Return the languages that the service offers here."""
    return {one["language"] for one in server.client.get("/api/v2/runtimes").json()}


@pytest.fixture
def cpp(languages: set[str]) -> None:
    """Skip where there is no compiler of C++."""
    requires("cpp")
    assert "c++" in languages
