"""A task for verifiers (v1) that is rewarded by Proctor.

    pip install . verifiers
    python examples/verifiers_task.py

The reward is plugged in by its name, as a configuration file would do it. A task class of your own
calls it from a method:

    class CodeTask(vf.Task[CodeData]):
        @vf.reward
        async def tests(self, trace: vf.Trace) -> float:
            return await verifiers_reward(self.data, trace)

verifiers scores a rollout when it is over. This one is made by hand, so that no model is needed.
"""

import asyncio
from typing import Any

ROW: dict[str, Any] = {
    "prompt": "Write add(a, b), which returns the sum of two numbers.",
    "assertions": ["add(1, 2) == 3", "add(2, 2) == 4", "add(-1, 0) == -1", "add(0.5, 0.5) == 1"],
    "timeout_s": 2.0,
}
REPLY = "Here it is:\n```python\ndef add(a, b):\n    return a | b\n```\n"
REWARD = "proctor.integrations.trainers:verifiers_reward"


async def main() -> None:
    import verifiers.v1 as vf

    plugged = vf.TaskConfig(rewards={"tests": vf.RewardFunctionConfig(fn=REWARD)})
    task: Any = vf.Task(vf.WireTaskData(**ROW), plugged)
    said = vf.MessageNode(message=vf.AssistantMessage(content=REPLY), sampled=True, parent=None)
    trace: Any = vf.Trace.model_construct(nodes=[said], rewards={}, metrics={}, root_reply=None)
    await task.score(trace)
    print(f"reward {trace.reward}")


if __name__ == "__main__":
    asyncio.run(main())
