"""The page of one sample, and the page of two samples side by side."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from proctor.errors import InputError
from proctor.records.completion import Completion
from proctor.records.receipt import Receipt
from proctor.storage.jsonl import explain_error
from proctor.storage.run_directory import COMPLETIONS, RECEIPTS
from proctor.viewer.axes import axes_of, of_sample
from proctor.viewer.highlight import highlight_code, shown, side_by_side
from proctor.viewer.index_queries import IndexedSample
from proctor.viewer.site import Opened, Site

SIBLINGS = 200
"""Maximum number of links to other samples of the task."""
MAX_TESTS = 500
MAX_TEXT = 64 << 10


def render(site: Site, name: str, task: str, sample: int) -> str:
    """Return the page of one sample."""
    opened = site.open(name)
    found, receipt = _receipt(opened, task, sample)
    before, after = opened.index.lookup.neighbours(found)
    siblings = opened.index.lookup.of_task(task, max(0, sample - SIBLINGS // 2), SIBLINGS)
    completion = _completion(opened, task, sample)
    code = shown(receipt.code)
    return site.render(
        "sample.html",
        title=f"{task} · sample {sample}",
        status=opened.status,
        manifest=opened.manifest,
        found=found,
        receipt=receipt,
        completion=completion,
        answer=shown(completion.completion, MAX_TEXT) if completion else None,
        prompt=site.prompts.find(
            opened.manifest, receipt, completion.prompt_sha256 if completion else None
        ),
        code=highlight_code(code.text, receipt.language),
        code_left_out=code.left_out,
        tests=receipt.tests[:MAX_TESTS],
        axes=of_sample(
            axes_of(opened.status.run.path, opened.status.extent.receipts), task, sample
        ),
        before=before,
        after=after,
        siblings=siblings,
        rival=_rival(found, siblings),
    )


class Side(NamedTuple):
    """One of two samples."""

    run: str
    receipt: Receipt
    siblings: Sequence[IndexedSample]
    """Samples that can be chosen instead."""


def diff(site: Site, name: str, task: str, numbers: tuple[int, int], against: str) -> str:
    """Return the page of two samples of a task side by side, of one run or of two."""
    left, right = (
        _side(site.open(run), task, number)
        for run, number in zip((name, against or name), numbers, strict=True)
    )
    return site.render(
        "diff.html",
        title=f"{task} · samples {left.receipt.sample} and {right.receipt.sample}",
        task=task,
        sides=[left, right],
        rows=side_by_side(left.receipt.code, right.receipt.code),
    )


def _side(opened: Opened, task: str, number: int) -> Side:
    siblings = opened.index.lookup.of_task(task, 0, SIBLINGS)
    return Side(opened.status.run.name, _receipt(opened, task, number)[1], siblings)


def _receipt(opened: Opened, task: str, sample: int) -> tuple[IndexedSample, Receipt]:
    found = opened.index.lookup.sample(task, sample)
    line = opened.index.lookup.line(RECEIPTS, task, sample)
    if found is None or line is None:
        raise InputError(f"there is no receipt of sample {sample} of {task}")
    try:
        receipt = msgspec.json.decode(line, type=Receipt)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"the receipt of sample {sample} of {task} cannot be read: {explain_error(error)}"
        ) from None
    if (receipt.task_id, receipt.sample) != (task, sample):
        raise InputError(f"{RECEIPTS} changed while it was looked at; load the page again")
    return found, receipt


def _completion(opened: Opened, task: str, sample: int) -> Completion | None:
    """Return the completion; None if it is missing or damaged."""
    line = opened.index.lookup.line(COMPLETIONS, task, sample)
    try:
        return None if line is None else msgspec.json.decode(line, type=Completion)
    except (ValueError, RecursionError):
        return None  # the run's page names the damaged line


def _rival(found: IndexedSample, siblings: list[IndexedSample]) -> IndexedSample | None:
    """Return the sample that is most worth comparing with: the first with another outcome."""
    others = [one for one in siblings if one.sample != found.sample]
    return next(
        (one for one in others if one.outcome != found.outcome), others[0] if others else None
    )
