"""The system-call filters, run step by step as the kernel runs them."""

import struct

import pytest

from proctor.sandbox.limits import seccomp

PID = 4711
ALLOWED, REFUSED, MISSING = seccomp.ALLOW, seccomp.ERROR | seccomp.EPERM, seccomp.ERROR | 38


def decide(code: bytes, machine: str, number: int, *args: int) -> int:
    """Return what a filter says of a call."""
    values = [*args, *[0] * (6 - len(args))]
    call = struct.pack("IIQ6Q", number, seccomp.ARCHITECTURES[machine][1], 0, *values)
    steps = list(struct.iter_unpack("HBBI", code))
    place = accumulator = 0
    while True:
        what, yes, no, value = steps[place]
        place += 1
        match what:
            case seccomp.LOAD:
                accumulator = struct.unpack_from("I", call, value)[0]
            case seccomp.AND:
                accumulator &= value
            case seccomp.JUMP_ALWAYS:
                place += value
            case seccomp.JUMP_EQUAL:
                place += yes if accumulator == value else no
            case seccomp.JUMP_ABOVE:
                place += yes if accumulator >= value else no
            case seccomp.JUMP_BITS:
                place += yes if accumulator & value else no
            case seccomp.RETURN:
                return value


@pytest.fixture(params=list(seccomp.ARCHITECTURES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def contained(machine: str, *, own_user: bool = True) -> bytes:
    code = seccomp.contained_program(machine, own_user=own_user)
    return code.replace(struct.pack("I", seccomp.OWN_PID), struct.pack("I", PID))


CALLS = [
    # x86_64, aarch64, arguments, verdict of the contained filter
    ((1, 64), (), ALLOWED),  # write
    ((59, 221), (), REFUSED),  # execve
    ((56, 220), (0x3D0F00,), ALLOWED),  # clone of a thread
    ((56, 220), (17,), REFUSED),  # of a process
    ((56, 220), (0x10000000 | 17,), REFUSED),
    ((435, 435), (), MISSING),  # clone3
    ((62, 129), (PID, 9), ALLOWED),  # kill
    ((62, 129), (PID + 1, 0), REFUSED),
    ((62, 129), (0, 9), REFUSED),
    ((62, 129), (0xFFFFFFFFFFFFFFFF, 9), REFUSED),
    ((234, 131), (PID, PID, 6), ALLOWED),  # tgkill
    ((234, 131), (1, 1, 6), REFUSED),
    ((302, 261), (0,), ALLOWED),  # prlimit64
    ((302, 261), (PID,), ALLOWED),
    ((302, 261), (1,), REFUSED),
    ((41, 198), (1,), REFUSED),  # socket
    ((53, 199), (1, 1 | 0x80000), ALLOWED),  # socketpair of streams
    ((53, 199), (1, 2), REFUSED),  # of datagrams
    ((53, 199), (30, 1), REFUSED),  # of another family
    ((72, 25), (1, 3), ALLOWED),  # fcntl F_GETFL
    ((72, 25), (1, 8, 1), REFUSED),
    ((72, 25), (1, 10, 9), REFUSED),
    ((16, 29), (1, 0x5401), ALLOWED),  # ioctl TCGETS
    ((16, 29), (1, 0x8901), REFUSED),
    ((157, 167), (15,), ALLOWED),  # prctl PR_SET_NAME
    ((157, 167), (1, 0), REFUSED),
    ((157, 167), (4, 0), REFUSED),
    ((0x40000000, 0x40000000), (), MISSING),
]


@pytest.mark.parametrize(("numbers", "args", "verdict"), CALLS)
def test_what_contained_guests_may_call(machine, numbers, args, verdict):
    number = numbers[seccomp.ARCHITECTURES[machine][0]]
    assert decide(contained(machine), machine, number, *args) == verdict


def test_only_guests_with_a_user_of_their_own_change_modes(machine):
    number = (91, 52)[seccomp.ARCHITECTURES[machine][0]]
    assert decide(contained(machine), machine, number) == ALLOWED
    assert decide(contained(machine, own_user=False), machine, number) == REFUSED


def test_another_architecture_is_the_end(machine):
    other = next(name for name in seccomp.ARCHITECTURES if name != machine)
    assert decide(contained(machine), other, 1) == seccomp.KILL


def of_guest(machine: str, number: int, *args: int, loopback: bool = False) -> int:
    """Return what the two filters of a guest say of a call: kernels obey the stricter one."""
    codes = seccomp.program(machine, loopback=loopback), seccomp.guests_program(machine)
    said = [decide(code, machine, number, *args) for code in codes]
    return next((one for one in said if one != ALLOWED), ALLOWED)


def test_the_kernel_tier_leaves_processes_to_its_namespaces(machine):
    column = seccomp.ARCHITECTURES[machine][0]
    assert of_guest(machine, (56, 220)[column], 17) == ALLOWED
    assert of_guest(machine, (56, 220)[column], 0x10000000) == REFUSED
    assert of_guest(machine, (59, 221)[column]) == ALLOWED
    assert of_guest(machine, (41, 198)[column], 1) == ALLOWED
    assert of_guest(machine, (41, 198)[column], 2) == REFUSED
    assert of_guest(machine, (101, 117)[column]) == REFUSED
    assert of_guest(machine, 435) == MISSING  # clone3


def test_a_guest_may_nothing_of_all_that_is_denied_and_a_keeper_what_it_needs(machine):
    column = seccomp.ARCHITECTURES[machine][0]
    numbers = {name: row[column] for name, row in seccomp.DENIED.items() if row[column] is not None}
    assert {of_guest(machine, number) for number in numbers.values()} == {REFUSED}
    code = seccomp.program(machine)
    spared = {name for name, one in numbers.items() if decide(code, machine, one) == ALLOWED}
    assert spared == seccomp.KEEPERS


def test_a_loopback_is_for_the_internets_families_alone(machine):
    column = seccomp.ARCHITECTURES[machine][0]
    allowed = [
        family
        for family in range(50)
        if of_guest(machine, (41, 198)[column], family, loopback=True) == ALLOWED
    ]
    assert allowed == [1, 2, 10]
    assert of_guest(machine, (101, 117)[column], loopback=True) == REFUSED
    assert of_guest(machine, (56, 220)[column], 17, loopback=True) == ALLOWED


def test_the_pid_stands_where_it_is_replaced_and_nowhere_else(machine):
    code = seccomp.contained_program(machine, own_user=True)
    places = [
        n
        for n in range(0, len(code), 8)
        if code[n + 4 : n + 8] == struct.pack("I", seccomp.OWN_PID)
    ]
    assert len(places) == code.count(struct.pack("I", seccomp.OWN_PID)) == 3


def test_no_call_has_two_numbers(machine):
    column = seccomp.ARCHITECTURES[machine][0]
    tables = {**seccomp.DENIED, **seccomp.CONTAINED, **seccomp.OWNERS}
    numbers = [row[column] for row in tables.values() if row[column] is not None]
    assert len(numbers) == len(set(numbers))


def test_a_guest_is_told_that_it_has_a_session_of_its_own(machine: str) -> None:
    number = seccomp.SETSID[seccomp.ARCHITECTURES[machine][0]]
    assert of_guest(machine, number) == seccomp.ERROR | 0
    assert decide(seccomp.program(machine), machine, number) == ALLOWED  # who becomes a guest may
