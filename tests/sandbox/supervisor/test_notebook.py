"""Notebooks: cells in one process, on every tier that works here."""

import threading
import time

import pytest

from proctor.errors import InputError, SandboxError
from proctor.records.execution import (
    Denied,
    Exited,
    OutOfMemory,
    OutputTooLong,
    Signalled,
    TimedOut,
)
from proctor.records.limits import Limits

FORGED = (
    "import os, struct, time\nnumber, said = %d, %r\n"
    "os.write(3, struct.pack('<IBI', len(said), 32, number) + said)\ntime.sleep(60)"
)
"""A cell that answers in the place of what runs it."""
LIMITS = Limits(output_bytes=10_000).with_seconds(20.0)


@pytest.fixture
def notebook(sandbox):
    opened = sandbox.notebook(LIMITS)
    yield opened
    opened.close()


def plain(cell):
    return [shown["text/plain"] for shown in cell.shown]


def test_names_stay_and_the_last_value_is_shown(nothing_left, notebook):
    first = notebook.execute("a = 'hello'\nimport math")
    assert (first.stdout, first.shown, first.raised, first.ending) == (b"", [], None, None)
    assert plain(notebook.execute("a")) == ["'hello'"]
    assert plain(notebook.execute("_ + '!'")) == ["'hello!'"]
    cell = notebook.execute("print(a, flush=False)\nmath.floor(2.5)")
    assert (cell.stdout, plain(cell)) == (b"hello\n", ["2"])
    assert plain(notebook.execute("a;")) == []
    assert plain(notebook.execute("None")) == []
    assert plain(notebook.execute("")) == []
    notebook.close()


def test_both_streams_belong_to_the_cell_that_wrote(notebook):
    code = "import os, sys\nprint('out'); print('err', file=sys.stderr); os.write(1, b'raw\\n');"
    cell = notebook.execute(code)
    assert sorted(cell.stdout.split()) == [b"out", b"raw"]
    assert cell.stderr == b"err\n"
    cell = notebook.execute("print('next')")
    assert (cell.stdout, cell.stderr) == (b"next\n", b"")


def test_what_a_cell_raises_is_said_and_the_next_goes_on(notebook):
    notebook.execute("def f(x):\n    return 1 / x")
    raised = notebook.execute("b = 2\nf(0)").raised
    assert (raised.ename, raised.evalue) == ("ZeroDivisionError", "division by zero")
    assert "return 1 / x" in raised.traceback
    assert "<cell 1>" in raised.traceback
    assert "notebook" not in raised.traceback
    assert plain(notebook.execute("b")) == ["2"]
    assert notebook.execute("def f(:").raised.ename == "SyntaxError"
    assert notebook.execute("a\0b").raised.ename in {"SyntaxError", "ValueError"}
    assert notebook.execute("raise SystemExit(3)").raised.ename == "SystemExit"
    assert notebook.execute("def g(): g()\ng()").raised.ename == "RecursionError"
    assert notebook.execute("exit()").raised.ename == "SystemExit"
    bad = "class E(Exception):\n    def __str__(self): raise ValueError\nraise E"
    assert "raises ValueError" in notebook.execute(bad).raised.evalue
    assert plain(notebook.execute("b")) == ["2"]


def test_what_can_be_shown(notebook):
    code = (
        "class Rich:\n"
        "    def _repr_html_(self): return '<b>x</b>'\n"
        "    def _repr_png_(self): return b'\\x89PNG'\n"
        "    def __repr__(self): return 'rich'\n"
        "display(1, 'two')\nRich()"
    )
    assert notebook.execute(code).shown == [
        {"text/plain": "1"},
        {"text/plain": "'two'"},
        {"text/plain": "rich", "text/html": "<b>x</b>", "image/png": "iVBORw=="},
    ]
    cell = notebook.execute("display(1)\ndisplay('x' * 10**7)")
    assert (cell.raised.ename, plain(cell)) == ("ValueError", ["1"])


def test_it_is_the_main_module(notebook):
    notebook.write("helper.py", b"x = 5")
    code = "import sys, helper\n__name__, sys.modules['__main__'].__dict__ is globals(), helper.x"
    assert plain(notebook.execute(code)) == ["('__main__', True, 5)"]


def test_files_go_in_and_come_out(notebook):
    notebook.write("a/in", b"\x00\xff")
    cell = notebook.execute("open('out', 'wb').write(open('a/in', 'rb').read() * 2)")
    assert plain(cell) == ["4"]
    assert notebook.read("out") == b"\x00\xff\x00\xff"
    assert notebook.read("out", 1) == b"\x00"
    for path in ("none", "../out", "a"):
        with pytest.raises(SandboxError):
            notebook.read(path)


def test_a_cell_out_of_time_is_interrupted_and_names_stay(notebook):
    notebook.execute("a = 1")
    for code in ("while True: pass", "import time; time.sleep(60)"):
        cell = notebook.execute(code, 0.5)
        assert cell.raised.ename == "KeyboardInterrupt"
        assert isinstance(cell.ending, TimedOut)
        assert notebook.alive
    cell = notebook.execute("a")
    assert (plain(cell), cell.ending) == (["1"], None)


def test_who_does_not_heed_that_is_ended(nothing_left, notebook):
    code = (
        "print('so far', flush=True)\n"
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    )
    cell = notebook.execute(code, 0.5)
    assert (cell.stdout, type(cell.ending)) == (b"so far\n", TimedOut)
    assert not notebook.alive
    with pytest.raises(SandboxError, match="has ended"):
        notebook.execute("1")
    with pytest.raises(SandboxError, match="has ended"):
        notebook.read("x")


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("import os; os._exit(3)", Exited(3)),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Signalled(9)),
        ("import os\nos.write(3, b'x' * 9 + bytes(4))\nwhile True: pass", None),
        ("import os, time; os.close(3); time.sleep(60)", Exited(0)),
        (FORGED % (1, b"{}"), Denied("to speak out of turn")),
        (FORGED % (7, b'{"shown": [], "raised": null}'), Denied("to speak out of turn")),
    ],
)
def test_whatever_ends_the_process_ends_the_notebook(nothing_left, notebook, code, ending):
    cell = notebook.execute(code, 2.0)
    assert not notebook.alive
    assert cell.ending == ending or (
        ending is None and isinstance(cell.ending, OutputTooLong | Denied | TimedOut)
    )


def test_output_beyond_the_limit_is_thrown_away(notebook):
    cell = notebook.execute(
        "import sys\nprint('x' * 10**6)\nprint('y' * 10**6, file=sys.stderr)\n7"
    )
    assert (len(cell.stdout), len(cell.stderr), cell.truncated) == (10_000, 10_000, True)
    assert plain(cell) == ["7"]
    cell = notebook.execute("print('short')")
    assert (cell.stdout, cell.truncated) == (b"short\n", False)


def test_much_is_shown_over_the_life_of_one(notebook):
    """A conversation has a bound, but each cell is one of its own."""
    for _ in range(25):
        assert len(notebook.execute("'x' * 3_500_000").shown) == 1


def test_memory_is_limited(sandbox):
    notebook = sandbox.notebook(Limits(memory_bytes=256 << 20).with_seconds(20.0))
    cell = notebook.execute("x = bytearray(10**9)")
    assert cell.raised.ename == "MemoryError" or cell.ending == OutOfMemory()
    notebook.close()


def test_one_knows_nothing_of_another(sandbox, nothing_left):
    first, second = sandbox.notebook(LIMITS), sandbox.notebook(LIMITS)
    first.execute("secret = 1\nopen('file', 'w').write('secret')")
    assert second.execute("secret").raised.ename == "NameError"
    assert plain(second.execute("import os; os.listdir('.')")) == ["[]"]
    for one in (first, second):
        one.close()
    third = sandbox.notebook(LIMITS)
    assert third.execute("secret").raised.ename == "NameError"
    assert plain(third.execute("import os; os.listdir('.')")) == ["[]"]
    third.close()


def test_closing_ends_a_cell_that_runs(sandbox, nothing_left):
    notebook = sandbox.notebook(LIMITS)
    trouble = []

    def run():
        try:
            notebook.execute("import time; time.sleep(60)")
        except SandboxError as error:
            trouble.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    notebook.close()
    thread.join(10)
    assert trouble == ["the notebook was closed meanwhile"]
    notebook.close()


def test_top_level_await(kernel):
    notebook = kernel.notebook(LIMITS)
    notebook.execute("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5")
    cell = notebook.execute("x = await f()\nx + await f()")
    assert plain(cell) == ["10"], cell.raised
    notebook.close()


def test_the_walls_of_one_shot_programs_hold(kernel):
    notebook = kernel.notebook(LIMITS)
    for code in (
        "import socket; socket.socket().connect(('127.0.0.1', 80))",
        "open('/etc/shadow').read()",
        "open('/usr/x', 'w')",
        "import os; os.setuid(0)",
        "import os; os.mount",
        "import proctor",
    ):
        cell = notebook.execute(code)
        assert cell.raised is not None or cell.ending is not None, code
        assert cell.shown == []
    assert (
        plain(notebook.execute("import os; [p for p in os.listdir('/proc') if p.isdigit()]")) != []
    )
    notebook.close()


def test_too_much_code_is_refused(notebook):
    with pytest.raises(InputError, match="code: "):
        notebook.execute("x" * (17 << 20))
