"""Functions of C++ libraries, judged in their files, that come with Proctor."""

from proctor.benchmarks import tasks_file
from proctor.benchmarks.source import Source

SOURCES = (
    Source(
        name="cpp-context",
        position=20,
        summary="28 functions of three C++ libraries, each in its place; needs no download",
        tasks=28,
        file="cpp_context",
        licence="MIT",
        read=tasks_file.read,
    ),
)
