"""`proctor keys`: secrets are shown once, and only digests are kept."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.server.keys import Keys, read_keys

Proctor = Callable[..., Any]


def test_a_key_is_made_listed_and_removed(proctor: Proctor, tmp_path: Path) -> None:
    file = tmp_path / "keys.jsonl"
    made = proctor("keys", "new", "trainer", "--file", str(file))
    assert (made.status, made.err) == (0, "")
    secret = made.out.strip()
    assert len(secret) > 40
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = proctor("keys", "new", "monitor", "--file", str(file), "--scope", "metrics").out.strip()
    listed = proctor("keys", "list", "--file", str(file)).out.splitlines()
    assert [line.split()[:2] for line in listed] == [
        ["trainer", "grade,execute,tasks"],
        ["monitor", "metrics"],
    ]
    keys = Keys(read_keys(file))
    assert keys.find(secret.encode()).scopes == {"grade", "execute", "tasks"}  # type: ignore[union-attr]
    assert keys.find(other.encode()).name == "monitor"  # type: ignore[union-attr]
    assert keys.find(secret[:-1].encode()) is None
    assert keys.find(b"") is None
    assert proctor("keys", "remove", "trainer", "--file", str(file)).status == 0
    assert Keys(read_keys(file)).find(secret.encode()) is None


def test_two_keys_are_never_the_same(proctor: Proctor, tmp_path: Path) -> None:
    file = str(tmp_path / "keys.jsonl")
    secrets = {proctor("keys", "new", f"k{i}", "--file", file).out for i in range(5)}
    assert len(secrets) == 5


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["new", "a b"], "is no name of a key"),
        (["new", ""], "is no name of a key"),
        (["new", "x" * 65], "is no name of a key"),
        (["new", "x", "--scope", "all"], "--scope all: known are grade"),
        (["new", "x", "--scope", ""], "--scope"),
        (["remove", "nobody"], "there is no key nobody"),
        (["new", "known"], "there is a key known already"),
    ],
)
def test_misuse(proctor: Proctor, tmp_path: Path, args: list[str], said: str) -> None:
    file = tmp_path / "keys.jsonl"
    proctor("keys", "new", "known", "--file", str(file))
    before = file.read_text()
    ran = proctor("keys", *args, "--file", str(file))
    assert ran.status == 2
    assert said in ran.err
    assert file.read_text() == before


@pytest.mark.parametrize(
    "line",
    ["nonsense", '{"name": "x"}', '{"name": "x", "sha256": "abc"}', "[" * 5000,
     '{"name": "x", "sha256": "' + "0" * 64 + '", "scopes": ["all"]}',
     '{"name": "x", "sha256": "' + "0" * 64 + '", "secret": "oops"}'],
)  # fmt: skip
def test_a_file_that_is_none_is_refused_by_line(
    proctor: Proctor, tmp_path: Path, line: str
) -> None:
    file = tmp_path / "keys.jsonl"
    file.write_text(f'{{"name": "a", "sha256": "{"1" * 64}"}}\n{line}\n')
    for command in (["keys", "list", "--file", str(file)], ["serve", "--keys", str(file)]):
        ran = proctor(*command)
        assert ran.status == 2
        assert "keys.jsonl, line 2" in ran.err


def test_a_file_that_is_not_there(proctor: Proctor, tmp_path: Path) -> None:
    ran = proctor("serve", "--keys", str(tmp_path / "nope"))
    assert ran.status == 2
    assert "nope" in ran.err


def test_a_disk_that_fails_leaves_the_keys_as_they_were(
    proctor: Proctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    file = folder / "keys.jsonl"
    proctor("keys", "new", "trainer", "--file", str(file))
    before = file.read_bytes()

    def fsync(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    ran = proctor("keys", "new", "other", "--file", str(file))
    assert (ran.status, ran.out) == (3, "")
    assert ran.complaint == f"cannot write {file}: Input/output error"
    assert file.read_bytes() == before
    assert os.listdir(folder) == ["keys.jsonl"]
