"""Caches of compilers: filled once, shown to all, changed by none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.languages import get_language
from proctor.languages.compiler import pack_files
from proctor.languages.toolchain import Toolchain
from proctor.records.execution import Execution, Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox import Sandbox
from proctor.sandbox.toolchains import go_build_cache
from tests.requires import requires_language

LEFT = {"0a/1-a": b"one", "ff/2-d": b"two", "trim.txt": b"3", "../../out": b"4", "0a/../x": b"5"}


@pytest.fixture
def toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(go_build_cache, "HIDDEN", Path("/nowhere"))
    return Toolchain(language=get_language("go"), version="1", commands={}, shown=["/go"])


def leaving(*endings: int) -> Callable[[Program], Execution]:
    left = iter(endings)
    return lambda _: Execution(ending=Exited(next(left)), stdout=pack_files(LEFT))


def test_it_is_filled_once(toolchain: Toolchain) -> None:
    found = go_build_cache.go_cache_folder(toolchain, leaving(0))
    place = Path(found.warm)
    assert found.shown == ["/go", found.warm]
    files = {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*-*")}
    assert files == {"0a/1-a": b"one", "ff/2-d": b"two"}
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert go_build_cache.go_cache_folder(toolchain, leaving()).warm == found.warm


def test_the_first_program_that_compiles_is_enough(toolchain: Toolchain) -> None:
    assert go_build_cache.go_cache_folder(toolchain, leaving(1, 0)).warm


def test_without_one_it_is_as_it_was(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert go_build_cache.go_cache_folder(toolchain, leaving(1, 1)) == toolchain
    (tmp_path / ".cache").write_text("a file")
    assert go_build_cache.go_cache_folder(toolchain, leaving(0)) == toolchain
    monkeypatch.setattr(go_build_cache, "HIDDEN", tmp_path)
    assert (
        go_build_cache.go_cache_folder(toolchain, leaving()) == toolchain
    )  # what guests cannot see is not made


def test_a_candidate_changes_nothing_that_others_find(kernel: Sandbox) -> None:
    requires_language(kernel, "go")
    warm = kernel.native("go").require("go").warm
    if not warm:
        pytest.skip("the home folder of this user cannot be shown to guests")
    before = {path: path.read_bytes() for path in Path(warm).rglob("*-a")}
    assert before
    source = (
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n\t"path/filepath"\n)\n\nfunc main() {\n'
        f'\tfound, _ := filepath.Glob("{warm}/*/*")\n\tchanged := 0\n'
        "\tfor _, name := range found {\n"
        '\t\tif os.WriteFile(name, []byte("x"), 0o666) == nil || os.Remove(name) == nil {\n'
        "\t\t\tchanged++\n\t\t}\n\t}\n\tfmt.Println(len(found) > 0, changed)\n}\n"
    )
    ran = kernel.run(Program(source=source, language="go"), Limits().with_seconds(10))
    assert ran.stdout == b"true 0\n", ran
    assert {path: path.read_bytes() for path in Path(warm).rglob("*-a")} == before
