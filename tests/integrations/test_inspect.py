"""Inspect with our sandbox: its own checks of a provider, and what it is told of endings."""
# ruff: noqa: E402

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError, SandboxError
from tests.requires import requires

requires("inspect")

import anyio
from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash, python
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._sandbox.limits import override_max_exec_output_size
from inspect_ai.util._sandbox.registry import registry_find_sandboxenv
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

from proctor.integrations.inspect import (
    ProctorSandboxConfig,
    ProctorSandboxEnvironment,
    _configured,
    _open,
)

pytestmark = pytest.mark.anyio

NOT_MET = {
    "test_exec_as_user": "a box has one user: there is no root in it who could add another",
}
"""What Inspect checks of a provider and we do not do, and why."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def box() -> Iterator[ProctorSandboxEnvironment]:
    config = ProctorSandboxConfig()
    try:
        workspace = _open(config)
    except SandboxError as error:
        pytest.skip(str(error))
    environment = ProctorSandboxEnvironment(workspace, config.limits())
    yield environment
    environment.close()


@pytest.fixture
def sandbox_env(
    box: ProctorSandboxEnvironment, request: pytest.FixtureRequest
) -> ProctorSandboxEnvironment:
    reason = NOT_MET.get(request.node.originalname)
    if reason is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    return box


def test_inspect_finds_it_by_its_name() -> None:
    assert registry_find_sandboxenv("proctor") is ProctorSandboxEnvironment


async def test_a_program_that_is_not_there_is_a_failed_command(
    box: ProctorSandboxEnvironment,
) -> None:
    result = await box.exec(["no-such-program"])
    assert (result.success, result.returncode) == (False, 127)
    assert "no-such-program" in result.stderr
    result = await box.exec(["ls"], cwd="no/such/folder")
    assert (result.success, result.returncode) == (False, 126)
    assert "no/such/folder" in result.stderr


async def test_users(box: ProctorSandboxEnvironment) -> None:
    for user in ("candidate", "1000"):
        assert (await box.exec(["whoami"], user=user)).stdout == "candidate\n"
    with pytest.raises(SandboxUserUnsupportedError, match="'root': there is candidate only"):
        await box.exec(["whoami"], user="root")


async def test_too_much_output_is_an_error_and_what_came_is_kept(
    box: ProctorSandboxEnvironment,
) -> None:
    with (
        override_max_exec_output_size(1024),
        pytest.raises(OutputLimitExceededError, match="limit of 1 KiB was exceeded") as raised,
    ):
        await box.exec(["sh", "-c", "yes x"])
    assert raised.value.truncated_output == "x\n" * 512


async def test_a_timeout_keeps_what_came(box: ProctorSandboxEnvironment) -> None:
    with pytest.raises(TimeoutError, match="ended after 1 seconds") as raised:
        await box.exec(["sh", "-c", "echo begun; sleep 30"], timeout=1)
    assert raised.value.truncated_output == "begun\n"


async def test_no_command_outlives_the_longest_time() -> None:
    config = ProctorSandboxConfig(max_seconds=1)
    environments = await ProctorSandboxEnvironment.sample_init("task", config, {})
    try:
        with pytest.raises(TimeoutError):
            await environments["default"].exec(["sleep", "30"], timeout=60)
    finally:
        await ProctorSandboxEnvironment.sample_cleanup("task", config, environments, False)


async def test_too_many_processes_and_too_much_memory_end_the_command() -> None:
    config = ProctorSandboxConfig(memory_bytes=128 << 20, processes=16, languages=("bash",))
    environments = await ProctorSandboxEnvironment.sample_init("task", config, {})
    box = environments["default"]
    try:
        bomb = await box.exec(["bash", "-c", "f() { f | f & }; f; sleep 5"], timeout=20)
        assert "fork" in bomb.stderr or "processes" in bomb.stderr
        hungry = await box.exec(["python3", "-c", "x = bytearray(1 << 30)"])
        assert not hungry.success
        assert "memory" in hungry.stderr.lower()
        assert (await box.exec(["echo", "fine"])).stdout == "fine\n"
    finally:
        await ProctorSandboxEnvironment.sample_cleanup("task", config, environments, False)


async def test_whoever_is_cancelled_ends_the_command(box: ProctorSandboxEnvironment) -> None:
    begun = time.monotonic()
    with anyio.move_on_after(0.5):
        await box.exec(["sleep", "100"])
    assert (await box.exec(["echo", "next"])).stdout == "next\n"
    assert time.monotonic() - begun < 60


async def test_text_that_is_none(box: ProctorSandboxEnvironment) -> None:
    await box.write_file("odd", b"\xff\r\n")
    with pytest.raises(UnicodeDecodeError):
        await box.read_file("odd")
    await box.write_file("odd", b"a\r\nb")
    assert await box.read_file("odd") == "a\r\nb"
    assert (await box.exec(["printf", "\\377"])).stdout == "\ufffd"


def test_a_configuration_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text('memory_bytes = 268435456\nlanguages = ["cpp"]\n')
    assert _configured(str(file)) == ProctorSandboxConfig(
        memory_bytes=268435456, languages=("cpp",)
    )
    file.write_text("memory = 1\n")
    with pytest.raises(InputError, match=r"limits\.toml: field memory: Extra inputs"):
        _configured(str(file))
    file.write_text("processes = 0\n")
    with pytest.raises(InputError, match=r"field processes: .* greater than or equal to 1"):
        _configured(str(file))


def test_a_configuration_comes_back_from_a_log() -> None:
    spec = SandboxEnvironmentSpec("proctor", ProctorSandboxConfig(processes=8))
    again = SandboxEnvironmentSpec.model_validate(json.loads(spec.model_dump_json()))
    assert again.config == ProctorSandboxConfig(processes=8)


def answers(*outputs: ModelOutput) -> Any:
    for output in outputs:
        output.usage = ModelUsage()  # else it counts tokens by what it has to download
    return get_model("mockllm/model", memoize=False, custom_outputs=list(outputs))


def call(tool: str, **arguments: str) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", tool, arguments)


def said(text: str) -> ModelOutput:
    return ModelOutput.from_content("mockllm/model", text)


def messages(log: Any) -> list[str]:
    return [message.text for message in log.samples[0].messages if message.role == "tool"]


@pytest.mark.usefixtures("box")
def test_an_evaluation_with_tools(tmp_path: Path) -> None:
    task = Task(
        dataset=[
            Sample(
                input="How many lines?",
                target="3",
                files={"data/lines.txt": "a\nb\nc\n"},
                setup="#!/bin/sh\nmkdir made; echo ready > made/by-setup\n",
            )
        ],
        solver=[use_tools(bash(timeout=20), python(timeout=20)), generate()],
        scorer=includes(),
        sandbox="proctor",
    )
    model = answers(
        call("bash", command="wc -l < data/lines.txt; cat made/by-setup; cat /etc/shadow"),
        call("python", code="print(len(open('data/lines.txt').readlines()))"),
        call("bash", command="sleep 60 & echo $!"),
        said("3"),
    )
    log = eval(task, model=model, log_dir=str(tmp_path), display="none")[0]
    assert log.status == "success", log.error
    first, second, third = messages(log)
    assert "3" in first
    assert "ready" in first
    assert "No such file" in first
    assert second.strip() == "3"
    assert third.strip().isdigit()
    assert log.results.scores[0].metrics["accuracy"].value == 1.0


@pytest.mark.usefixtures("box")
def test_a_sample_leaves_nothing(tmp_path: Path, processes_below: Any) -> None:
    before = processes_below(os.getpid())
    task = Task(
        dataset=[Sample(input="x", target="x"), Sample(input="y", target="x")],
        solver=[use_tools(bash()), generate()],
        scorer=includes(),
        sandbox="proctor",
    )
    turns = [call("bash", command="test -e left && echo seen; touch left"), said("x")]
    log = eval(
        task, model=answers(*turns, *turns), max_samples=1, log_dir=str(tmp_path), display="none"
    )[0]
    assert log.status == "success", log.error
    tools = [m for sample in log.samples for m in sample.messages if m.role == "tool"]
    assert [message.text.strip() for message in tools] == ["", ""], "no file of the one before"
    assert processes_below(os.getpid()) <= before


TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def shell():
    async def solve(state, generate):
        state.output.completion = (await sandbox().exec(["cat", "given"])).stdout
        return state
    return solve

@task
def given():
    return Task([Sample("x", target="42", files={"given": "42"})], solver=shell(), scorer=includes())
"""


@pytest.mark.slow
@pytest.mark.usefixtures("box")
def test_the_command_line_of_inspect(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text(TASK)
    command = [sys.executable, "-m", "inspect_ai", "eval", "given.py", "--model", "mockllm/model"]
    how = [
        "--sandbox",
        "proctor",
        "--display",
        "plain",
        "--log-dir",
        "logs",
        "--log-format",
        "json",
    ]
    ran = subprocess.run(
        [*command, *how], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    log = json.loads(next((tmp_path / "logs").glob("*.json")).read_text())
    assert (log["status"], log["eval"]["sandbox"]["type"]) == ("success", "proctor")
    assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 1.0
