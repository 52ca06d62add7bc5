"""Rows of BigCodeBench: functions that use many libraries, tested by unittest classes.

Two prompts are published for each task: `complete`, code to be continued, and `instruct`, words.
As the publisher's harness does, the imports and the signature of the task stand in front of every
program. A task has 240 s, may talk to itself over the loopback network, and needs libraries that
have to be installed where candidates run (`--python`); where one is missing, or anything else that
the task's own solution needs, its samples are unscored.
"""

import msgspec

from proctor.benchmarks.source import Source
from proctor.extraction.python.syntax import parse
from proctor.records.limits import GIB, MIB, Limits
from proctor.records.task import Task, UnitTests
from proctor.sandbox.inside.roles.unit_tests import declared_tests
from proctor.storage.jsonl import Line, shorten

LIMITS = msgspec.structs.replace(
    Limits().with_seconds(240.0),
    memory_bytes=8 * GIB,
    scratch_bytes=1 * GIB,
    file_bytes=256 * MIB,
    loopback=True,
)

LIBRARIES = {
    "numpy": "<2",
    "pandas": "<2.1",
    "matplotlib": "<3.8",
    "scikit-learn": "<1.4",
    "scipy": "<1.12",
    "seaborn": "<0.14",
    "chardet": "<6",
    "keras": "<3",
    "tensorflow-cpu": "<2.16",
    "setuptools": "<81",  # whose pkg_resources some of the others import
    **dict.fromkeys(
        (
            *("beautifulsoup4", "blake3", "cryptography", "Django", "dnspython"),
            *("docxtpl", "Faker", "Flask", "Flask-Login", "Flask-Mail", "Flask-RESTful"),
            *("Flask-WTF", "folium", "gensim", "geopandas", "geopy", "holidays"),
            *("Levenshtein", "librosa", "lxml", "mechanize", "natsort", "networkx", "nltk"),
            *("numba", "opencv-python-headless", "openpyxl", "Pillow", "prettytable", "psutil"),
            *("pycryptodome", "pyfakefs", "pyquery", "pytesseract", "pytest", "python-dateutil"),
            *("python-docx", "python-http-client", "pytz", "PyYAML", "regex", "requests"),
            *("requests-mock", "rsa", "scikit-image", "selenium", "sendgrid", "shapely"),
            *("soundfile", "statsmodels", "sympy", "textblob", "texttable"),
            *("Werkzeug", "wikipedia", "wordcloud", "wordninja", "WTForms", "xlrd", "xlwt"),
            *("xmltodict",),
        ),
        "",
    ),
}
"""What the tasks import, and the versions that their own solutions need."""
SHOWN = (*LIBRARIES, "tensorflow")
"""What candidates may import of it; the last is another build of one of them."""
REQUIREMENTS = tuple(f"{library}{versions}" for library, versions in LIBRARIES.items())
HARD_URL = (
    "https://raw.githubusercontent.com/QwenLM/Qwen2.5-Coder/"
    "dc5af295350a48a4dd04625d3b8f348dc3c4f218/"
    "qwencoder-eval/instruct/BigCodeBench/data/bigcodebench_hard.json"
)


class Row(msgspec.Struct, kw_only=True):
    """One task of BigCodeBench."""

    task_id: str
    complete_prompt: str
    instruct_prompt: str
    code_prompt: str
    test: str
    entry_point: str
    canonical_solution: str | None = None


def read(line: Line) -> Task:
    """Read one task, whose prompt is to be continued."""
    row = line.decode(Row)
    return _task(line, row, row.complete_prompt)


def read_instruct(line: Line) -> Task:
    """Read one task, whose prompt is words."""
    row = line.decode(Row)
    return _task(line, row, row.instruct_prompt)


def _task(line: Line, row: Row, prompt: str) -> Task:
    tests = parse(row.test)
    if tests is None or not declared_tests(tests):
        raise line.error("field test is not Python that declares tests")
    if not row.entry_point.isidentifier():
        raise line.error(f"field entry_point: {shorten(row.entry_point)} names no function")
    preamble = f"{row.code_prompt.rstrip()}\n    pass\n"
    if parse(preamble) is None:
        raise line.error("field code_prompt is not Python that ends with a signature")
    solution = row.canonical_solution
    if solution is not None:
        solution = f"{row.code_prompt.rstrip()}\n{solution}"
    return Task(
        task_id=row.task_id,
        prompt=prompt,
        preamble=preamble,
        entry_point=row.entry_point,
        tests=UnitTests(code=row.test),
        canonical_solution=solution,
        limits=LIMITS,
    )


FULL = Source(
    name="bigcodebench",
    position=90,
    summary="functions that use many libraries (Zhuo et al. 2024), to complete",
    tasks=1140,
    file="BigCodeBench-v0.1.4.jsonl",
    url="https://huggingface.co/datasets/bigcode/bigcodebench",
    licence="Apache-2.0",
    read=read,
    matches=lambda fields: "complete_prompt" in fields,
    folder="bigcodebench",
    libraries=SHOWN,
    requirements=REQUIREMENTS,
)
HARD = Source(
    name="bigcodebench-hard",
    position=90,
    summary="the hard ones of BigCodeBench, to complete",
    tasks=148,
    file="bigcodebench_hard.json",
    url=HARD_URL,
    licence="Apache-2.0",
    sha256="5e7a87ff1085eafb13b2d570277bcb53dba68201717b4fc987a3f2b86a23869c",
    read=read,
    folder="bigcodebench-hard",
    libraries=SHOWN,
    requirements=REQUIREMENTS,
)
SOURCES = (
    FULL,
    msgspec.structs.replace(
        FULL,
        name="bigcodebench-instruct",
        summary="functions that use many libraries (Zhuo et al. 2024), to write from words",
        read=read_instruct,
        matches=None,
    ),
    HARD,
    msgspec.structs.replace(
        HARD,
        name="bigcodebench-hard-instruct",
        summary="the hard ones of BigCodeBench, to write from words",
        read=read_instruct,
    ),
)
