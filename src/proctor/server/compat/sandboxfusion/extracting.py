"""Which lines of a completion are code: by our own rules, or by logic that came with the request.

Such logic is Python that hands blocks to `submit_code_blocks`. Its publisher's server runs it in
its own process; here it runs in the sandbox, with nothing but the completion in sight.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Literal

import msgspec

from proctor.extraction import extract
from proctor.languages import all_languages
from proctor.records.execution import Exited, SandboxFailed
from proctor.records.extraction import Extraction, NoCode
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.sandbox import Sandbox
from proctor.sandbox.supervisor.job import Job
from proctor.server.compat.sandboxfusion.requests import Config
from proctor.server.compat.sandboxfusion.running import runnable
from proctor.server.errors import ErrorResponse

ExtractedType = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]

SECONDS = 10.0
BLOCKS, LOGIC, COMPLETION = "blocks.json", "logic.txt", "completion.txt"
UNCLOSED = frozenset({"unclosed-fence", "cut-fence"})
PRIORITIES: dict[ExtractedType, int] = {
    "fenced": 30,
    "incomplete_fenced": 20,
    "heuristic": 10,
    "empty": 0,
}
"""What blocks that our rules find are worth; of all blocks the worthiest is taken."""

PROGRAM = f"""
import json

ALIASES = @ALIASES@


class CodeBlock:
    def __init__(self, priority, language, code):
        self.priority, self.language, self.code = int(priority), str(language), str(code)


def extract_fenced_code(completion):
    found, lines, tag = [], [], None
    for line in completion.split("\\n"):
        mark = line.strip()
        if tag is None and mark.startswith("```"):
            tag, lines = mark[3:].strip().lower(), []
        elif tag is not None and mark.startswith("```"):
            found.append(CodeBlock(30, ALIASES.get(tag, tag), "\\n".join(lines)))
            tag = None
        else:
            lines.append(line)
    return found


def extract_heuristic_code(completion, language=""):
    lines = completion.split("\\n")
    begins = ("def ", "class ", "import ", "from ", "@")
    starts = [number for number, line in enumerate(lines) if line.startswith(begins)]
    if language != "python" or not starts:
        return []
    return [CodeBlock(10, "python", "\\n".join(lines[starts[0] :]))]


blocks = []


def submit_code_blocks(found):
    for block in found:
        assert isinstance(block, CodeBlock), "blocks have to be of the class CodeBlock"
        fields = {{"priority": block.priority, "language": block.language, "code": block.code}}
        blocks.append(fields)


names = {{
    "CodeBlock": CodeBlock,
    "completion": open({COMPLETION!r}, encoding="utf-8", newline="").read(),
    "submit_code_blocks": submit_code_blocks,
    "extract_fenced_code": extract_fenced_code,
    "extract_heuristic_code": extract_heuristic_code,
}}
logic = open({LOGIC!r}, encoding="utf-8", newline="").read()
exec(compile(logic, "custom_extract_logic", "exec"), names)
with open({BLOCKS!r}, "w", encoding="utf-8") as file:
    json.dump(blocks, file)
"""


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """One stretch of code that the logic found."""

    priority: int
    language: str
    code: str


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and how that is called there."""

    found: Extraction | NoCode
    type: ExtractedType | None


def extracted(sandbox: Sandbox, task: Task, completion: str, config: Config) -> Extracted:
    """Find the code of a completion."""
    found = extract(completion, task, truncated=False)
    ours = Extracted(found=found, type=_type(found))
    if config.custom_extract_logic is None:
        return ours
    blocks = _asked(sandbox, config.custom_extract_logic, completion)
    best = max((block.priority for block in blocks), default=0)
    if not blocks or best <= PRIORITIES[ours.type or "empty"]:
        return ours
    worthiest = [block for block in blocks if block.priority == best]
    runs = runnable()
    fitting = [
        one
        for one in worthiest
        if one.language in runs and runs[one.language].name == task.language
    ]
    code = (fitting or worthiest)[0].code
    # whether it goes on where the prompt stops is found out as for any other text
    again = extract(code, task, truncated=False)
    if isinstance(again, NoCode):
        again = Extraction(code=code, rule="custom")
    return Extracted(found=again, type=None)


def _aliases() -> dict[str, str]:
    """Return other tags of fences, and the names of the languages that they mean."""
    found: dict[str, str] = {}
    for language in all_languages().values():
        if names := language.sandboxfusion:
            found = {**dict.fromkeys(names.tags, names.name), **found}
    return found


def _type(found: Extraction | NoCode) -> ExtractedType:
    if isinstance(found, NoCode):
        return "empty"
    rule = found.rule.removeprefix("joined-")
    if rule in UNCLOSED:
        return "incomplete_fenced"
    return "fenced" if "fence" in rule else "heuristic"


def _asked(sandbox: Sandbox, logic: str, completion: str) -> Sequence[_Block]:
    """Run the logic where it can do no harm, and return the blocks that it hands over."""
    job = Job(
        program=Program(source=PROGRAM.replace("@ALIASES@", repr(_aliases()))),
        limits=Limits().with_seconds(SECONDS),
        files={LOGIC: logic.encode(), COMPLETION: completion.encode()},
        fetch=[BLOCKS],
    )
    execution = sandbox.run_job(job)
    if isinstance(execution.ending, SandboxFailed):
        raise ErrorResponse(HTTPStatus.SERVICE_UNAVAILABLE, "sandbox", execution.ending.reason, 1.0)
    if execution.ending != Exited(0):
        last = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        why = last[0] if last else str(execution.ending)
        raise ErrorResponse(HTTPStatus.BAD_REQUEST, "invalid", f"custom_extract_logic fails: {why}")
    try:
        return msgspec.json.decode(execution.files.get(BLOCKS, b""), type=list[_Block])
    except msgspec.DecodeError as error:
        said = f"custom_extract_logic hands over no blocks: {error}"
        raise ErrorResponse(HTTPStatus.BAD_REQUEST, "invalid", said) from None
