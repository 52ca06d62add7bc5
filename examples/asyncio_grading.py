"""Grade answers as they come, from an event loop that does other things meanwhile.

pip install .
python examples/asyncio_grading.py
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import proctor

TASK: dict[str, Any] = {
    "task_id": "square",
    "prompt": "def square(n):\n",
    "entry_point": "square",
    "tests": {"kind": "assertions", "targets": ["square(3) == 9", "square(-2) == 4"]},
}
BODIES = ["return n * n", "return n ** 2", "return n + n", "return sum(n for _ in range(n))"]


async def answers() -> AsyncIterator[tuple[dict[str, Any], str]]:
    """Stand in for a policy that takes its time."""
    for body in BODIES:
        await asyncio.sleep(0.05)
        yield TASK, f"    {body}\n"


async def main() -> None:
    async for receipt in proctor.grade_many(answers()):
        print(receipt.sample, receipt.outcome, receipt.score)


if __name__ == "__main__":
    asyncio.run(main())
