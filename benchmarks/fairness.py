"""What a hostile candidate costs the other workers, as a ratio in one run.

    python benchmarks/fairness.py [--workers 2] [--seconds 4] [--rounds 3] [--kind bomb]

All workers but one judge honest candidates all the time. The last one is their neighbour: it
judges honest candidates too, and in the next turn hostile ones, turn by turn, so that a busy moment
of the machine hits both alike. What is compared is the rate of the others. An honest neighbour has
its full share of the machine, so a ratio of 1 means that a hostile one takes no more than that;
more than 1, that it leaves some of it to the others.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from proctor.grading.engine import grader_threads
from proctor.judge.judge import Judge
from proctor.measure.sandbox_speed import COMPARED, FUNCTION
from proctor.records.program import Program
from proctor.sandbox.tiers.select import ORDER, open_sandbox

Counts = Counter[str]
LIMIT_SECONDS = 1.0
HONEST = FUNCTION
HOSTILE = {
    "bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    "bomb of sessions": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n"
        "    except OSError: pass\n"
    ),
    "bomb of starts": (
        "import os, sys\nwhile True:\n    try:\n        if os.fork() == 0: os._exit(0)\n"
        "        os.wait()\n    except OSError: pass\n"
    ),
    "busy threads": (
        "import threading\ndef spin():\n    while True: pass\n"
        "for _ in range(40): threading.Thread(target=spin).start()\n"
    ),
    "busy processes": (
        "import os\nfor _ in range(40):\n    if os.fork() == 0: break\nwhile True: pass\n"
    ),
    "memory of many": (
        "import os, time\nfor _ in range(40):\n    if os.fork() == 0: break\n"
        "block = bytearray(200 << 20)\ntime.sleep(60)\n"
    ),
    "memory of one": "blocks = []\nwhile True: blocks.append(bytearray(16 << 20))\n",
    "output": "import sys\nwhile True: sys.stdout.write('x' * 65536)\n",
    "answers": "def running_maximum(numbers):\n    return 'x' * (60 << 20)\n",
    "disk": (
        "block = bytes(1 << 20)\nwhile True:\n    try:\n        for number in range(60):\n"
        "            with open(str(number), 'wb') as file:\n"
        "                for _ in range(60): file.write(block)\n"
        "    except OSError: pass\n"
    ),
    "inodes": (
        "import os\nwhile True:\n    try:\n        for number in range(1 << 16):\n"
        "            os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))\n"
        "    except OSError:\n        for name in os.listdir(): os.unlink(name)\n"
    ),
    "pipes": (
        "import os\nwhile True:\n    reading, writing = os.pipe()\n"
        "    os.set_blocking(writing, False)\n"
        "    try:\n        while True: os.write(writing, bytes(65536))\n"
        "    except BlockingIOError: pass\n    os.close(reading)\n    os.close(writing)\n"
    ),
    "sleeper": "import time\ntime.sleep(60)\n",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--seconds", type=float, default=4.0, help="of every turn")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each kind")
    parser.add_argument("--kind", choices=HOSTILE, help="only one")
    parser.add_argument("--sandbox", choices=ORDER, default="kernel")
    asked = parser.parse_args()
    sandbox = open_sandbox(asked.sandbox, sys.executable)
    neighbourhood = Neighbourhood(Judge(sandbox), asked.workers, asked.seconds)
    neighbourhood.turn(HONEST)  # boxes are warm for everybody
    print(f"{asked.workers} workers, one of them hostile; candidates/s of all others\n")
    print(f"{'':<18}{'honest':>9}{'hostile':>9}{'ratio':>8}   what became of the hostile ones")
    for name in [asked.kind] if asked.kind else HOSTILE:
        turns = [
            (neighbourhood.turn(HONEST), neighbourhood.turn(HOSTILE[name]))
            for _ in range(asked.rounds)
        ]
        honest = statistics.median(good[0] for good, _ in turns)
        hostile = statistics.median(bad[0] for _, bad in turns)
        ratio = statistics.median(bad[0] / good[0] for good, bad in turns)
        ends = sum((bad[1] for _, bad in turns), Counter())
        became = ", ".join(f"{count} {bucket}" for bucket, count in ends.most_common())
        print(f"{name:<18}{honest:>9.1f}{hostile:>9.1f}{ratio:>8.2f}   {became}", flush=True)
    sandbox.close()


class Neighbourhood:
    """Workers that judge for a while, the last of them whatever it is given."""

    def __init__(self, judge: Judge, workers: int, seconds: float) -> None:
        self._judge = judge
        self._workers = workers
        self._seconds = seconds
        limits = COMPARED.limits.with_seconds(LIMIT_SECONDS)
        self._task = msgspec.structs.replace(COMPARED, limits=limits)

    def turn(self, neighbour: str) -> tuple[float, Counts]:
        """Return how much the others got done, and what became of the neighbour's candidates."""
        over = threading.Event()
        ready = threading.Barrier(self._workers + 1)
        sources = [neighbour, *[HONEST] * (self._workers - 1)]
        with grader_threads(self._workers) as pool:
            jobs = [pool.submit(self._work, source, ready, over.is_set) for source in sources]
            ready.wait()
            begin = time.perf_counter()
            time.sleep(self._seconds)
            over.set()
            seconds = time.perf_counter() - begin
            neighbours, *others = [job.result() for job in jobs]
        for counts in others:
            if set(counts) != {"passed"}:
                raise SystemExit(f"an honest candidate did not pass: {counts}")
        return sum(sum(counts.values()) for counts in others) / seconds, neighbours

    def _work(self, source: str, ready: threading.Barrier, over: Callable[[], bool]) -> Counts:
        """Judge one program again and again."""
        counts: Counts = Counter()
        program = Program(source=source)
        ready.wait()
        while not over():
            bucket = self._judge.judge(self._task, program).verdict.bucket
            counts[bucket] += 1
        return counts


if __name__ == "__main__":
    main()
