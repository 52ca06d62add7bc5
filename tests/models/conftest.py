"""A server of models that does what a test tells it, wrong things most of all."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Behaviour = Callable[["Handler"], None]


class Server(ThreadingHTTPServer):
    """Answers every prompt with itself, after the misbehaviours that were planned for it."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: list[Behaviour] = []
        self.always: Behaviour | None = None
        self.asked: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: Any) -> None:
        """Say nothing: clients are killed here, too."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.bodies.append(self.body)
            self.server.headers.append(dict(self.headers))
            self.server.asked[prompt_of(self.body)] += 1
            do = self.server.plan.pop(0) if self.server.plan else self.server.always or good
        do(self)

    def say(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["prompt"] if "prompt" in body else body["messages"][-1]["content"])


def answer_to(body: dict[str, Any]) -> bytes:
    text = f"echo {prompt_of(body)}"
    said = {"text": text} if "prompt" in body else {"message": {"content": text}}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return json.dumps({"choices": [{**said, "finish_reason": "stop"}], "usage": usage}).encode()


def good(handler: Handler) -> None:
    handler.say(200, answer_to(handler.body))


def status(code: int, **headers: str) -> Behaviour:
    error = json.dumps({"error": {"message": f"error {code}\x1b[31m"}}).encode()
    return lambda handler: handler.say(code, error, **headers)


def raw(content: bytes) -> Behaviour:
    return lambda handler: handler.say(200, content)


def hang_up(handler: Handler) -> None:
    """Close the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choi')
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Send a byte now and then, and never come to an end."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    try:
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def silence(_: Handler) -> None:
    time.sleep(2)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()
