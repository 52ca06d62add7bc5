"""Weights are told apart by what is in them."""

from pathlib import Path

import pytest

from proctor.models.weights_digest import PART, PARTS, weights_sha256


@pytest.mark.parametrize("size", [0, 1, PART, PART * PARTS, PART * PARTS + 1, 5 * PART * PARTS])
def test_a_changed_beginning_or_end_is_seen(tmp_path: Path, size: int) -> None:
    file = tmp_path / "w.gguf"
    seen = set()
    for first, last in ((0, 0), (1, 0), (0, 1)):
        content = bytearray(size)
        if size:
            content[0] ^= first
            content[-1] ^= 2 * last
        file.write_bytes(content)
        seen.add(weights_sha256(file))
        assert weights_sha256(file) in seen
    assert len(seen) == (3 if size else 1)


def test_a_folder_is_all_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    first = weights_sha256(tmp_path)
    (tmp_path / "model.bin").write_bytes(b"x")
    second = weights_sha256(tmp_path)
    (tmp_path / "sub").mkdir()
    assert weights_sha256(tmp_path) == second
    (tmp_path / "model.bin").rename(tmp_path / "other.bin")
    assert len({first, second, weights_sha256(tmp_path)}) == 3


def test_where_it_lies_does_not_matter(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.gguf").write_bytes(b"same")
    assert weights_sha256(tmp_path / "a" / "w.gguf") == weights_sha256(tmp_path / "b" / "w.gguf")
