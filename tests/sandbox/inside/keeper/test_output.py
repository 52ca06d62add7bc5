"""What a keeper reads of its guests."""

import os
import select
import threading
import time

from proctor.sandbox.inside.keeper.output import OutputCollector


def test_the_rest_of_an_output_is_read_although_somebody_holds_it_open() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"all there is")
    late = threading.Timer(5, os.close, (writing,))
    late.start()
    began = time.monotonic()
    collector = OutputCollector()
    collector.start((reading, 100))
    assert [bytes(part) for part in collector.finish()] == [b"all there is"]
    assert time.monotonic() - began < 4
    late.cancel()
    late.join()
    os.close(writing)


def test_what_is_too_long_is_wiped_as_well() -> None:
    collector = OutputCollector()
    for _ in range(2):
        reading, writing = os.pipe()
        os.write(writing, b"kept, not kept")
        os.close(writing)
        collector.start((reading, 4))
        assert [bytes(part) for part in collector.finish()] == [b"kept"]
        assert collector.too_long
        collector.wipe()
        assert not any(collector._buffer)


def test_who_begins_to_watch_again_loses_nothing() -> None:
    reading, writing = os.pipe()
    collector = OutputCollector()
    collector.start((reading, 100))
    for text in (b"read before, ", b"and after"):
        os.write(writing, text)
        poll = select.poll()
        collector.watch(poll)
        collector.take([fd for fd, _ in poll.poll()], poll)
    os.close(writing)
    assert [bytes(part) for part in collector.finish()] == [b"read before, and after"]
