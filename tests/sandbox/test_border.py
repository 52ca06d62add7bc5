"""What every tier must carry across the border: the conformance test of DESIGN §3a.

The test itself is the examiner here: it holds stand-ins, and the candidate lives in a box.
"""

import collections
import contextlib
import datetime
import decimal
import fractions
from collections.abc import Iterator

import pytest

from proctor.records.limits import Limits
from proctor.sandbox import Sandbox
from proctor.sandbox.inside.protocol import frames
from proctor.sandbox.inside.protocol.frames import Frame, parse
from proctor.sandbox.inside.protocol.values import CannotCross, pack, unpack
from proctor.sandbox.inside.roles.proxies import (
    NOTE_CANNOT_CROSS,
    NOTE_OBJECT_DECIDED,
    NOTE_OBJECTS_CROSSED,
    Border,
    Proxy,
)
from proctor.sandbox.supervisor.guest import Guest

pytestmark = pytest.mark.parametrize(
    "sandbox", ["kernel", "contained", "wasm", "portable"], indirect=True
)

CANDIDATE = """
import collections, enum, itertools

def echo(*args, **kwargs):
    return (args, kwargs) if kwargs else args[0] if len(args) == 1 else args

def order(values):
    return list(values)

def type_name(value):
    return type(value).__name__

def sort_in_place(numbers):
    numbers.sort()

def swap_rows(grid):
    grid[0], grid[1] = grid[1], grid[0]

def change_all(a, b, c, d, e):
    a.append(1); b["k"] = 2; c.add(3); d.append(4); e.extend(b"5")

def same(a, b):
    return a is b

def give_back(value):
    return value

def make_cycle(value):
    value.append(value)

def apply(function, *values):
    return function(*values)

def apply_twice(function, value):
    return function(function(value))

def sort_by(values, key):
    return sorted(values, key=key)

def count_up():
    return itertools.count()

def squares(n):
    return (i * i for i in range(n))

class Stack:
    def __init__(self, items=()):
        self.items = list(items)
    def push(self, item):
        self.items.append(item)
        return self
    def pop(self):
        return self.items.pop()
    def __len__(self):
        return len(self.items)
    def __getitem__(self, index):
        return self.items[index]
    def __setitem__(self, index, value):
        self.items[index] = value
    def __contains__(self, item):
        return item in self.items
    def __eq__(self, other):
        return isinstance(other, Stack) and self.items == other.items
    def __hash__(self):
        return len(self.items)
    def __lt__(self, other):
        return self.items < other.items
    def __add__(self, other):
        return Stack(self.items + other.items)
    def __bool__(self):
        return bool(self.items)
    def __str__(self):
        return "Stack" + str(self.items)
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        self.items.append(kind.__name__ if kind else None)

class Plain:
    pass

class Liar:
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    def __gt__(self, other): return True
    def __sub__(self, other): return self
    def __abs__(self): return self
    __hash__ = None
    __class__ = int

class AppError(ValueError):
    def __init__(self, code):
        super().__init__(code)
        self.code = code

def fail(kind, *args):
    raise {"value": ValueError, "key": KeyError, "app": AppError, "exit": SystemExit,
           "interrupt": KeyboardInterrupt, "generator": GeneratorExit, "base": BaseException,
           "decode": lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
           "memory": MemoryError, "stop": StopIteration}[kind](*args)

def raise_through(function):
    try:
        return function()
    except LookupError as error:
        return ["caught", type(error).__name__, error.args]

LIAR = Liar()
CONSTANT = [1, 2, 3]
counter = 0

def tick():
    global counter
    counter += 1

def wide(n):
    return list(range(n))
"""


class GuestWire:
    """Lets the examiner's side of the border speak to a guest in a box."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.exited: list[Frame] = []

    def send(self, kind: int, number: int, message: object) -> None:
        self.guest.send(frames.pack(kind, number, frames.dump(message)))

    def receive(self) -> Frame:
        frame = self.guest.receive()
        if frame.kind in (frames.EXITED, frames.LARGE):
            self.exited.append(frame)
            raise EOFError
        return frame


@contextlib.contextmanager
def conversation(sandbox: Sandbox, source: str = CANDIDATE) -> Iterator[Border]:
    guest = sandbox.open("candidate", Limits().with_seconds(20))
    wire = GuestWire(guest)
    try:
        wire.send(frames.LOAD, 0, {"source": source, "denied": False})
        assert parse(wire.receive().payload) == {"stage": "done"}
        yield Border(wire)
    finally:
        guest.finish()


@pytest.fixture(scope="module")
def border(sandbox: Sandbox) -> Iterator[Border]:
    with conversation(sandbox) as border:
        yield border


@pytest.fixture(autouse=True)
def no_notes(border: Border) -> None:
    border.notes.clear()


PLAIN = [
    None,
    True,
    0,
    -(2**70),
    -0.0,
    float("inf"),
    1 + 2j,
    "text \ud800 \x00",
    b"bytes",
    [1, [2, [3]]],
    (1, (2,)),
    {1, 2},
    frozenset({(1, 2)}),
    {1: {"a": (2, 3)}, None: []},
    range(1, 10, 3),
    collections.Counter("aab"),
    collections.deque([1, 2], maxlen=3),
    collections.OrderedDict([(2, 1), (1, 2)]),
    decimal.Decimal("1.50"),
    fractions.Fraction(1, 3),
    datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC),
    datetime.date(2024, 2, 29),
    datetime.timedelta(days=1, microseconds=5),
    ...,
    int,
    ValueError,
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_go_there_and_back(border, value):
    echo, type_name = border.find("echo"), border.find("type_name")
    back = echo(value)
    assert back == value
    assert type(back) is type(value)
    assert type_name(value) == type(value).__name__
    assert not border.notes


def test_keyword_arguments_cross(border):
    assert border.find("echo")(1, a=[2], b={"c": 3}) == ((1,), {"a": [2], "b": {"c": 3}})


def test_lists_changed_in_place_are_changed_here_too(border):
    numbers = [3, 1, 2]
    alias = numbers
    assert border.find("sort_in_place")(numbers) is None
    assert numbers == [1, 2, 3]
    assert alias is numbers


def test_every_mutable_argument_is_written_back(border):
    a, b, c, d, e = [0], {"x": 1}, {0}, collections.deque([0]), bytearray(b"0")
    border.find("change_all")(a, b, c, d, e)
    assert (a, b, c, d, e) == ([0, 1], {"x": 1, "k": 2}, {0, 3}, collections.deque([0, 4]), b"05")


def test_rows_that_change_places_keep_their_identity(border):
    top, bottom = [1], [2]
    grid = [top, bottom]
    border.find("swap_rows")(grid)
    assert grid == [[2], [1]]
    assert grid[0] is bottom
    assert grid[1] is top


def test_one_object_given_twice_is_one_object_there(border):
    shared, equal = [1], [1]
    assert border.find("same")(shared, shared) is True
    assert border.find("same")(shared, equal) is False


def test_an_argument_given_back_is_the_very_same_object(border):
    value = [1]
    assert border.find("give_back")(value) is value


def test_an_argument_made_cyclic_is_cyclic_here(border):
    value: list = []
    border.find("make_cycle")(value)
    assert value[0] is value


def test_functions_of_the_test_are_called_back(border):
    calls = []
    assert border.find("apply")(lambda a, b: calls.append((a, b)) or a + b, 2, 3) == 5
    assert calls == [(2, 3)]
    assert border.find("apply_twice")(lambda x: x * 2, 5) == 20
    assert border.find("sort_by")(["bb", "a"], len) == ["a", "bb"]


def test_a_callback_may_call_the_candidate_again(border):
    echo = border.find("echo")
    assert border.find("apply")(lambda x: echo(x) + 1, 5) == 6


def test_a_callbacks_exception_reaches_the_candidate_and_passes_through_it(border):
    def fail():
        raise KeyError("k")

    assert border.find("raise_through")(fail) == ["caught", "KeyError", ("k",)]

    def fail_otherwise():
        raise ValueError("v")

    with pytest.raises(ValueError, match="v"):
        border.find("raise_through")(fail_otherwise)


def test_objects_are_handles_with_the_abilities_of_their_type(border):
    stack_class = border.find("Stack")
    stack = stack_class([1])
    assert isinstance(stack, Proxy)
    assert isinstance(stack, stack_class)
    assert not isinstance(5, stack_class)
    stack.push(2).push(3)
    assert len(stack) == 3
    assert stack[1] == 2
    stack[1] = 20
    assert stack.items == [1, 20, 3]
    assert 20 in stack
    assert 2 not in stack
    assert list(stack) == [1, 20, 3]
    assert stack.pop() == 3
    assert str(stack) == "Stack[1, 20]"
    assert bool(stack_class()) is False
    assert (stack + stack).items == [1, 20, 1, 20]
    stack.items = [9]
    assert stack[0] == 9
    assert not hasattr(stack, "missing")
    assert {NOTE_OBJECTS_CROSSED, NOTE_OBJECT_DECIDED} <= border.notes


def test_the_same_object_is_always_the_same_handle(border):
    stack = border.find("Stack")()
    assert border.find("give_back")(stack) is stack
    assert border.find("give_back")([stack])[0] is stack
    assert border.find("echo") is border.find("echo")


def test_two_handles_are_compared_by_the_candidate_and_that_is_noted(border):
    stack_class = border.find("Stack")
    assert stack_class([1]) == stack_class([1])
    assert stack_class([1]) != stack_class([2])
    assert stack_class([1]) < stack_class([2])
    assert len({stack_class([1]), stack_class([1])}) == 1
    assert NOTE_OBJECT_DECIDED in border.notes


def test_a_handle_never_equals_plain_data_and_has_no_place_in_its_order(border):
    liar = border.find("LIAR")
    for plain in (0, "x", None, [1], 1.5):
        assert not liar == plain  # noqa: SIM201  the method itself is under test
        assert not plain == liar  # noqa: SIM201
        with pytest.raises(TypeError):
            liar < plain
    with pytest.raises(TypeError):
        abs(liar - 3) < 1e-6
    assert not isinstance(liar, int)


def test_an_object_without_equality_is_equal_to_itself_only(border):
    plain = border.find("Plain")
    one, other = plain(), plain()
    assert one == one  # noqa: PLR0124
    assert one != other


def test_with_statements_enter_and_leave_there(border):
    stack = border.find("Stack")()
    with stack as entered:
        assert entered is stack
    with pytest.raises(KeyError), stack:
        raise KeyError
    assert stack.items == [None, "KeyError"]


def test_lazy_values_are_iterated_one_by_one(border):
    squares = border.find("squares")(4)
    assert isinstance(squares, collections.abc.Iterator)
    assert next(squares) == 0
    assert list(squares) == [1, 4, 9]
    with pytest.raises(StopIteration):
        next(squares)
    endless = border.find("count_up")()
    assert [next(endless) for _ in range(3)] == [0, 1, 2]


def test_a_plain_global_is_read_anew_every_time(border):
    before = border.find("counter")
    border.find("tick")()
    assert border.find("counter") == before + 1
    assert border.find("CONSTANT") == [1, 2, 3]
    with pytest.raises(KeyError):
        border.find("no_such_name")


def test_standard_exceptions_arrive_as_themselves(border):
    fail = border.find("fail")
    with pytest.raises(ValueError, match="bad 5") as caught:
        fail("value", "bad 5")
    assert border.describe_candidate_error(caught.value)["standard"] == "ValueError"
    with pytest.raises(KeyError):
        fail("key", "k")
    with pytest.raises(UnicodeDecodeError):
        fail("decode")
    with pytest.raises(MemoryError):
        fail("memory")


def test_classes_of_the_candidate_are_caught_by_their_stand_ins(border):
    fail, app_error = border.find("fail"), border.find("AppError")
    assert issubclass(app_error, ValueError)
    with pytest.raises(app_error) as caught:
        fail("app", 7)
    assert caught.value.args == (7,)
    with pytest.raises(ValueError):
        fail("app", 7)


@pytest.mark.parametrize("kind", ["interrupt", "generator", "base"])
def test_exceptions_that_end_processes_arrive_as_a_plain_base(border, kind):
    with pytest.raises(BaseException) as caught:
        border.find("fail")(kind)
    assert not isinstance(caught.value, (SystemExit, KeyboardInterrupt, GeneratorExit, Exception))


def test_an_exit_has_a_frame_of_its_own(sandbox):
    with conversation(sandbox) as border, pytest.raises(EOFError):
        border.find("fail")("exit", 3)


def test_a_value_that_is_too_large_has_a_frame_of_its_own(sandbox):
    with conversation(sandbox) as border, pytest.raises(EOFError):
        border.find("wide")(1_500_000)


def test_what_cannot_cross_is_said_and_noted(border):
    with pytest.raises(CannotCross):
        border.find("echo")(object())
    assert border.notes == {NOTE_CANNOT_CROSS}
    assert border.find("echo")(1) == 1


def test_sets_are_iterated_in_the_same_order_there(border):
    order = border.find("order")
    for numbers in ({12, 13, 14, 15, 16}, set([12, 13, 14, 15, 16]), {8, 0, 16}, set()):  # noqa: C405
        assert order(numbers) == list(numbers)


def many(sandbox: Sandbox, values: list[object], **how: object) -> list[dict[str, object]]:
    """Send many calls in one message and return the answers."""
    message = {
        "f": "echo",
        "plain": False,
        "max_bytes": None,
        "a": [[pack(v)] for v in values],
        **how,
    }
    said = [frames.pack(frames.LOAD, 0, frames.dump({"source": CANDIDATE, "denied": False}))]
    said += [frames.pack(frames.CALLS, 7, frames.dump(message)), frames.pack(frames.END, 0, b"{}")]
    answers = sandbox.exchange(b"".join(said), Limits().with_seconds(20)).answers
    loaded, *found = frames.Reader().feed(answers)
    assert loaded.kind == frames.LOADED
    assert [frame.number for frame in found] == list(range(7, 7 + len(values)))
    return [{"kind": frame.kind, **parse(frame.payload)} for frame in found]


def test_many_calls_in_one_message(sandbox: Sandbox) -> None:
    answers = many(sandbox, PLAIN)
    for value, answer in zip(PLAIN, answers, strict=True):
        assert repr(unpack(answer["v"])) == repr(value)
    plain = [1, "a{", [2.5, [None, True]]]
    assert [one["v"] for one in many(sandbox, plain, plain=True)] == plain


def test_one_of_many_calls_may_fail(sandbox: Sandbox) -> None:
    first, second, third = many(sandbox, ["value", "exit", "key"], f="fail")
    assert (first["kind"], second["kind"], third["kind"]) == (
        frames.RAISED,
        frames.EXITED,
        frames.RAISED,
    )
    assert "ValueError" in str(first)


def test_long_values_may_cross_as_their_digests(sandbox: Sandbox) -> None:
    values = [
        "x" * 10,
        "x" * 1000,
        list(range(1000)),
        [float(i) for i in range(1000)],
        {1: "x" * 999},
    ]
    first, *others = many(sandbox, values, max_bytes=100)
    assert first["v"] == values[0]
    digests = [other["d"] for other in others]
    assert len(set(digests)) == 4
    assert digests == [other["d"] for other in many(sandbox, values, max_bytes=100)[1:]]
    assert (
        "d" not in many(sandbox, [1000], f="squares", max_bytes=1)[0]
    )  # what is not plain has none
