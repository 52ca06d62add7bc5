"""Which files of the host belong to packages that candidates may import."""

from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.sandbox.supervisor.packages import package_entries


def install(
    site: Path, name: str, files: list[str], *, record: str | None, needs: str = ""
) -> None:
    """Write a package as installers do, with their list of its files if there is one."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
    for file in files:
        path = site / file
        path.parent.mkdir(exist_ok=True)
        path.touch()
    if record is not None:
        (info / "RECORD").write_text(record)


def test_what_belongs_to_a_package_is_what_its_installer_wrote_down(tmp_path: Path) -> None:
    record = (
        'one/__init__.py,sha256=x,1\none/deep/er.py,,\n"o,dd.py",,\n__pycache__/o.pyc,,\n'
        "../../../bin/one,,\none-1.0.dist-info/RECORD,,\ngone/away.py,,\n\n"
        "./dotted/x.py,,\n./.,,\n/usr/share/one,,\n"
    )
    files = ["one/__init__.py", "o,dd.py", "dotted/x.py"]
    install(tmp_path, "one", files, record=record, needs="two")
    install(tmp_path, "two", ["two.py", "three.py"], record="two.py,,\n")
    assert package_entries(["one"], [str(tmp_path)]) == [
        (name, str(tmp_path / name))
        for name in ("dotted", "o,dd.py", "one", "one-1.0.dist-info", "two.py")
    ]


def test_a_package_without_such_a_list_has_another_or_none(tmp_path: Path) -> None:
    install(tmp_path, "one", ["one.py"], record=None)
    assert package_entries(["one"], [str(tmp_path)]) == []
    with pytest.raises(InputError, match="two is not installed"):
        package_entries(["two"], [str(tmp_path)])
