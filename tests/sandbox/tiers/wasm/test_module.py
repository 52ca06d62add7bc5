"""A compiled module is kept, for its user alone, and taken only as it was made."""

import stat
from pathlib import Path

import pytest

from proctor.errors import InputError, SandboxError
from proctor.sandbox.tiers.wasm import module, open_wasm
from proctor.sandbox.tiers.wasm.module import compiled, library_beside

EMPTY = b"\0asm\1\0\0\0"
"""The smallest module that there is."""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "empty.wasm"
    path.write_bytes(EMPTY)
    return path


def test_it_is_compiled_once_and_nobody_else_may_read_it(empty, tmp_path, monkeypatch):
    key, file = compiled(empty)
    assert file == tmp_path / "home/.cache/proctor/wasm" / f"{key}.cwasm"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert sorted(path.suffix for path in file.parent.iterdir()) == [".cwasm", ".sha256"]
    monkeypatch.setattr(module, "_compile", lambda *_: pytest.fail("it is there already"))
    assert compiled(empty) == (key, file)


@pytest.mark.parametrize("forge", [lambda data: data[:-1], lambda data: data + b"x", lambda _: b""])
def test_what_is_not_as_it_was_made_is_made_again(empty, forge):
    _, file = compiled(empty)
    made = file.read_bytes()
    file.write_bytes(forge(made))
    assert compiled(empty)[1].read_bytes() == made
    file.with_suffix(".sha256").unlink()
    assert compiled(empty)[1].read_bytes() == made


def test_another_module_is_another_file(empty, tmp_path):
    other = tmp_path / "other.wasm"
    other.write_bytes(EMPTY + b"\0\5\4name")
    assert compiled(other)[0] != compiled(empty)[0]


def test_only_some_are_kept(empty, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_KEPT", 1)
    compiled(empty)
    other = tmp_path / "other.wasm"
    other.write_bytes(EMPTY + b"\0\5\4name")
    _, kept = compiled(other)
    assert sorted(path.stem for path in kept.parent.iterdir()) == [kept.stem] * 2


def test_a_user_without_a_cache_has_it_for_as_long_as_it_takes(empty, tmp_path):
    (tmp_path / "home").write_text("not a folder")
    _, file = compiled(empty)
    assert file.exists()
    assert not file.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"#!/bin/sh\n", "is no WebAssembly module"), (b"\0asm\7\7\7\7", "cannot be compiled")],
)
def test_what_is_no_module_is_refused(empty, content, why):
    empty.write_bytes(content)
    with pytest.raises(InputError, match=f"empty.wasm {why}"):
        compiled(empty)
    empty.unlink()
    with pytest.raises(InputError, match=r"cannot read .*empty.wasm"):
        compiled(empty)


def test_a_module_that_is_no_python_is_refused(empty):
    sandbox = open_wasm(str(empty))
    try:
        with pytest.raises(SandboxError, match="does not run a first program"):
            sandbox.enforcement()
    finally:
        sandbox.close()


def test_without_wasmtime_it_says_what_to_install(empty, monkeypatch):
    monkeypatch.setattr(module.util, "find_spec", lambda _: None)
    with pytest.raises(SandboxError, match=r"pip install '\.\[wasm\]'"):
        open_wasm(str(empty))


def test_a_library_beside_a_module_is_found(empty, tmp_path):
    assert library_beside(empty) == ""
    (tmp_path / "lib/python3.13").mkdir(parents=True)
    (tmp_path / "lib/python3.13/os.py").touch()
    assert library_beside(empty) == str(tmp_path / "lib")
