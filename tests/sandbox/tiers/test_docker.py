"""The docker tier, with a daemon of its own and an image made of this host's files."""

import json
import os
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.errors import InputError, SandboxError
from proctor.records.execution import Exited, Signalled, TimedOut
from proctor.records.limits import MIB, Limits
from proctor.records.program import Program
from proctor.records.receipt import Receipt
from proctor.sandbox.inside.isolation import docker_fd_passing
from proctor.sandbox.limits import seccomp
from proctor.sandbox.supervisor.box import Box
from proctor.sandbox.supervisor.box_contents import BoxContents, Interpreter
from proctor.sandbox.tiers import docker_container
from proctor.sandbox.tiers.docker import Docker
from proctor.sandbox.tiers.docker_container import Image, command, inspect_image, profile
from proctor.sandbox.tiers.select import open_sandbox
from tests.requires import requires

PYTHON = "/usr/bin/python3"
NAME = "proctor-test:1"
QUICK = Limits().with_seconds(1.0)
SKIPPED = ("test", "__pycache__", "idlelib", "tkinter", "ensurepip", "distutils", "lib2to3")
INTERPRETER = Interpreter(executable="/p", version="3", prefix="/", stdlib="/l", sites=("/s",))


def root_files() -> set[Path]:
    """Return the files that this host's own Python needs, but for the standard library."""
    python = Path(PYTHON).resolve()
    modules = python.parent.parent.glob(f"lib/{python.name}/lib-dynload/*.so")
    said = subprocess.run(["ldd", python, *modules], capture_output=True, text=True, check=False)
    return {python, *(Path(path) for path in re.findall(r"(/\S+\.so\S*) \(", said.stdout))}


def make_image(tar: Path) -> None:
    files = root_files()
    python = Path(PYTHON).resolve()
    folders = {parent for file in (*files, Path("/usr/lib/x")) for parent in file.parents}
    with tarfile.open(tar, "w") as archive:
        for name in (*sorted(map(str, folders))[1:], "/tmp", "/proc", "/dev", "/sys", "/proctor"):
            folder = tarfile.TarInfo(name[1:])
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "/tmp" else 0o755
            archive.addfile(folder)
        for file in sorted(files):
            archive.add(file.resolve(), str(file))
        link = tarfile.TarInfo("usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, python.name
        archive.addfile(link)
        library = f"/usr/lib/{python.name}"
        archive.add(library, filter=lambda i: None if Path(i.name).name in SKIPPED else i)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Start a Docker daemon that nobody else uses, or skip."""
    requires("docker")
    if os.geteuid() != 0 or not Path(PYTHON).exists():
        pytest.skip(f"a daemon needs root, and its image {PYTHON}")
    folder = Path(tmp_path_factory.mktemp("docker"))
    place = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
    network = ["--iptables=false", "--ip6tables=false", "--bridge=none"]
    host = f"unix://{folder}/socket"
    with (folder / "log").open("wb") as log, pytest.MonkeyPatch.context() as patch:
        process = subprocess.Popen(
            ["dockerd", "-H", host, *place, *network], stderr=log, stdout=log
        )
        patch.setenv("DOCKER_HOST", host)
        try:
            deadline = time.monotonic() + 20
            while subprocess.run(
                ["docker", "version"], capture_output=True, check=False
            ).returncode:
                if process.poll() is not None or time.monotonic() > deadline:
                    said = (folder / "log").read_text().splitlines()
                    pytest.skip(f"the daemon does not start: {said[-1] if said else 'no reason'}")
                time.sleep(0.2)
            make_image(folder / "image.tar")
            path = ["--change", "ENV PATH=/usr/local/bin:/usr/bin"]
            subprocess.run(["docker", "import", *path, folder / "image.tar", NAME], check=True)
            yield
        finally:
            process.terminate()
            process.wait(30)
            inspect_image.cache_clear()


@pytest.fixture(scope="module")
def docker(daemon: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Docker]:
    """Open the tier as the command line does, by the settings file."""
    file = tmp_path_factory.mktemp("settings") / "proctor.toml"
    file.write_text(f'docker_image = "{NAME}"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_CONFIG", str(file))
        opened = open_sandbox("docker", PYTHON)
    assert isinstance(opened, Docker)
    yield opened
    opened.close()


def containers() -> list[str]:
    answer = subprocess.run(["docker", "ps", "-aq"], capture_output=True, text=True, check=True)
    return answer.stdout.split()


def test_programs_run_and_end_as_everywhere(docker: Docker) -> None:
    for source, ending in (
        ("print(6 * 7)", Exited(0)),
        ("import time; time.sleep(60)", TimedOut("wall")),
        ("while True: pass", TimedOut("cpu")),
        ("import os; os.kill(os.getpid(), 9)", Signalled(9)),
        ("import os; os.fork() or os._exit(0); os.wait(); exit(3)", Exited(3)),
    ):
        execution = docker.run(Program(source=source), QUICK)
        assert execution.ending == ending, execution
    assert docker.enforcement().isolated
    assert docker.enforcement().walls["processes"] == "rlimit in a user namespace of its own"
    assert len(containers()) == 1, "one worker, one container"


def test_a_guest_sees_the_image_and_nothing_else(docker: Docker) -> None:
    source = """
import os, socket
print(os.getuid(), sorted(os.listdir("/")), os.listdir("."))
for attempt in (lambda: open("/usr/new", "w"), lambda: socket.socket(), lambda: os.chroot(".")):
    try: print(attempt())
    except OSError as error: print(error.errno)
print([p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()])
"""
    said = docker.run(Program(source=source), QUICK).stdout.decode().splitlines()
    places = re.sub("'lib32', |'bin', ", "", said[0])
    assert places == "1000 ['dev', 'etc', 'lib', 'lib64', 'proc', 'tmp', 'usr'] ['main.py']"
    assert said[1:] == ["30", "1", "1", "[]"]


def test_memory_is_limited(docker: Docker) -> None:
    limits = Limits(memory_bytes=200 * MIB)
    execution = docker.run(Program(source="x = bytearray(300 << 20)"), limits)
    assert b"MemoryError" in execution.stderr


@pytest.mark.slow
@pytest.mark.parametrize("model", ["reference", "wrong"])
def test_the_suite_basics(docker: Docker, strays: Callable[..., list[Receipt]], model: str) -> None:
    assert strays(docker, model) == []


@pytest.mark.slow
def test_where_namespaces_are_refused_a_container_serves_one_candidate(
    docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "KEEPERS", frozenset({"memfd_create"}))
    before = containers()
    refused = Docker(inspect_image(NAME), None)
    try:
        said = refused.enforcement().walls["other processes"]
        assert said.startswith("a container for each candidate; no namespaces: ")
        assert said.endswith("unshare: Operation not permitted")
        source = "import os; open('x', 'w'); print(sorted(os.listdir('.')))\ntry: os.fork()\nexcept OSError as e: print(e.errno)"
        for _ in range(2):
            execution = refused.run(Program(source=source), QUICK)
            assert execution.stdout == b"['main.py', 'x']\n1\n", execution
            assert containers() == before
        look = "import os; print(os.listdir('/proc'))"
        assert b"Permission denied" in refused.run(Program(source=look), QUICK).stderr
    finally:
        refused.close()


def test_an_image_that_is_not_there_says_how_to_get_it(daemon: None) -> None:
    with pytest.raises(SandboxError, match="docker pull no-such:image"):
        inspect_image("no-such:image")


def test_nothing_is_left(docker: Docker) -> None:
    docker.close()
    deadline = time.monotonic() + 10
    while containers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not containers()


def test_a_host_without_docker_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxError, match="there is no docker command"):
        inspect_image("an:image")


def test_packages_are_those_of_the_image() -> None:
    image = Image(name="i", interpreter=INTERPRETER, packages={"numpy": "2", "PyYAML": "6"})
    assert image.choose(None) == ["numpy"]
    assert image.choose(["pyyaml"]) == ["PyYAML"]
    with pytest.raises(InputError, match="scipy is not in i"):
        image.choose(["scipy"])
    bad = Image(name="i", interpreter=INTERPRETER, packages={"evalplus": "0.3"})
    with pytest.raises(InputError, match="i has evalplus, from which answers could be read"):
        bad.choose(None)


def test_a_container_has_no_rights_and_room_for_the_limits() -> None:
    image = Image(name="i", interpreter=INTERPRETER, packages={})
    flags = " ".join(command("n", image, "/f", Limits(processes=9)))
    for flag in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges"):
        assert flag in flags
    assert "--pids-limit 25 " in flags
    assert f"--memory {(1024 + 256 + 256) * MIB} " in flags


def test_the_profile_denies_what_guests_may_not_but_lets_keepers_work() -> None:
    denied = set(profile()["syscalls"][0]["names"])
    assert {"ptrace", "bpf", "kexec_load", "open_tree"} <= denied <= set(seccomp.DENIED)
    assert not denied & {"unshare", "mount", "clone", "memfd_create"}


def test_what_builds_a_box_in_a_container_needs_nothing_else_of_ours() -> None:
    """Daemons are rare: who runs tests without one has to hear of it, too."""
    boot = docker_fd_passing.CONTAINER_BOOT
    load = boot[boot.index("package = ") : boot.index("for fd in fds")]
    said, _ = docker_container.note(BoxContents(interpreter=INTERPRETER), namespaces=True)
    script = f"import json, sys, types\nnote = json.load(sys.stdin)\n{load}print(module.build_in_container)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "function build_in_container" in done.stdout, done.stderr


def test_a_container_that_does_not_start_says_why(
    daemon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Box, "find_keeper", lambda *_: None)
    image = inspect_image(NAME)
    monkeypatch.setattr(docker_container, "OPEN_FLAGS", ("--security-opt", "nonsense=1"))
    with pytest.raises(SandboxError, match="nonsense"):
        Docker(image, None).enforcement()
