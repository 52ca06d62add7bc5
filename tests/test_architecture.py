"""docs/architecture.md names files; each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PATHS = sorted(set(re.findall(r"`([\w/]+(?:/|\.py))`", PAGE)))


@pytest.mark.parametrize("path", PATHS)
def test_path_on_the_architecture_page_exists(path: str) -> None:
    base = ROOT if path.startswith(("docs/", "src/", "tests/")) else ROOT / "src" / "proctor"
    file = base / path
    assert (file.parent if file.stem == "NAME" else file).exists()


def test_every_package_is_in_a_layer_on_the_architecture_page() -> None:
    packages = {file.parent.name for file in (ROOT / "src" / "proctor").glob("*/__init__.py")}
    assert {f"{name}/" for name in packages} <= set(PATHS)
