"""Python. Most of the judge is about it; here is what it shares with other languages."""

from proctor.languages.language import CONTESTS, Language, PistonName, SandboxFusionName

LANGUAGE = Language(
    name="python",
    title="Python",
    suffix=".py",
    run=("{python3}", "main.py"),
    commands=("python3",),
    version=("{python3}", "--version"),
    out_of_memory=("MemoryError",),
    self_test="print(2 * int(input()))\n",
    install="it is what Proctor itself runs on",
    fences=("python", "py", "python3", "py3", "ipython", "pycon"),
    piston=(
        PistonName(language="python", aliases=("py", "py3", "python3")),
        PistonName(language="cf_python3", aliases=("Python 3",), runtime=CONTESTS, contest=True),
    ),
    sandboxfusion=SandboxFusionName(name="python", tags=("py", "python3")),
)
