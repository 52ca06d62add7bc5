"""What clients of SandboxFusion ask for: its requests as records."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.server.compat.sandboxfusion.fields import Fields

LANGUAGES = (
    *("python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript"),
    *("sql", "rust", "cuda", "lua", "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest"),
    *("junit", "kotlin_script", "jest", "verilog", "python_gpu", "lean", "swift", "racket"),
)
"""All that it knows by name, in its order; which of them run here, `running.py` says."""
USUAL_SECONDS = 10.0
USUAL_TOTAL_SECONDS = 45.0
KERNELS = ("python3",)
EVERYTHING = 1_000_000
EXTRACTED_TYPES = ("fenced", "incomplete_fenced", "heuristic", "empty")


class RunCode(msgspec.Struct, frozen=True, kw_only=True):
    """One program to run: `POST /run_code`."""

    code: str
    language: str
    compile_timeout: float = USUAL_SECONDS
    run_timeout: float = USUAL_SECONDS
    memory_limit_mb: int = -1
    """As it is called there, `memory_limit_MB`; none if it is not above 0."""
    stdin: str | None = None
    files: Mapping[str, str | None] = {}
    """Path → content in base64; null entries are ignored."""
    fetch_files: Sequence[str] = ()

    @property
    def seconds(self) -> float:
        """Maximum duration once it has started."""
        return max(self.compile_timeout, 0.0) + max(self.run_timeout, 0.0)


class RunJupyter(msgspec.Struct, frozen=True, kw_only=True):
    """Cells of one notebook to run: `POST /run_jupyter`."""

    cells: Sequence[str]
    cell_timeout: float = 0.0
    """None if it is not above 0."""
    total_timeout: float = USUAL_TOTAL_SECONDS
    memory_limit_mb: int = -1
    files: Mapping[str, str | None] = {}
    fetch_files: Sequence[str] = ()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """How a problem of a dataset is shown or judged; `TestConfig` there."""

    dataset_type: str | None = None
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    custom_extract_logic: str | None = None
    """Python that finds the code; it is run in the sandbox."""
    provided_data: Sequence[Mapping[str, Any]] | None = None
    """Rows that stand in for those of the dataset."""
    extra: Mapping[str, Any] = {}


class GetPrompts(msgspec.Struct, frozen=True, kw_only=True):
    """Some problems of a dataset: `POST /get_prompts` and `/list_ids`."""

    dataset: str
    config: Config
    offset: int = 0
    limit: int = EVERYTHING


class GetPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One problem: `POST /get_prompt_by_id`."""

    dataset: str
    config: Config
    id: int | str


class Submit(msgspec.Struct, frozen=True, kw_only=True):
    """A completion to judge: `POST /submit`."""

    dataset: str
    id: int | str
    completion: str
    config: Config


class GetMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """What all results come to: `POST /get_metrics`."""

    dataset: str
    config: Config
    accepted: Sequence[tuple[int | str, bool]]
    """Problem and whether it was solved, result by result."""


def run_code(body: Any, max_seconds: float) -> RunCode:
    """Read a request to run a program."""
    fields = Fields(body)
    request = RunCode(
        compile_timeout=fields.number("compile_timeout", USUAL_SECONDS, max_seconds),
        run_timeout=fields.number("run_timeout", USUAL_SECONDS, max_seconds),
        memory_limit_mb=fields.integer("memory_limit_MB", -1),
        code=fields.text("code"),
        stdin=fields.optional_text("stdin"),
        language=fields.choice("language", LANGUAGES),
        files=fields.texts_by_name("files"),
        fetch_files=fields.texts("fetch_files"),
    )
    fields.check()
    return request


def run_jupyter(body: Any, max_seconds: float) -> RunJupyter:
    """Read a request to run cells."""
    fields = Fields(body)
    request = RunJupyter(
        cells=fields.texts("cells", required=True),
        cell_timeout=fields.number("cell_timeout", 0.0, max_seconds),
        total_timeout=fields.number("total_timeout", USUAL_TOTAL_SECONDS, max_seconds),
        memory_limit_mb=fields.integer("memory_limit_MB", -1),
        files=fields.texts_by_name("files"),
        fetch_files=fields.texts("fetch_files"),
    )
    fields.optional_choice("kernel", KERNELS)
    fields.check()
    return request


def get_prompts(body: Any, max_seconds: float) -> GetPrompts:
    """Read a request for some problems."""
    fields = Fields(body)
    request = GetPrompts(
        dataset=fields.text("dataset"),
        config=_config(fields, max_seconds),
        offset=fields.integer("offset", 0),
        limit=fields.integer("limit", EVERYTHING),
    )
    fields.check()
    return request


def get_prompt(body: Any, max_seconds: float) -> GetPrompt:
    """Read a request for one problem."""
    fields = Fields(body)
    request = GetPrompt(
        dataset=fields.text("dataset"),
        config=_config(fields, max_seconds),
        id=fields.identity("id"),
    )
    fields.check()
    return request


def submit(body: Any, max_seconds: float) -> Submit:
    """Read a request to judge a completion."""
    fields = Fields(body)
    request = Submit(
        dataset=fields.text("dataset"),
        id=fields.identity("id"),
        completion=fields.text("completion"),
        config=_config(fields, max_seconds),
    )
    fields.check()
    return request


def get_metrics(body: Any, max_seconds: float, *, results: bool) -> GetMetrics:
    """Read a request for what results come to, or without any for how that is found."""
    fields = Fields(body)
    dataset, config = fields.text("dataset"), _config(fields, max_seconds)
    found = fields.records("results") if results else []
    accepted = [(one.identity("id"), bool(one.flag("accepted"))) for one in found]
    fields.check()
    return GetMetrics(dataset=dataset, config=config, accepted=accepted)


def _config(fields: Fields, max_seconds: float) -> Config:
    config = fields.record("config")
    return Config(
        dataset_type=config.optional_text("dataset_type"),
        language=config.optional_choice("language", LANGUAGES),
        locale=config.optional_text("locale"),
        is_fewshot=config.optional_flag("is_fewshot"),
        compile_timeout=config.optional_number("compile_timeout", max_seconds),
        run_timeout=config.optional_number("run_timeout", max_seconds),
        custom_extract_logic=config.optional_text("custom_extract_logic"),
        provided_data=config.rows("provided_data"),
        extra=config.mapping("extra"),
    )
