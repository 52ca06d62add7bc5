"""The doctor runs into every wall that a tier says it has, and sees when one is missing."""

import sys

import msgspec
import pytest

from proctor.errors import SandboxError
from proctor.records.execution import Enforcement, Execution, Exited
from proctor.sandbox import Sandbox, doctor
from proctor.sandbox.doctor import CHECKS, Findings, diagnose
from proctor.sandbox.host_check import HostCheck, Remedy


@pytest.mark.parametrize("sandbox", ["kernel", "contained", "wasm", "portable"], indirect=True)
def test_every_wall_of_every_tier_holds_here(sandbox: Sandbox) -> None:
    enforcement = sandbox.enforcement()
    trials = list(doctor._try_all(sandbox, enforcement))
    assert not [trial for trial in trials if not trial.held]
    kept = [how for how in enforcement.walls.values() if not how.startswith("not enforced")]
    assert len(trials) == 2 + len(kept), "a program that runs, and memory is tried twice"


class Sieve:
    """A tier that claims walls and has none: every program does as it likes."""

    def run(self, *_: object) -> Execution:
        return Execution(ending=Exited(0), stdout=doctor.SECRET.encode())


def test_a_wall_that_does_not_hold_is_seen() -> None:
    walls = {check.wall: "of paper" for check in CHECKS if check.wall}
    claimed = Enforcement(tier="kernel", isolated=True, walls=walls, clock="wall", toolchains={})
    assert not [trial.name for trial in doctor._try_all(Sieve(), claimed) if trial.held]  # type: ignore[arg-type]


def test_auto_looks_at_all_tiers_and_at_what_walls_are_made_of() -> None:
    try:
        from proctor.sandbox.tiers.select import open_sandbox

        open_sandbox("auto", sys.executable).close()
    except SandboxError as error:
        pytest.skip(str(error))
    found = diagnose("auto", sys.executable)
    assert found.works
    assert found.isolated
    tiers = ["kernel", "docker", "contained", "wasm", "portable"]
    assert [tier.tier for tier in found.tiers] == tiers
    assert {trial.name for trial in found.host} >= {"user namespace", "Landlock", "resource limits"}
    assert found.tier == next(tier.tier for tier in found.tiers if tier.isolated)
    portable = found.tiers[-1]
    assert (portable.works, portable.isolated) == (True, False)


def test_a_host_without_any_isolated_tier_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(name: str, *_: object) -> Sandbox:
        raise SandboxError(f"the {name} sandbox does not work here: unshare; proctor doctor says")

    failed = [HostCheck(name="user namespace", held=False, detail="refused")]
    monkeypatch.setattr(doctor, "open_sandbox", nothing)
    monkeypatch.setattr(doctor, "probe", lambda: failed)
    found = diagnose("auto", sys.executable)
    assert (found.works, found.tier) == (False, None)
    assert {tier.detail for tier in found.tiers} == {"unshare"}
    text = "\n".join(found.lines())
    assert text.startswith("sandbox: none (NOT ISOLATED")
    assert "  FAIL user namespace         refused" in text
    assert "to have namespaces, for the kernel tier" in text


def test_remedies_stand_last_and_can_be_copied() -> None:
    remedy = Remedy(missing="walls", lines=["sudo build"])
    found = Findings(
        tier=None,
        isolated=False,
        works=False,
        walls={},
        toolchains={},
        trials=[],
        remedies=[remedy],
    )
    assert list(found.lines())[-2:] == ["to have walls:", "    sudo build"]
    assert msgspec.to_builtins(found)["remedies"] == [{"missing": "walls", "lines": ["sudo build"]}]
