"""Have candidates parsed in a box, many of one task at once, and believe nothing that comes back.

If a batch does not come back whole, each candidate that is missing is parsed by itself: one that
kills the parser costs the others nothing.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import msgspec

from proctor.axes.finding import FindingReader, Observation, SampleStatus, reader_for
from proctor.errors import InputError, SandboxError
from proctor.languages.cpp_parser import LANGUAGE as PARSER
from proctor.languages.toolchain import find_toolchain
from proctor.records import translation_unit
from proctor.records.encoding import encode
from proctor.records.execution import Execution, Exited, TimedOut
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.program import Program
from proctor.records.repository import Repository
from proctor.sandbox import Sandbox
from proctor.storage.cache import Cache

NAME = "axes"
INSIDE = Path(__file__).parent / "inside"
MODULES = ("__init__", "names", "tokens", "root_causes", "worker")
MAIN = """\
import json, os, sys
order = json.load(sys.stdin)
answer, sys.stdout = sys.stdout, sys.stderr
os.mkdir("parser")
for name, text in order.pop("modules").items():
    with open(os.path.join("parser", name + ".py"), "w", encoding="utf-8") as file:
        file.write(text)
sys.path.insert(0, os.getcwd())
from parser import worker
worker.main(order, answer)
"""
LIMITS = Limits(
    cpu_seconds=60.0,
    wall_seconds=60.0,
    memory_bytes=2 * GIB,
    output_bytes=16 * MIB,
    file_bytes=256 * MIB,
    scratch_bytes=512 * MIB,
)
"""What the parser may use for a batch; one candidate by itself gets a third of the time."""
ALONE = LIMITS.with_seconds(20.0)
BATCH = 40
OURS = ("-x", "c++", "-ferror-limit=0", "-fno-spell-checking", "-Wno-everything")
KEPT_FLAGS = re.compile(
    r"-(?:std=|D|U|I|isystem|iquote|include|pthread|f(?:no-)?(?:exceptions|rtti))"
)
ALL_HEADERS = "proctor_headers.cpp"
STANDARD_UNIT = "#include <bits/stdc++.h>\n"
Names = Mapping[str, str]


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Names that exist, as the parser's side says it."""

    names: dict[str, str]
    version: str = ""


class Parser:
    """Reads candidates with one sandbox; safe for use by several threads."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        if find_spec("clang") is None:
            raise InputError(
                "the axes need libclang; install it with pip install '.[cpp]' in Proctor's folder"
            )
        sandbox.require_language(PARSER.name)
        self._system = system_flags()
        self._modules = {name: (INSIDE / f"{name}.py").read_text() for name in MODULES}
        self._modules["source"] = Path(translation_unit.__file__).read_text()
        digest = hashlib.sha256("\0".join(self._modules.values()).encode())
        digest.update(find_toolchain("cpp").version.encode())
        self._version = digest.hexdigest()
        self.version = f"libclang {metadata.version('libclang')}, rules {self._version[:12]}"
        self._kept: dict[str, Names] = {}

    def read(
        self, context: Repository, reference: str | None, candidates: Sequence[str]
    ) -> list[FindingReader]:
        """Read all candidates of one task; none can be if its own reference cannot."""
        order = self._order(context)
        every = [*([] if reference is None else [reference]), *candidates]
        found: list[FindingReader] = []
        for start in range(0, len(every), BATCH):
            found += self._batch(order, every[start : start + BATCH])
        if reference is None:
            return found
        broken = _broken(found[0])
        return found[1:] if broken is None else [broken] * len(candidates)

    def names(self, context: Repository) -> Names:
        """Return all names of a repository but those of the unit, which are seen while reading."""
        files = {path: text for path, text in context.files.items() if path != context.unit}
        if not files:
            return {}
        units = [*context.sources, ALL_HEADERS]
        files[ALL_HEADERS] = "".join(f'#include "{path}"\n' for path in files if _is_header(path))
        return self._index(files, units, self._flags(context), below=True)

    def _order(self, context: Repository) -> dict[str, object]:
        flags = self._flags(context)
        return {
            "do": "read",
            "files": dict(context.files),
            "unit": context.unit,
            "flags": flags,
            "headers": list(context.headers),
            "call_graph": list(context.call_graph),
            "repository": self.names(context),
            "standard": self._standard(flags),
        }

    def _flags(self, context: Repository) -> list[str]:
        """Return those of a unit's flags that decide what its names mean."""
        kept, words = [], list(context.flags_of(context.unit))
        for index, word in enumerate(words):
            before = words[index - 1] if index else ""
            if KEPT_FLAGS.match(word) or before in {"-I", "-D", "-U", "-isystem", "-include"}:
                kept.append(word)
        return [*OURS, *kept, *self._system]

    def _standard(self, flags: Sequence[str]) -> Names:
        """Return all names of the standard library under some flags; what is included is not."""
        own = [flag for flag in flags if not flag.startswith(("-I", "-include", "-iquote"))]
        return self._index({"all.cpp": STANDARD_UNIT}, ["all.cpp"], own, below=False)

    def _index(
        self, files: Mapping[str, str], units: Sequence[str], flags: Sequence[str], *, below: bool
    ) -> Names:
        order = {
            "do": "index",
            "files": dict(files),
            "units": list(units),
            "flags": list(flags),
            "below": below,
        }
        text = json.dumps([self._version, order], sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if key not in self._kept:
            found = _recall(key)
            if found is None:
                execution = self._run(order, LIMITS)
                found = _index_of(execution)
                _remember(key, found)
            self._kept[key] = found.names
        return self._kept[key]

    def _batch(self, order: Mapping[str, object], candidates: Sequence[str]) -> list[FindingReader]:
        execution = self._run({**order, "candidates": list(candidates)}, LIMITS)
        found = _readings(execution)[: len(candidates)]
        if len(found) == len(candidates) and execution.ending == Exited(0):
            return found
        return [self._alone(order, candidate) for candidate in candidates]

    def _alone(self, order: Mapping[str, object], candidate: str) -> FindingReader:
        execution = self._run({**order, "candidates": [candidate]}, ALONE)
        found = _readings(execution)
        if len(found) == 1 and execution.ending == Exited(0):
            return found[0]
        if isinstance(execution.ending, TimedOut):
            return FindingReader(status=SampleStatus.PARSER_TIMEOUT, detail=str(execution.ending))
        said = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        detail = "; ".join([str(execution.ending), *said])[:200]
        return FindingReader(status=SampleStatus.PARSER_FAILED, detail=detail)

    def _run(self, order: Mapping[str, object], limits: Limits) -> Execution:
        stdin = json.dumps({**order, "modules": self._modules}).encode()
        program = Program(source=MAIN, language=PARSER.name)
        runs = self._sandbox.repeat(program, limits, times=1)
        try:
            return runs.run(stdin, limits.output_bytes)
        finally:
            runs.close()


def _broken(reference: FindingReader) -> FindingReader | None:
    """Say why a task is no measure: what its own reference comes to."""
    if reference.status is not SampleStatus.OK:
        detail = reference.detail or "the parser refuses its reference"
        return FindingReader(
            status=SampleStatus.CONTEXT_BROKEN, detail=f"{reference.status}: {detail}"
        )
    if not (reference.findings or reference.errors or reference.outside_errors):
        return None
    what = [f"{one.kind} {one.qualified}" for one in reference.findings]
    detail = ", ".join(what) or "the parser finds errors in its reference"
    return FindingReader(status=SampleStatus.CONTEXT_BROKEN, detail=detail)


def system_flags() -> list[str]:
    """Return where headers lie that a compiler brings, which libclang does not."""
    places = sorted(Path("/usr/lib/gcc").glob("*/*/include"), key=_version_of)
    return ["-isystem", str(places[-1])] if places else []


def _version_of(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.parent.name)) or (0,)


def _is_header(path: str) -> bool:
    return path.endswith((".h", ".hpp", ".hh", ".hxx"))


def _readings(execution: Execution) -> list[FindingReader]:
    """Take the lines that are what they should be, up to the first that is not."""
    found = []
    for line in execution.stdout.splitlines():
        try:
            found.append(reader_for(msgspec.json.decode(line, type=Observation)))
        except (msgspec.DecodeError, TypeError, RecursionError):
            break
    return found


def _index_of(execution: Execution) -> Index:
    try:
        return msgspec.json.decode(execution.stdout, type=Index)
    except msgspec.DecodeError:
        said = execution.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        what = "; ".join([str(execution.ending), *said])[:200]
        raise SandboxError(f"the parser makes no index: {what}") from None


def _recall(key: str) -> Index | None:
    kept = Cache(NAME).get(key)
    try:
        return None if kept is None else msgspec.json.decode(kept, type=Index)
    except msgspec.DecodeError:
        return None  # another version kept it; it is made again


def _remember(key: str, index: Index) -> None:
    Cache(NAME).put(key, encode(index))
