"""Proctor runs code that language models wrote and decides honestly whether it works.

Importing the package does nothing; every name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.api import evaluate, execute, grade, grade_many
    from proctor.benchmarks.contest_rows import process_input_output
    from proctor.client import AsyncClient, Client
    from proctor.extraction.assemble import BASE_IMPORTS
    from proctor.integrations.assertions import (
        EXIT_ASSERTION_FAIL,
        EXIT_ERROR,
        EXIT_PASS,
        EXIT_SYNTAX_ERROR,
        EXIT_TIMEOUT,
        run_candidate,
        score_code_exec,
    )
    from proctor.integrations.text import (
        extract_code,
        extract_code_from_model,
        extract_python_code,
        strip_markdown_fences,
    )
    from proctor.integrations.validate_results import validate_results
    from proctor.results.pass_at_k import pass_at_k, pass_at_k_estimator

_HOMES = {
    "proctor.api": ("evaluate", "execute", "grade", "grade_many"),
    "proctor.client": ("AsyncClient", "Client"),
    "proctor.integrations.assertions": (
        "EXIT_ASSERTION_FAIL",
        "EXIT_ERROR",
        "EXIT_PASS",
        "EXIT_SYNTAX_ERROR",
        "EXIT_TIMEOUT",
        "run_candidate",
        "score_code_exec",
    ),
    "proctor.benchmarks.contest_rows": ("process_input_output",),
    "proctor.integrations.validate_results": ("validate_results",),
    "proctor.integrations.text": (
        "extract_code",
        "extract_code_from_model",
        "extract_python_code",
        "strip_markdown_fences",
    ),
    "proctor.extraction.assemble": ("BASE_IMPORTS",),
    "proctor.results.pass_at_k": ("pass_at_k", "pass_at_k_estimator"),
}

__all__ = [
    "BASE_IMPORTS",
    "EXIT_ASSERTION_FAIL",
    "EXIT_ERROR",
    "EXIT_PASS",
    "EXIT_SYNTAX_ERROR",
    "EXIT_TIMEOUT",
    "AsyncClient",
    "Client",
    "evaluate",
    "execute",
    "extract_code",
    "extract_code_from_model",
    "extract_python_code",
    "grade",
    "grade_many",
    "pass_at_k",
    "pass_at_k_estimator",
    "process_input_output",
    "run_candidate",
    "score_code_exec",
    "strip_markdown_fences",
    "validate_results",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'proctor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
