"""`proctor doctor`."""

import json
from collections.abc import Callable
from typing import Any

Proctor = Callable[..., Any]


def test_what_holds_here(proctor: Proctor) -> None:
    ran = proctor("doctor", "--sandbox", "portable")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("sandbox: portable (NOT ISOLATED: run only code that you trust)\n")
    assert "  ok   a busy loop ends" in ran.out


def test_as_json(proctor: Proctor) -> None:
    found = json.loads(proctor("doctor", "--sandbox", "portable", "--json").out)
    assert (found["tier"], found["works"]) == ("portable", True)
    assert all(trial["held"] for trial in found["trials"])


def test_a_host_that_cannot(proctor: Proctor) -> None:
    ran = proctor("doctor", "--sandbox", "portable", "--python", "/no/\x1b[31m")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith(
        "/no/\\x1b[31m is not a Python that can run candidates: No such"
    )


def test_a_sandbox_nobody_knows(proctor: Proctor) -> None:
    ran = proctor("doctor", "--sandbox", "bag")
    assert (ran.status, ran.out) == (2, "")
    assert ran.complaint.startswith("--sandbox bag: known are auto, ")
