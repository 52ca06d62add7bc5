"""What is kept comes back whole or not at all."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.storage.cache import Cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".cache" / "proctor" / "things"


def test_what_is_kept_comes_back(folder: Path) -> None:
    cache = Cache("things")
    assert cache.get("a") is None
    cache.put("a", b"content")
    cache.put("a", b"newer")
    assert cache.get("a") == Cache("things").get("a") == b"newer"
    assert len(list(folder.iterdir())) == 1


def test_what_was_made_with_other_files_is_not_known(folder: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    Cache("things", made_with=[str(tool)]).put("a", b"content")
    assert Cache("things", made_with=[str(tool)]).get("a") == b"content"
    tool.touch()
    assert Cache("things", made_with=[str(tool)]).get("a") is None


@given(content=st.binary(max_size=100), at=st.integers(0, 131), to=st.integers(0, 255))
def test_a_damaged_file_is_none(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, at: int, to: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("HOME", str(home))
        cache = Cache("things")
        cache.put("a", content)
        (path,) = (home / ".cache" / "proctor" / "things").iterdir()
        whole = bytearray(path.read_bytes())
        path.write_bytes(whole[:at])
        assert cache.get("a") == (content if at >= len(whole) else None)
        if at < len(whole) and whole[at] != to:
            whole[at] = to
            path.write_bytes(whole)
            assert cache.get("a") is None


def test_the_oldest_goes_first(folder: Path) -> None:
    cache = Cache("things", max_bytes=250)
    for age, name in enumerate(("a", "b")):
        cache.put(name, bytes(60))
        os.utime(folder / name, (age, age))
    assert cache.get("a") is not None  # which makes it young again
    cache.put("c", bytes(60))
    assert sorted(path.name[0] for path in folder.iterdir()) == ["a", "c"]


def test_there_is_never_much_more_than_there_may_be(folder: Path) -> None:
    """Some who do not know of each other put one thing after the other, or only note something."""
    caches = [Cache("things", max_bytes=10_000) for _ in range(4)]
    for number in range(600):
        caches[number % 4].put(str(number), bytes(200) if number < 200 else b"")
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 15_000
    assert len(list(folder.iterdir())) > 20


def test_nobody_minds_a_folder_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cache").write_text("a file")
    monkeypatch.setenv("HOME", str(tmp_path))
    cache = Cache("things")
    cache.put("a", b"content")
    assert cache.get("a") is None
