"""Our own parser of C++: it reads what is hostile, so it runs in a box as candidates do."""

from proctor.languages.c import GCC
from proctor.languages.language import Language

LANGUAGE = Language(
    name="cpp-parser",
    title="libclang",
    internal=True,
    suffix=".py",
    run=("{python}", "main.py"),
    commands=("python",),
    shows=GCC,
    packages=("libclang",),
    version=("{python}", "--version"),
    environment={"PYTHONPATH": "/packages"},
    self_test="import clang.cindex\nclang.cindex.Index.create()\nprint(2 * int(input()))\n",
    install="pip install '.[cpp]' in Proctor's folder",
)
