"""One TOML file, found where the documentation says."""

import sys
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.settings import Settings, default_workers, has_display, load_settings
from proctor.storage.home import home


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_CONFIG", raising=False)


def test_without_a_file_there_are_defaults(alone: Path) -> None:
    assert load_settings() == Settings()
    assert Settings().sandbox == "auto"
    assert Settings().max_seconds == 300.0


def test_the_order_of_places(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home = alone / "home" / ".config" / "proctor" / "proctor.toml"
    at_home.parent.mkdir(parents=True)
    at_home.write_text("workers = 1")
    assert load_settings().workers == 1
    (alone / "proctor.toml").write_text("workers = 2")
    assert load_settings().workers == 2
    (alone / "named.toml").write_text('workers = 3\ndata = "d"\nsandbox = "portable"\n')
    monkeypatch.setenv("PROCTOR_CONFIG", "named.toml")
    assert load_settings() == Settings(workers=3, data="d", sandbox="portable")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"workers = ", "not TOML: Invalid value (at end of document)"),
        (b'workers = "many"', "field workers must be a whole number, not a string"),
        (b"workers = 0", "field workers must be a whole number >= 1"),
        (b"max_seconds = 0", "field max_seconds must be a number > 0.0"),
        (b"sandbox = 'bag'", "field sandbox cannot be 'bag'"),
        (b"wrokers = 3", "field wrokers is not known"),
        (b"\xff", "not UTF-8: byte 0xff, invalid start byte"),
        (b"max_seconds = 'long'", "field max_seconds must be a number, not a string"),
    ],
)
def test_a_wrong_file_is_named_with_its_field(alone: Path, content: bytes, said: str) -> None:
    (alone / "proctor.toml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"proctor.toml: {said}")


def test_a_named_file_must_be_there(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CONFIG", "no.toml")
    with pytest.raises(InputError, match=r"^cannot read no.toml: No such file or directory$"):
        load_settings()


def test_a_user_without_a_home_has_no_settings(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}[_])
    assert home("x") is None
    assert load_settings() == Settings()


def test_home_is_the_users(alone: Path) -> None:
    assert home(".cache", "x") == alone / "home" / ".cache" / "x"


def test_workers_are_processors_that_may_be_used() -> None:
    assert default_workers() >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there always is one")
def test_a_browser_needs_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_display()
