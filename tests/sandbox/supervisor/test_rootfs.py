"""What goes into a box, and how its keeper comes to life."""

import sys
from pathlib import Path

import pytest

from proctor.errors import SandboxError
from proctor.records.execution import Exited
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.sandbox.supervisor import bundle
from proctor.sandbox.supervisor.box_contents import BoxContents, inspect_interpreter
from proctor.sandbox.supervisor.rootfs import package_folders
from proctor.sandbox.supervisor.sessions import run_in_session
from proctor.sandbox.tiers.kernel import kernel_box


@pytest.mark.parametrize("known", [True, False])
def test_a_keeper_comes_to_life_from_our_code_or_from_source(
    monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    monkeypatch.setattr(bundle, "reads_our_code", lambda _: known)
    try:
        box = kernel_box(BoxContents(interpreter=inspect_interpreter(sys.executable)))
    except SandboxError as error:
        pytest.skip(str(error))
    try:
        ran = run_in_session(box, Program(source="print(6 * 7)"), Limits(), b"")
    finally:
        box.close()
    assert (ran.ending, ran.stdout) == (Exited(0), b"42\n"), ran.stderr


def test_folders_of_packages_are_found_wherever_a_python_has_them(tmp_path: Path) -> None:
    found = (
        *("site-packages", "dist-packages", "python3/dist-packages"),
        *("python3.11/site-packages", "lib/python3.9/site-packages"),
    )
    for name in (*found, "lib/perl5/site-packages", "python3.11/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib" / "python3.8").write_text("no folder\n")
    assert sorted(package_folders(str(tmp_path))) == sorted(str(tmp_path / one) for one in found)
    assert not list(package_folders(str(tmp_path / "lib" / "python3.8")))
    assert not list(package_folders(str(tmp_path / "nowhere")))
