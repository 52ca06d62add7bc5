"""What this host has, and what would mend another."""

import sys
from collections.abc import Sequence

import pytest

from proctor.errors import SandboxError
from proctor.sandbox.host_check import (
    CGROUP,
    NAMESPACES,
    Host,
    HostCheck,
    check_host,
    probe,
    remedies,
)
from proctor.sandbox.limits.cgroup import find_cgroup_root

BARE = [
    HostCheck(name=name, held=False, detail="refused") for name in (*NAMESPACES, "Landlock", CGROUP)
]


def lines(host: Host, trials: Sequence[HostCheck] = BARE) -> str:
    return "\n".join(line for remedy in remedies(host, trials) for line in remedy.lines)


def may_have_cgroups() -> bool:
    try:
        return bool(find_cgroup_root())
    except SandboxError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="walls are made of Linux")
def test_probes_say_what_they_tried() -> None:
    trials = {trial.name: trial for trial in probe()}
    assert trials["system-call filter"].held
    assert trials["resource limits"].detail == "memory refused"
    assert trials[CGROUP].held == may_have_cgroups()
    assert all(trial.detail for trial in trials.values())
    assert check_host(sys.executable).system == "Linux"


def test_a_host_that_has_everything_needs_nothing() -> None:
    assert not lines(Host(), [HostCheck(name=name, held=True, detail="") for name in NAMESPACES])


def test_switches_of_the_host() -> None:
    said = lines(Host(max_user_namespaces=0, userns_clone=0))
    assert "sudo sysctl -w user.max_user_namespaces=15000" in said
    assert "sudo sysctl -w kernel.unprivileged_userns_clone=1" in said
    assert "docker run" not in said


def test_a_cgroup_comes_from_systemd_or_from_whoever_runs_the_container() -> None:
    assert "systemd-run --user --scope -p Delegate=yes proctor ..." in lines(Host())
    assert "systemd-run --scope -p Delegate=yes proctor ..." in lines(Host(root=True))
    assert "writable-cgroups=true" in lines(Host(container=True))
    assert "cgroup_writable = true" in lines(Host(container=True, pod=True))
    assert "systemd-run" not in lines(Host(container=True))
    assert "systemd-run" not in lines(Host(system="Darwin"))


def test_a_profile_for_apparmor_names_the_interpreter() -> None:
    said = lines(Host(apparmor_restricts=1, python="/opt/python3"))
    assert "profile proctor /opt/python3 flags=(unconfined) {\n  userns,\n}" in said
    assert "apparmor_parser -r" in said


def test_containers_and_pods_get_their_own_lines() -> None:
    assert "--security-opt systempaths=unconfined" in lines(Host(container=True))
    pod = lines(Host(container=True, pod=True))
    assert "docker run" not in pod
    assert "      procMount: Unmasked" in pod


def test_landlock_is_a_matter_of_the_kernel() -> None:
    assert "lsm=landlock" in lines(Host())
    assert "lsm=landlock" not in lines(Host(system="Darwin"))


def test_other_systems_are_told_of_webassembly() -> None:
    assert "proctor doctor --wasm" in lines(Host(system="Darwin"))
    assert "--wasm" not in lines(Host())
