"""Where compilers and runtimes lie on this host, and what they are called with."""

import contextlib
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.languages import builtin_languages
from proctor.languages.toolchain import find_toolchain
from proctor.records.limits import MIB

OTHERS = [name for name in builtin_languages() if name != "python"]


def test_all_that_a_language_shows_is_really_there():
    for name in OTHERS:
        with contextlib.suppress(SandboxError):
            toolchain = find_toolchain(name)
            assert all(Path(path).exists() for path in toolchain.shown)
            assert toolchain.version


def test_what_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("proctor.languages.toolchain.shutil.which", lambda name: None)
    find_toolchain.cache_clear()
    with pytest.raises(SandboxError, match=r"there is no g\+\+ here; apt install g\+\+"):
        find_toolchain("cpp")
    find_toolchain.cache_clear()


@pytest.mark.requires("java")
def test_a_program_is_called_what_its_text_says():
    java = find_toolchain("java")
    assert java.name_for("import x;\npublic final class Solver {}") == "Solver"
    assert java.name_for("class Solver {}") == "Main"
    run = java.argv(java.runner(tests=False), "Solver", 1024 * MIB)
    assert run[-1] == "Solver"
    assert "-Xmx768m" in run
