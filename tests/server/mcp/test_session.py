"""A conversation: versions, order, progress, cancelling; and the SDK's own client, unchanged."""

import sys
import time

import pytest

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_version_that_is_asked_for(agent, version):
    told = agent.begin(version)
    assert told["protocolVersion"] == version
    assert told["serverInfo"]["name"] == "proctor"
    assert told["capabilities"] == {"tools": {}}


def test_a_version_that_nobody_knows_gets_the_newest_with_a_handshake(agent):
    assert agent.begin("2099-01-01")["protocolVersion"] == "2025-11-25"


def test_requests_with_an_envelope_need_no_handshake(start):
    agent = start()
    found = agent.ask(1, "server/discover", _meta=ENVELOPE)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == "complete"
    listed = agent.ask(2, "tools/list", _meta=ENVELOPE)["result"]
    assert (listed["resultType"], listed["cacheScope"]) == ("complete", "public")
    done = agent.ask(
        3, "tools/call", _meta=ENVELOPE, name="execute", arguments={"code": "print(1)"}
    )
    assert done["result"]["resultType"] == "complete"
    other = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    refused = agent.ask(4, "tools/list", _meta=other)["error"]
    assert refused["code"] == -32022
    assert refused["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}
    assert agent.end() == 0


def test_without_either_only_a_ping_is_answered(start):
    agent = start()
    assert agent.ask(1, "ping")["result"] == {}
    assert agent.ask(2, "tools/list")["error"]["message"] == "initialize comes first"
    assert agent.ask(3, "server/discover")["error"]["code"] == -32601
    assert agent.end() == 0


def test_what_there_is_not(agent):
    assert agent.ask(1, "resources/list")["error"]["code"] == -32601
    refused = agent.ask(2, "tools/call", name="rm", arguments={})["error"]
    assert (refused["code"], refused["message"]) == (
        *(-32602, "there is no tool 'rm', only execute, grade"),
    )
    assert agent.ask(3, "tools/call", name=7)["error"]["code"] == -32602
    assert agent.ask(4, "tools/call")["error"]["code"] == -32602


def test_calls_run_beside_one_another_and_beside_a_ping(agent):
    agent.request(
        "slow", "tools/call", name="execute", arguments={"code": "import time; time.sleep(1)"}
    )
    assert agent.ask("ping", "ping")["result"] == {}
    again = agent.ask("slow", "tools/call", name="execute", arguments={"code": "1"})
    assert again["error"]["message"] == "request 'slow' is not answered yet"
    assert agent.read()["id"] == "slow"


def test_progress_is_told_to_who_asked(agent):
    agent.request(
        *(1, "tools/call"),
        name="execute",
        arguments={"code": "import time; time.sleep(2.5)"},
        _meta={"progressToken": "p"},
    )
    seen = []
    while "id" not in (message := agent.read()):
        assert message["method"] == "notifications/progress"
        assert message["params"]["progressToken"] == "p"
        seen.append(message["params"]["progress"])
    assert len(seen) >= 2
    assert seen == sorted(set(seen))


def test_who_cancels_hears_nothing_more_and_the_program_is_ended(agent, processes_below):
    code = "import time\nwhile True: time.sleep(1)"
    agent.request(7, "tools/call", name="execute", arguments={"code": code, "timeout_s": 200})
    agent.request(8, "tools/call", name="execute", arguments={"code": code, "timeout_s": 199})
    time.sleep(1)
    agent.tell("notifications/cancelled", requestId=7, reason="no need")
    agent.tell("notifications/cancelled", requestId=8)
    agent.tell("notifications/cancelled", requestId="never asked")
    agent.tell("notifications/cancelled", nonsense=True)
    for number in (9, 10, 11):  # both workers are free again
        assert agent.call(number, "execute", code="print(1)")["structuredContent"]["exit_code"] == 0


@pytest.mark.requires("mcp")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_client_of_the_sdk(mode):
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(command=sys.executable, args=["-m", "proctor", "mcp"])
    seen = []

    async def progress(done, total, message):
        seen.append(done)

    async with Client(stdio_client(server), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["execute", "grade"]
        done = await client.call_tool(
            "execute",
            {"code": "import time; time.sleep(1.5); print(6 * 7)"},
            progress_callback=progress,
        )
        assert not done.is_error
        assert done.structured_content["stdout"] == "42\n"
        assert seen
        bad = await client.call_tool("execute", {"code": 1})
        assert bad.is_error
        assert "field code must be a string" in bad.content[0].text
        task = {
            "task_id": "x",
            "tests": {"kind": "stdin", "inputs": ["1 2\n"], "outputs": ["3\n"]},
        }
        program = "print(sum(map(int, input().split())))"
        graded = await client.call_tool("grade", {"task": task, "completion": program})
        assert graded.structured_content["receipts"][0]["outcome"] == "pass"
