"""A download is asked for, checked, and kept only if it is the right file."""

import gzip
import hashlib
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from proctor.benchmarks import TABLE, find
from proctor.benchmarks.download import download
from proctor.benchmarks.source import Source
from proctor.errors import InputError

CONTENT = b'{"task_id": "a"}\n'


def source(url: str, content: bytes = CONTENT) -> Source:
    digest = hashlib.sha256(content).hexdigest()
    return msgspec.structs.replace(TABLE["mbpp"], url=url, sha256=digest)


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[str]:
    """Serve files over HTTP, as a publisher does."""
    folder = tmp_path / "www"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(CONTENT)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(CONTENT))
    (folder / "torn.gz").write_bytes(gzip.compress(CONTENT)[:-10])
    (folder / "odd.gz").write_bytes(b"\x1f\x8b\x08" + bytes(30))

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def do_GET(self) -> None:
            if self.path != "/short":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"not so many")

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_the_right_file_is_kept(publisher: str, alone: Path, name: str) -> None:
    wanted = source(f"{publisher}/{name}")
    path = download(wanted)
    assert path == alone / "home/.cache/proctor/data/mbpp.jsonl"
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == ["mbpp.jsonl"]
    assert find(wanted) == path


@pytest.mark.parametrize("name", ["a.jsonl", "short"])
def test_another_file_is_not(publisher: str, tmp_path: Path, name: str) -> None:
    wanted = source(f"{publisher}/{name}", b"something else")
    with pytest.raises(InputError, match=r"has sha256 [0-9a-f]{64}, not [0-9a-f]{64}; not kept$"):
        download(wanted, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["none", "torn.gz", "odd.gz"])
def test_a_file_that_does_not_come(publisher: str, tmp_path: Path, name: str) -> None:
    url = f"{publisher}/{name}"
    with pytest.raises(InputError) as caught:
        download(source(url), tmp_path / "cache")
    said = str(caught.value)
    assert said.startswith(f"mbpp: cannot fetch {url}: ")
    assert said.endswith("; fetch it by other means and name it by --data")
    assert not (tmp_path / "cache").exists()


def test_what_is_our_own_is_not_fetched(tmp_path: Path) -> None:
    said = "^basics: comes with proctor, there is nothing to fetch$"
    with pytest.raises(InputError, match=said):
        download(TABLE["basics"], tmp_path)
    assert not os.listdir(tmp_path)


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot fetch"):
        download(source("http://127.0.0.1:1/x"), tmp_path)


def test_no_place_to_keep_it(
    publisher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot write .*mbpp.jsonl: Not a directory"):
        download(source(f"{publisher}/a.jsonl"), tmp_path / "file" / "x")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}[_])
    with pytest.raises(InputError, match=r"there is no home folder to keep mbpp.jsonl in"):
        download(source(f"{publisher}/a.jsonl"))
