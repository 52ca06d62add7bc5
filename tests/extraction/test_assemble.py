"""From a task and extracted code to a program."""

import ast
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.extraction import extract
from proctor.extraction.assemble import BASE_IMPORTS, assemble, prepend, verbatim
from proctor.records.extraction import Extraction
from proctor.records.program import Program
from proctor.records.task import Assertions, CallCases, StdinCases, Task

NO_TESTS = Assertions(targets=[])
PROMPT = '''\
from typing import List
import math

SCALE = 2


def helper(x):
    """Twice."""
    return SCALE * x


@staticmethod
def decorated(x):
    return x


def f(numbers: List[int]) -> int:
    """Sum of the helper's values."""
'''


def task(prompt=PROMPT, entry="f", tests=NO_TESTS, language="python"):
    return Task(task_id="t", prompt=prompt, entry_point=entry, tests=tests, language=language)


def whole(code):
    return Extraction(code=code, rule="whole")


def rest(code):
    return Extraction(code=code, rule="continuation", continues=True)


def run(program):
    namespace = {"__name__": "candidate"}
    exec(compile(program.source, "candidate", "exec", dont_inherit=True), namespace)
    return namespace


def definitions(source, name):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return sum(isinstance(n, kinds) and n.name == name for n in ast.parse(source).body)


def test_the_digest_covers_everything_that_runs():
    programs = [
        Program(source="x"),
        Program(source="y"),
        Program(source="x", language="cpp"),
        Program(source="x", args=("a",)),
        Program(source="x", args=("a", "b")),
        Program(source="\ud800"),
    ]
    assert len({program.sha256 for program in programs}) == len(programs)
    assert programs[0].sha256 == hashlib.sha256(b"python\0x").hexdigest()


def test_a_continuation_follows_the_prompt():
    program = assemble(task(), rest("    return sum(map(helper, numbers))\n"))
    assert program.source == PROMPT + "    return sum(map(helper, numbers))\n"
    assert run(program)["f"]([1, 2]) == 6


def test_a_whole_program_gets_what_it_lacks_of_the_prompt():
    code = "def f(numbers: List[int]) -> int:\n    return sum(map(helper, numbers))\n"
    program = assemble(task(), whole(code))
    assert program.source.endswith(code)
    assert program.source.startswith("from typing import List\nimport math\nSCALE = 2\ndef helper")
    assert "@staticmethod\ndef decorated" in program.source
    assert definitions(program.source, "f") == 1
    assert run(program)["f"]([1, 2]) == 6


def test_what_the_program_defines_itself_is_not_put_before_it():
    code = (
        "import math\nSCALE = 3\ndecorated = None\ndef helper(x):\n    return SCALE * x\n"
        "def f(numbers):\n    return sum(map(helper, numbers))\n"
    )
    program = assemble(task(), whole(code))
    assert program.source == "from typing import List\n" + code
    assert run(program)["f"]([1, 2]) == 9


def test_a_program_that_needs_nothing_is_left_as_it_is():
    code = PROMPT + "    return 1\n"
    assert assemble(task(), whole(code)).source == code


def test_an_import_is_added_if_any_of_its_names_is_missing():
    prompt = "from typing import Dict, List\n\n\ndef f(x):\n"
    code = "from typing import List\ndef f(x: List[Dict]): return x\n"
    program = assemble(task(prompt), whole(code))
    assert program.source == "from typing import Dict, List\n" + code


def test_statements_that_share_a_line_are_added_once():
    program = assemble(task("import os; import sys\n\n\ndef f(x):\n"), whole("f = 1\n"))
    assert program.source == "import os; import sys\nf = 1\n"


def test_star_imports_are_told_apart():
    prompt = "from math import *\nfrom typing import *\n\n\ndef f(x):\n"
    program = assemble(task(prompt), whole("from math import *\nf = sqrt\n"))
    assert program.source == "from typing import *\nfrom math import *\nf = sqrt\n"


@pytest.mark.parametrize(
    "prompt", ["Write a function f that adds.", "Hello", '"""Write f."""\n', "", "Sort:\n  def f"]
)
def test_a_prompt_in_prose_is_no_part_of_the_program(prompt):
    assert assemble(task(prompt), whole("def f(): pass\n")).source == "def f(): pass\n"
    assert verbatim(task(prompt), "def f(): pass\n").source == "def f(): pass\n"


def test_candidates_are_kept_as_python_would_see_them():
    code = (
        "import sys\nsys.setrecursionlimit(5000)\n\ndef f(n):\n    return None\n\n"
        "def twice(g):\n    return lambda n: 2 * g(n)\n\n@twice\ndef f(n):\n    return n\n\nf.x = 1\n"
    )
    program = assemble(task("def f(n):\n    'Doc.'\n"), whole(code))
    assert program.source == code
    assert run(program)["f"](4) == 8


def test_stdin_programs_stand_alone():
    stdin = task("import math\n", None, StdinCases(inputs=[], outputs=[]))
    assert assemble(stdin, whole("print(1)")).source == "print(1)"
    assert verbatim(stdin, "print(1)").source == "print(1)"


def test_a_class_is_an_entry_point_too():
    prompt = "from typing import List\n\nclass Solution:\n    def g(self, x):\n        "
    code = "class Solution:\n    def g(self, x: List[int]):\n        return x\n"
    for tests, entry in (
        (NO_TESTS, "Solution().g"),
        (CallCases(fn_name="g", inputs=[], outputs=[]), None),
    ):
        program = assemble(task(prompt, entry, tests), whole(code))
        assert program.source == "from typing import List\n" + code


def test_broken_code_is_left_alone():
    assert assemble(task(), whole("def f(:")).source == "def f(:"
    assert assemble(task(), whole("x = '\0'")).source == "x = '\0'"


def test_other_languages_are_left_alone():
    program = assemble(task("int f();\n", "f", language="cpp"), whole("int f() { return 1; }"))
    assert (program.source, program.language) == ("int f() { return 1; }", "cpp")
    assert (
        verbatim(task("int f()", "f", language="cpp"), " { return 1; }").source
        == "int f() { return 1; }"
    )


class TestFuture:
    FUTURE = "from __future__ import annotations\n"

    def test_of_the_program_stays_first(self):
        code = f'"""Doc."""\n{self.FUTURE}\ndef f(x: List[int]):\n    return x\n'
        program = assemble(task(), whole(code), preamble="import os")
        lines = program.source.split("\n")
        assert lines[:3] == ['"""Doc."""', self.FUTURE.strip(), "import os"]
        assert run(program)["f"](1) == 1

    def test_of_the_prompt_stays_first(self):
        prompt = f"{self.FUTURE}from typing import List\n\n\ndef f(x: Undefined):\n"
        program = assemble(
            task(prompt), whole("def f(x: Undefined):\n    return x\n"), preamble="import os"
        )
        assert program.source.startswith(f"{self.FUTURE}import os\nfrom typing import List\ndef f")
        assert run(program)["f"](1) == 1

    def test_of_both(self):
        prompt = (
            "from __future__ import division, annotations\nfrom typing import List\n\n\ndef f(x):\n"
        )
        program = assemble(
            task(prompt),
            whole(f"{self.FUTURE}def f(x: Undefined):\n    return x\n"),
            preamble="import os",
        )
        assert run(program)["f"](1) == 1

    def test_of_a_continued_prompt(self):
        program = assemble(
            task(f"{self.FUTURE}def f(x: Undefined):\n"),
            rest("    return x\n"),
            preamble="import os",
        )
        assert program.source.startswith(f"{self.FUTURE}import os\n")
        assert run(program)["f"](1) == 1

    def test_in_a_string_is_none(self):
        assert prepend("import os", "x = '__future__'") == "import os\nx = '__future__'"


def test_nothing_in_front():
    assert prepend("", "x") == "x"
    assert prepend("\n", "x") == "x"


def test_verbatim_is_prompt_and_text():
    assert verbatim(task(), "    return 1").source == PROMPT + "    return 1"
    assert verbatim(task(), "def f(x): return 1").source == PROMPT + "def f(x): return 1"
    assert verbatim(task(), "```python").source == PROMPT + "```python"


def test_verbatim_of_a_prompt_that_stops_inside_a_statement():
    assert (
        verbatim(task("def f(a):\n    return (a +"), " 1)").source
        == "def f(a):\n    return (a + 1)"
    )


def test_verbatim_of_whole_samples_has_no_prompt():
    assert verbatim(task(), "def f(x): return 1", whole=True).source == "def f(x): return 1"
    program = verbatim(task(), "def f(x): return 1", whole=True, preamble="import os\n")
    assert program.source == "import os\ndef f(x): return 1"


class TestPreamble:
    def test_base_imports_run_and_hide_no_builtin(self):
        import builtins

        names = run(Program(source=BASE_IMPORTS))
        assert names.keys() & {"List", "defaultdict", "gcd", "lru_cache", "heappush", "math", "sys"}
        assert not (names.keys() & set(dir(builtins))) - {"__name__", "__doc__"}

    def test_base_imports_come_from_the_standard_library(self):
        import sys

        for node in ast.parse(BASE_IMPORTS).body:
            modules = (
                [node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
            )
            assert set(modules) <= sys.stdlib_module_names

    def test_stands_in_front(self):
        program = assemble(
            task("Write f."), whole("def f(x): return gcd(x, 4)"), preamble=BASE_IMPORTS
        )
        assert program.source.startswith(BASE_IMPORTS)
        assert run(program)["f"](6) == 2

    def test_never_stands_in_for_the_entry_point(self):
        asked = task("Write gcd.", "gcd")
        assert "gcd" not in run(assemble(asked, whole("x = 1"), preamble=BASE_IMPORTS))
        assert "gcd" not in run(verbatim(asked, "x = 1", whole=True, preamble=BASE_IMPORTS))
        solved = assemble(asked, whole("def gcd(a, b): return 7"), preamble=BASE_IMPORTS)
        assert run(solved)["gcd"](1, 2) == 7


PIECES = st.sampled_from(
    [
        "import math",
        "from typing import List",
        "def helper(x):\n    return x",
        "def g(x):\n    return x",
        "SCALE = 5",
        "@staticmethod\ndef decorated(x):\n    return x",
        "if True:\n    y = 1",
        "class A:\n    f = 1",
    ]
)


@given(
    st.lists(PIECES, max_size=4), st.lists(PIECES, max_size=3), st.sampled_from(["", BASE_IMPORTS])
)
def test_the_entry_point_is_defined_once(before, after, preamble):
    code = "\n".join([*before, "def f(numbers):\n    return 1", *after]) + "\n"
    program = assemble(task(), extract(code, task(), truncated=False), preamble=preamble)
    assert definitions(program.source, "f") == 1
    assert run(program)["f"]([]) == 1


@given(
    st.lists(
        st.sampled_from(["    x = 1", "    return 2", "    for n in numbers:\n        pass"]),
        min_size=1,
    )
)
def test_a_continued_entry_point_is_defined_once(lines):
    code = "\n".join(lines)
    program = assemble(task(), extract(code, task(), truncated=False))
    assert definitions(program.source, "f") == 1
    assert program.source == PROMPT + code
