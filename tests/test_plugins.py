"""What other packages bring; a broken one is one sentence, and touches no other."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor import languages
from proctor.benchmarks import TABLE, plugin_benchmarks, source_of
from proctor.benchmarks.source import Source
from proctor.errors import InputError
from proctor.plugins import load_plugins
from proctor.sandbox import doctor

SOURCE = (
    "from proctor.benchmarks import Source\nfrom proctor.benchmarks.tasks_file import read\n"
    "SOURCE = Source(name={name!r}, summary='', file='x', licence='', read=read)\n"
)
BROKEN = {
    "no such module": ("", "absent.module:SOURCE", "which cannot be loaded: ModuleNotFoundError: No module named 'absent'"),
    "no such name": ("", "{module}:SOURCE", "which cannot be loaded: AttributeError"),
    "fails at import": ("1 / 0", "{module}:SOURCE", "which cannot be loaded: ZeroDivisionError: division by zero"),
    "leaves at import": ("raise SystemExit(7)", "{module}:SOURCE", "which cannot be loaded: SystemExit: 7"),
    "another thing": ("SOURCE = 7", "{module}:SOURCE", "which is a int, not a Source"),
    "another name": (SOURCE.format(name="else"), "{module}:SOURCE", "which calls itself else"),
}  # fmt: skip


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that installs a package with an entry point."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(module: str, code: str, point: str, group: str = "proctor.benchmarks") -> None:
        (tmp_path / f"{module}.py").write_text(code)
        about = tmp_path / f"{module}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Name: {module}\nVersion: 1\n")
        (about / "entry_points.txt").write_text(f"[{group}]\n{point}\n")
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_one_touches_no_other(name: str, bring: Callable[..., None]) -> None:
    code, value, says = BROKEN[name]
    bring("bad_package", code, f"theirs = {value.format(module='bad_package')}")
    bring("good_package", SOURCE.format(name="good"), "good = good_package:SOURCE")
    found = plugin_benchmarks()
    assert list(found.found) == ["good"]
    assert says in found.broken["theirs"]
    assert found.broken["theirs"].startswith("the package bad_package brings theirs, ")
    assert source_of("good").name == "good"
    assert source_of("basics").name == "basics"
    with pytest.raises(InputError, match=r"^theirs: the package bad_package brings theirs, "):
        source_of("theirs")


def test_names_of_ours_are_not_theirs_to_give(bring: Callable[..., None]) -> None:
    bring("taker", SOURCE.format(name="humaneval"), "humaneval = taker:SOURCE")
    assert source_of("humaneval") is TABLE["humaneval"]
    assert plugin_benchmarks().broken == {
        "humaneval": "the package taker brings humaneval, but Proctor itself brings humaneval already"
    }


@pytest.mark.parametrize("installed", [("one", "two"), ("two", "one")])
def test_of_two_with_one_name_the_first_is_taken(
    installed: tuple[str, str], bring: Callable[..., None]
) -> None:
    for module in installed:
        bring(module, SOURCE.format(name="same"), f"same = {module}:SOURCE")
    found = load_plugins("proctor.benchmarks", Source)
    assert list(found.found) == ["same"]
    assert found.broken["same"] == (
        "the package two brings same, but the package one brings same already"
    )


def test_the_list_of_benchmarks_goes_on(
    bring: Callable[..., None], proctor: Callable[..., Any]
) -> None:
    bring("bad_package", "1 / 0", "theirs = bad_package:SOURCE")
    bring("good_package", SOURCE.format(name="good"), "good = good_package:SOURCE")
    ran = proctor("benchmarks")
    assert ran.status == 0
    assert ran.complaint == (
        "the package bad_package brings theirs, which cannot be loaded: "
        "ZeroDivisionError: division by zero; the others are not touched by that"
    )
    assert "\ngood " in ran.out
    assert proctor("benchmarks", "basics").err == ""
    assert proctor("score", "theirs", "--completions", "x").status == 2


def test_a_broken_model(bring: Callable[..., None], proctor: Callable[..., Any]) -> None:
    bring("bad_package", "1 / 0", "theirs = bad_package:make", "proctor.models")
    ran = proctor("run", "basics", "--model", "theirs:x")
    assert ran.status == 2
    assert ran.complaint.startswith("--model theirs: the package bad_package brings theirs, which")


def test_the_doctor_names_a_broken_language(
    bring: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Backend:
        def require_language(self, language: str) -> str:
            return f"{language} 1"

    bring("bad_package", "1 / 0", "lolcode = bad_package:LANGUAGE", "proctor.languages")
    monkeypatch.setattr(
        "proctor.sandbox.doctor.plugin_languages", languages.plugin_languages.__wrapped__
    )
    trials = {trial.name: trial for trial in doctor._try_languages(Backend())}
    assert set(languages.builtin_languages()) < set(trials)
    assert not trials["lolcode"].held
    assert trials["lolcode"].detail.startswith("the package bad_package brings lolcode, which")


@pytest.mark.parametrize("name", ["go", "cpp-parser"])
def test_a_package_cannot_replace_a_language_of_ours(name: str, bring: Callable[..., None]) -> None:
    ours = languages.get_language(name)
    bring("bad_package", "", f"{name} = bad_package:LANGUAGE", "proctor.languages")
    plugged = languages.plugin_languages.__wrapped__()
    assert plugged.found == {}
    assert plugged.broken == {
        name: f"the package bad_package brings {name}, but Proctor itself brings {name} already"
    }
    assert languages.get_language(name) is ours
