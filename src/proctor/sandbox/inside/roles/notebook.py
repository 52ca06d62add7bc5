"""A guest that runs cells, one after the other, in one interpreter: what a notebook is.

Names stay from cell to cell. What a cell writes goes to the standard streams, as it does in any
program; what it shows, by `display` or as the value of its last line, and what it raised go over
the border. Nothing here decides anything, and from the first cell on all of it is the cells' own.
"""

import ast
import base64
import builtins
import linecache
import os
import signal
import sys
import traceback
import types
from typing import Any

from ..protocol import frames
from ..protocol.frames import Channel, Frame, TooLarge, parse

globals()["__builtins__"] = vars(builtins).copy()  # cells may patch their own only

MAX_TEXT = 1 << 16
MAX_DISPLAY_CHARACTERS = 4 << 20
COROUTINE = 0x80
RICH_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
}
"""What else an object can be shown as, by methods that libraries for notebooks agreed on."""


class Notebook:
    """One interpreter and what its cells have made so far."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        main = types.ModuleType("__main__")
        main.__dict__.update(__builtins__=builtins, display=self._display)
        sys.modules["__main__"] = main
        self._names = main.__dict__
        sys.argv = [""]
        sys.path.insert(0, os.getcwd())
        self._displays: list[dict[str, str]] = []
        self._room = 0
        self._running = False
        self._loop: Any = None
        signal.signal(signal.SIGINT, self._on_interrupt)

    def serve(self) -> None:
        """Run cells until the supervisor says that it is over."""
        while (frame := self._channel.receive()) is not None and frame.kind == frames.CELL:
            self._answer(frame)

    def _answer(self, frame: Frame) -> None:
        self._displays, self._room = [], MAX_DISPLAY_CHARACTERS
        raised: BaseException | None = None
        try:
            self._running = True
            self._run(parse(frame.payload)["code"], f"<cell {frame.number}>")
        except BaseException as error:
            raised = error
        self._running = False
        answer = {"shown": self._displays, "raised": None if raised is None else _describe(raised)}
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass  # a cell closed it, or put something else in its place
        try:
            self._channel.send(frames.RAN, frame.number, answer)
        except TooLarge as error:
            self._channel.send(frames.RAN, frame.number, {"shown": [], "raised": _describe(error)})

    def _run(self, source: str, name: str) -> None:
        """Run a cell; if it ends with an expression, show its value."""
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        tree = ast.parse(source, name)
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            self._evaluate(tree, name, "exec")
            return
        del tree.body[-1]
        self._evaluate(tree, name, "exec")
        value = self._evaluate(ast.Expression(last.value), name, "eval")
        if value is not None and not source.rstrip().endswith(";"):
            self._names["_"] = value
            self._display(value)

    def _evaluate(self, tree: Any, name: str, mode: str) -> Any:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(tree, name, mode, flags, dont_inherit=True)
        value = eval(code, self._names)
        return self._await(value) if code.co_flags & COROUTINE else value

    def _await(self, coroutine: Any) -> Any:
        if self._loop is None:
            import asyncio  # noqa: PLC0415  few cells wait for anything

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(coroutine)

    def _display(self, *values: Any) -> None:
        """Show values beside what a cell prints."""
        for value in values:
            bundle = {"text/plain": repr(value)}
            for kind, method in RICH_METHODS.items():
                render = getattr(type(value), method, None)
                content = None if render is None else render(value)
                if isinstance(content, bytes):
                    content = base64.b64encode(content).decode()
                if isinstance(content, str):
                    bundle[kind] = content
            self._room -= sum(map(len, bundle.values()))
            if self._room < 0:
                raise ValueError(f"a cell may show at most {MAX_DISPLAY_CHARACTERS} characters")
            self._displays.append(bundle)

    def _on_interrupt(self, number: int, where: Any) -> None:
        if self._running:
            raise KeyboardInterrupt


def run_cells(channel: Channel) -> None:
    """Be a notebook."""
    Notebook(channel).serve()


def _describe(error: BaseException) -> dict[str, Any]:
    """Say what a cell raised, without the lines that are ours."""
    try:
        text_of_error = str(error)[:MAX_TEXT]
    except BaseException as other:
        text_of_error = f"<its text raises {type(other).__name__}>"
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == OWN_FILE:
        trace = trace.tb_next
    try:
        lines = traceback.format_exception(type(error), error, trace)
    except BaseException:
        lines = [f"{type(error).__name__}: {text_of_error}"]
    text = "".join(lines)
    if len(text) > MAX_TEXT:
        text = f"{text[: MAX_TEXT // 2]}\n...\n{text[-MAX_TEXT // 2 :]}"
    return {"ename": type(error).__name__, "evalue": text_of_error, "traceback": text}


OWN_FILE = _describe.__code__.co_filename
