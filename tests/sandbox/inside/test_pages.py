import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRELUDE = """
    import ctypes, os, socket, ssl, sys
    from proctor.sandbox.inside import pages

    def code():
        known = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
        return next(one for one in pages.mappings() if one.first <= known < one.end)
"""
WORKS = """
    import decimal, json, re
    assert json.loads(json.dumps({"a": [1.5, None]})) == {"a": [1.5, None]}
    assert re.findall(r"\\d+", "a1b22") == ["1", "22"]
    assert decimal.Decimal(2) ** 50 == 2 ** 50
    pid = os.fork()
    if pid == 0:
        os._exit(sum(i * i for i in range(10)) % 256)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 285 % 256
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of mappings")


def in_a_process_of_its_own(text):
    source = "".join(map(textwrap.dedent, (PRELUDE, text, WORKS)))
    found = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


def has_huge_pages():
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return enabled.exists() and "[never]" not in enabled.read_text()


def test_a_library_lies_in_fewer_mappings_and_all_works_as_before():
    before, after = in_a_process_of_its_own(
        """
        libraries = lambda: [one for one in pages.mappings() if ".so" in one.path]
        print(len(libraries()))
        pages.prepare_forks()
        print(len(libraries()))
        assert not any(one.rights == "rwxp" for one in pages.mappings())
        """
    ).split()
    assert int(after) < 0.7 * int(before)


@pytest.mark.skipif(not has_huge_pages(), reason="this machine has no huge pages")
def test_the_interpreter_runs_from_huge_pages():
    path = in_a_process_of_its_own(
        """
        before = code()
        pages.prepare_forks()
        after = code()
        assert after.rights == "r-xp"
        if (before.end - before.first) < 2 * pages.HUGE:
            print("small")
        else:
            size = after.end - after.first
            print(after.path or (pages._is_huge(after.first, size) and "huge"))
        """
    ).strip()
    assert path in ("huge", "small")


def test_it_runs_from_its_file_where_there_are_no_huge_pages():
    in_a_process_of_its_own(
        """
        PR_SET_THP_DISABLE = 41
        assert pages.LIBC.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
        before = code().path
        pages.prepare_forks()
        assert code().path == before
        """
    )


def test_nothing_happens_where_nobody_tells_of_mappings():
    in_a_process_of_its_own(
        """
        import builtins
        def refuse(*args, **more):
            raise PermissionError(13, "no")
        builtins.open, kept = refuse, open
        pages.prepare_forks()
        builtins.open = kept
        """
    )
