"""What is taken from everybody: throttled containers, stolen processors."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.sandbox.limits.cpu_steal import (
    HERTZ,
    TICK,
    CgroupThrottling,
    CpuSteal,
    StolenTimeMeter,
)


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what lets time pass, which it does not by itself."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def passes(seconds: float) -> None:
        now[0] += seconds

    return passes


def test_a_meter_counts_only_while_it_is_asked_to() -> None:
    total = [5.0]
    meter = StolenTimeMeter(lambda: total[0])
    assert meter.value == 0
    meter.start()
    total[0] += 1
    assert meter.value == 1
    meter.stop()
    total[0] += 10
    assert meter.value == 1
    meter.start()
    total[0] += 2
    assert meter.value == 3
    meter.lap()
    total[0] += 4
    assert meter.value == 4


class Container:
    """The files of a cgroup with a limit of processor time, of either version."""

    def __init__(self, folder: Path, version: int, quota: float, period: float) -> None:
        self.folder = folder
        self.periods, self.kept = 0, 0.0
        self._unit, self._name = (1e9, "time") if version == 1 else (1e6, "usec")
        if version == 1:
            (folder / "cpu.cfs_quota_us").write_text(f"{quota * 1e6:.0f}\n")
            (folder / "cpu.cfs_period_us").write_text(f"{period * 1e6:.0f}\n")
        else:
            (folder / "cpu.max").write_text(f"{quota * 1e6:.0f} {period * 1e6:.0f}\n")
        self.throttle(0, 0.0)

    def throttle(self, periods: int, kept: float) -> None:
        self.periods += periods
        self.kept += kept
        lines = f"nr_periods 9\nnr_throttled {self.periods}\n"
        told = f"throttled_{self._name} {self.kept * self._unit:.0f}\n"
        (self.folder / "cpu.stat").write_text(lines + told)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("processors", [1, 8])
def test_throttled_time_is_that_of_one_processor(
    passing: Callable[[float], None], tmp_path: Path, version: int, processors: int
) -> None:
    container = Container(tmp_path, version, quota=0.02 * processors, period=0.1)
    throttle = CgroupThrottling([tmp_path])
    assert throttle.seconds() == 0
    container.throttle(10, 0.8 * processors)  # all of them stood still for 0.08 s in each period
    assert throttle.seconds() == 0, "nobody looks all the time"
    passing(1)
    assert throttle.seconds() == pytest.approx(0.8)
    passing(1)
    assert throttle.seconds() == pytest.approx(0.8)


@given(
    periods=st.integers(0, 100),
    kept=st.floats(0, 1e4),
    quota=st.floats(0.001, 100),
    period=st.floats(0.001, 1),
)
def test_throttled_time_is_never_more_than_time(
    tmp_path_factory: pytest.TempPathFactory,
    periods: int,
    kept: float,
    quota: float,
    period: float,
) -> None:
    container = Container(tmp_path_factory.mktemp("cgroup"), 2, quota, period)
    throttle = CgroupThrottling([container.folder])
    container.throttle(periods, kept)
    throttle._looked -= TICK
    assert 0 <= throttle.seconds() <= max(periods, 1) * period * 1.001 + 1e-6


def test_of_cgroups_inside_one_another_the_tightest_counts(
    passing: Callable[[float], None], tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    outer = Container(tmp_path, 2, quota=0.05, period=0.1)
    inner = Container(tmp_path / "inner", 2, quota=0.02, period=0.1)
    throttle = CgroupThrottling([tmp_path / "inner", tmp_path, tmp_path / "not there"])
    outer.throttle(10, 0.5)
    inner.throttle(10, 0.8)
    passing(1)
    assert throttle.seconds() == pytest.approx(0.8)


class Processors:
    """The part of /proc/stat that tells of processors."""

    def __init__(self, path: Path, count: int) -> None:
        self.path = path
        self.stolen = [0.0] * count
        self.steal(0, 0.0)

    def steal(self, processor: int, seconds: float) -> None:
        self.stolen[processor] += seconds
        lines = [
            f"cpu{n} 9 9 9 9 9 9 9 {seconds * HERTZ:.0f} 0 0"
            for n, seconds in enumerate(self.stolen)
        ]
        every = f"cpu 9 9 9 9 9 9 9 {sum(self.stolen) * HERTZ:.0f} 0 0"
        self.path.write_text("\n".join([every, *lines, "intr 1 2 3 4 5 6 7 8 9 10", "btime 1"]))


def test_stolen_time_is_that_of_the_processor_that_was_missed_most(
    passing: Callable[[float], None], tmp_path: Path
) -> None:
    processors = Processors(tmp_path / "stat", 3)
    theft = CpuSteal(processors.path)
    processors.steal(0, 0.2)
    processors.steal(2, 0.5)
    assert theft.seconds() == 0, "nobody looks all the time"
    passing(1)
    assert theft.seconds() == pytest.approx(0.5)
    processors.steal(0, 0.3)
    passing(1)
    assert theft.seconds() == pytest.approx(0.8)
    processors.path.unlink()
    passing(1)
    assert theft.seconds() == pytest.approx(0.8)


@pytest.mark.parametrize("told", ["", "cpu0 1 2 3\ncpu 1 2", "cpu\n"])
def test_a_kernel_that_tells_nothing_of_theft(
    passing: Callable[[float], None], tmp_path: Path, told: str
) -> None:
    (tmp_path / "stat").write_text(told)
    theft = CpuSteal(tmp_path / "stat")
    passing(1)
    assert theft.seconds() == 0


def test_this_kernel_tells() -> None:
    if not Path("/proc/stat").exists():
        pytest.skip("there is no /proc/stat")
    assert CpuSteal()._stolen()
