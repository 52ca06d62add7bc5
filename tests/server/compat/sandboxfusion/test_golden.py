"""What a real SandboxFusion answered, request by request, beside what we answer."""

import json
import re
from pathlib import Path

import httpx2
import pytest

from tests.requires import requires

GOLDEN = Path(__file__).parents[5] / "shared" / "research" / "sandboxfusion_golden.jsonl"
GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "service-sandboxfusion.md"
TIMES = {"execution_time", "traceback"}

OK = {"status": "Success", "message": "", "compile_result": None, "executor_pod_name": None}
LONG = "ended because it wrote more than 1048576 bytes; the first are kept"


def finished(stdout, stderr="", code=0):
    return {"status": "Finished", "return_code": code, "stdout": stdout, "stderr": stderr}


def success(stdout="", stderr=""):
    return {**OK, "files": {}, "run_result": finished(stdout, stderr)}


def refused(code, why):
    return {
        "status": "SandboxError",
        "message": f"exception on running code {code}: {why} None",
        "compile_result": None,
        "run_result": None,
        "executor_pod_name": None,
        "files": {},
    }


DIFFERENT = {
    "py_output_200KB_t3": success("x" * 200000 + "\n"),
    "py_output_500KB": success("x" * 500000 + "\n"),
    "py_output_500KB_lines": success(("y" * 99 + "\n") * 5000),
    "py_stderr_500KB": success("", "e" * 500000),
    "py_output_2MB": {
        **OK,
        "status": "Failed",
        "message": LONG,
        "files": {},
        "run_result": finished("x" * (1 << 20), "", -9),
    },
    "py_stdin_dev_stdin": success("abc\n"),
    "py_files_abs_path": refused(
        'print(open("/tmp/abs_probe.txt").read())',
        "'/tmp/abs_probe.txt' is not a path inside the working folder",
    ),
    "py_files_dotdot": refused(
        'print(open("../svc_dd_probe.txt").read())',
        "'../svc_dd_probe.txt' is not a path inside the working folder",
    ),
    "py_fetch_abs_path": {
        **success(),
        "message": "'/etc/hostname' is not fetched: it is not a path inside the working folder; "
        "'../../etc/debian_version' is not fetched: it is not a path inside the working folder",
    },
    "py_cwd_argv_name": success("tmp __main__ 1 mai True mai\n"),
    "unavailable_runtime_swift": refused("print(1)", "'swift'"),
}
"""What we answer otherwise, and on purpose: every one is a row of the guide's table."""
STATUSES = {"lone_surrogate_raw_in_code": 422}
SPECIAL = {"py_memory_limit_5", "GET_/list_datasets", "lone_surrogate_raw_in_code"}


def rows():
    if not GOLDEN.is_file():
        return []
    return [json.loads(line) for line in GOLDEN.read_text().splitlines()]


def body(request):
    match request:
        case {"__raw__": text}:
            return text.encode("utf-8", "surrogatepass")
        case {"stdin": {"__repeat__": [text, times]}}:
            return {**request, "stdin": text * times}
    return request


def plain(value):
    """Leave out times, and of what a compiler or an interpreter says all but the last line."""
    match value:
        case {"__long_string__": True, "len": length, "head": head, "tail": tail}:
            assert len(set(head + tail.strip())) == 1
            return head[0] * (length - 1) + tail[-1]
        case dict():
            return {key: plain(one) for key, one in value.items() if key not in TIMES}
        case list():
            return [plain(one) for one in value]
        case str() if re.search(r'File "|SyntaxError|\.cpp:|/usr/bin/ld', value):
            return _gist(value)
    return value


def _gist(said):
    if "/ld: " in said or "ld returned" in said:
        return "undefined reference" in said
    if ".cpp:" in said:
        return sorted(set(re.findall(r"(?:error|warning): .*", said)))
    return re.sub(
        r"source code (string )?cannot", "source code cannot", said.strip().splitlines()[-1]
    )


@pytest.fixture(scope="module")
def client(url):
    with httpx2.Client(base_url=url, timeout=60, trust_env=False) as opened:
        yield opened


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["name"])
def test_we_answer_as_it_does(client, ask, row):
    if row["name"].startswith("cpp_"):
        requires("cpp")
    if row["request"] is None:
        answer = client.get(row["path"])
        status, got = answer.status_code, answer.json()
    else:
        status, got = ask(row["path"], body(row["request"]))
    assert status == STATUSES.get(row["name"], row["http_status"]), got
    if row["name"] in SPECIAL:
        return
    if status in {404, 405}:  # ours say more
        got = {"detail": got["detail"]}
    expected = DIFFERENT.get(row["name"], row["response"])
    assert plain(got) == plain(expected)


def test_all_of_them_are_here():
    if not GOLDEN.is_file():
        pytest.skip("the recorded answers are not on this machine")
    assert len(rows()) == 89


def test_a_limit_bounds_what_a_program_adds(run):
    assert run("print(1)", memory_limit_MB=5)["run_result"]["stdout"] == "1\n"
    answer = run("x = bytearray(8 << 20)", memory_limit_MB=5)
    assert (answer["status"], answer["run_result"]["return_code"]) == ("Failed", 1)
    assert "\nMemoryError\n" in answer["run_result"]["stderr"]


def test_half_a_character_is_refused(ask):
    status, got = ask("/run_code", b'{"code": "x=\\"\\ud800\\"", "language": "python"}')
    assert status == 422
    assert [detail["type"] for detail in got["detail"]] == ["string_unicode"]
    assert got["detail"][0]["loc"] == ["body", "code"]


def test_every_difference_is_a_row_of_the_guide():
    text = GUIDE.read_text()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for name in (*DIFFERENT, *SPECIAL):
        assert any(f"`{name}`" in row for row in rows), name
