"""Skip tests that need a tool which is missing here.

A test names its tools with `@pytest.mark.requires("docker")`. Helpers call `requires("ray")`, and
`requires_language(sandbox, "go")` where a sandbox has to run a language. With REQUIRE_TOOLS=1 such
tests fail instead. `scripts/install-test-tools` has the table of tools.
"""

import importlib.util
import os
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NoReturn

import pytest

from proctor.errors import SandboxError
from proctor.sandbox import Sandbox


def _load_script() -> Any:
    path = Path(__file__).parent.parent / "scripts" / "install-test-tools"
    loader = SourceFileLoader("install_test_tools", str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    return script


SCRIPT = _load_script()
TOOLS = {tool.name: tool for tool in SCRIPT.TOOLS}


def requires(*names: str) -> None:
    """Skip the current test or module if one of these tools is missing."""
    for name in names:
        if not TOOLS[name].is_here():
            skip_without(name, TOOLS[name].command)


def requires_language(sandbox: Sandbox, language: str) -> None:
    """Skip the current test if a sandbox does not run a language."""
    if language in TOOLS:
        requires(language)
    try:
        sandbox.require_language(language)
    except SandboxError as error:
        if sandbox.enforcement().tier == "kernel":
            skip_without(language, str(error))
        pytest.skip(str(error))


def skip_without(name: str, reason: str) -> NoReturn:
    """Skip the current test or module, or fail if REQUIRE_TOOLS=1 is set."""
    if os.environ.get("REQUIRE_TOOLS") == "1":
        pytest.fail(f"REQUIRE_TOOLS=1, but {name} is missing ({reason})", pytrace=False)
    pytest.skip(f"{name} ({reason})", allow_module_level=True)
