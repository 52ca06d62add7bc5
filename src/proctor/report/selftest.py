"""What came of the hostile corpus, for the terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from proctor.checks.hostile_corpus import CLASSES
from proctor.checks.selftest import CorpusResult, SelftestResult
from proctor.report.text import printable


def render(findings: SelftestResult) -> str:
    """Return a table of all programs and a summary by class."""
    return "\n".join(_lines(findings)) + "\n"


def _lines(findings: SelftestResult) -> Iterator[str]:
    for topic, title in CLASSES.items():
        landings = [landing for landing in findings.landings if landing.topic == topic]
        if landings:
            yield title
            for _, group in groupby(landings, lambda landing: landing.program):
                yield from _program(list(group))
            yield ""
    yield from _summary(findings)


def _program(landings: Sequence[CorpusResult]) -> Iterator[str]:
    """Yield one line for the kinds in which a program landed, one for each in which it did not."""
    landed = [landing for landing in landings if landing.ok]
    if landed:
        kinds = " ".join(landing.kind for landing in landed)
        yield _row("ok", landed[0], kinds)
    for stray in (landing for landing in landings if not landing.ok):
        yield f"{_row('FAIL', stray, stray.kind)}: {printable(stray.detail)}"


def _row(word: str, landing: CorpusResult, kinds: str) -> str:
    language, _, name = landing.program.split("/")
    name = name if language == "python" else f"{name} ({language})"
    where = landing.expected if landing.ok else f"{landing.expected}, got {landing.got}"
    return f"  {word:<4} {name:<42} {where:<15} {kinds}"


def _summary(findings: SelftestResult) -> Iterator[str]:
    isolated = "isolated" if findings.isolated else "NOT ISOLATED"
    yield f"sandbox: {findings.sandbox} ({isolated})"
    total = Counter(landing.topic for landing in findings.landings)
    good = Counter(landing.topic for landing in findings.landings if landing.ok)
    for topic, count in total.items():
        word = "ok" if good[topic] == count else "FAIL"
        yield f"  {word:<4} {CLASSES[topic]:<34} {good[topic]:>4} of {count}"
    if findings.skipped:
        count = len(findings.skipped)
        yield f"  {count} programs were not run: they need walls that this tier does not have"
    for reason in findings.missing.values():
        yield f"  not run: {printable(reason)}"
    for thing in findings.left:
        yield f"  FAIL left on this host: {printable(thing)}"
    yield f"  {findings.seconds:.1f} s"
