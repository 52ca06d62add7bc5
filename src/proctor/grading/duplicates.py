"""Receipts of programs that were judged, so that identical programs of a task are judged once."""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

import msgspec

from proctor.cancellation import raise_if_cancelled
from proctor.records.completion import StopReason
from proctor.records.receipt import Receipt
from proctor.records.verdict import Bucket, Outcome

Key = tuple[str, str]
"""Digests of a task and of a program."""
Recall = Callable[[int], Receipt | None]
"""Reads the receipt at a place of the run's journal; None if it cannot be read any more."""
MAX_RECEIPTS = 10_000
"""How many receipts are held that are in no journal."""


class ReceiptHeader(msgspec.Struct, frozen=True):
    """The few fields of a receipt that say what it means for other samples."""

    task_id: str
    sample: int
    outcome: Outcome | None
    bucket: Bucket
    program_sha256: str | None
    task_sha256: str
    reused_from: int | None = None
    stop: StopReason = StopReason.STOP


class Claim(NamedTuple):
    """The receipt of a program, now or later."""

    receipt: Future[Receipt]
    is_first: bool
    """Whether the caller must judge the program, and then call `resolve` or `release`."""


class ClaimReleased(Exception):
    """The program was claimed, but there is no receipt that others can reuse."""


class Duplicates:
    """Which programs were judged or are being judged; safe for use by several threads.

    A run may have any number of programs, so of a receipt that is in the journal only its place is
    kept. Where there is no journal, the last `MAX_RECEIPTS` are held.
    """

    def __init__(self, recall: Recall | None = None) -> None:
        self._recall = recall or (lambda _: None)
        self._receipts: OrderedDict[Key, Future[Receipt]] = OrderedDict()
        self._places: dict[int, int] = {}
        """By the hash of a key; the receipt itself says whose it is."""
        self._lock = threading.Lock()

    def once(self, key: Key, judge: Callable[[], Receipt]) -> tuple[Receipt, bool]:
        """Return the receipt of a program, and whether it was judged by this call."""
        while True:
            claim = self.claim(key)
            if claim.is_first:
                return self._resolve_with(judge, key, claim), True
            with contextlib.suppress(ClaimReleased):
                return claim.receipt.result(), False
            raise_if_cancelled()

    def _resolve_with(self, judge: Callable[[], Receipt], key: Key, claim: Claim) -> Receipt:
        try:
            receipt = judge()
        except BaseException:
            self.release(key, claim)
            raise
        self.resolve(key, claim, receipt)
        return receipt

    def claim(self, key: Key) -> Claim:
        """Return the receipt of a program that is known or being judged, else the task to judge."""
        with self._lock:
            place = self._places.get(hash(key))
            known = self._receipts.get(key)
            if place is None and known is None:
                return Claim(self._add(key), is_first=True)
        if known is not None:
            return Claim(known, is_first=False)
        assert place is not None  # noqa: S101
        future = Future[Receipt]()
        receipt = self._recall(place)
        if receipt is None or (receipt.task_sha256, receipt.program_sha256) != key:
            return Claim(future, is_first=True)
        future.set_result(receipt)
        return Claim(future, is_first=False)

    def resolve(self, key: Key, claim: Claim, receipt: Receipt) -> None:
        """Hand the receipt of a claimed program to all that wait for it.

        An unscored receipt says nothing about other samples, so it releases the claim.
        """
        if receipt.outcome is None:
            self.release(key, claim)
        else:
            claim.receipt.set_result(receipt)

    def release(self, key: Key, claim: Claim) -> None:
        """Give up a claim, so that those who wait for its receipt claim the program again."""
        self.note_place(key, None)
        claim.receipt.set_exception(ClaimReleased())

    def note_place(self, key: Key, place: int | None) -> None:
        """Keep a receipt's place in the journal instead of the receipt; None: neither."""
        with self._lock:
            self._receipts.pop(key, None)
            if place is not None:
                self._places[hash(key)] = place

    def _add(self, key: Key) -> Future[Receipt]:
        future = self._receipts[key] = Future[Receipt]()
        if len(self._receipts) > MAX_RECEIPTS:
            self._receipts.popitem(last=False)
        return future
