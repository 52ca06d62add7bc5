"""Cells of a notebook as SandboxFusion's clients send them."""

import pytest

from tests.requires import requires


@pytest.fixture
def cells(ask):
    def post(*cells, **fields):
        status, answer = ask("/run_jupyter", {"cells": list(cells), **fields})
        assert status == 200, answer
        return answer

    return post


def test_every_field_is_there(cells):
    answer = cells("print(123)")
    assert answer | {"driver": None} == {
        "status": "Success",
        "message": "",
        "driver": None,
        "cells": [{"stdout": "123\n", "stderr": "", "display": [], "error": []}],
        "executor_pod_name": None,
        "files": {},
    }
    driver = answer["driver"]
    assert (driver["status"], driver["return_code"], driver["stdout"]) == ("Finished", 0, "")


def test_state_display_and_errors(cells):
    answer = cells(
        "a = 'hello'",
        "a",
        "import sys\nsys.stderr.write('This is an error message\\n');",
        "assert False",
        "print(a)",
    )
    assert answer["status"] == "Success"
    first, second, third, fourth, fifth = answer["cells"]
    assert first["stdout"] == ""
    assert second["display"][0]["text/plain"] == "'hello'"
    assert third["stderr"] == "This is an error message\n"
    assert fourth["error"][0]["ename"] == "AssertionError"
    assert isinstance(fourth["error"][0]["traceback"], list)
    assert fifth["stdout"] == "hello\n"


def test_no_request_knows_of_another(cells):
    cells("secret = 1; open('x', 'w').write('1')")
    answer = cells("secret", "import os; os.listdir('.')")
    assert answer["cells"][0]["error"][0]["ename"] == "NameError"
    assert answer["cells"][1]["display"][0]["text/plain"] == "[]"


def test_a_cell_has_a_time_of_its_own(cells):
    answer = cells("a = 1", "while True: pass", "a", cell_timeout=0.5)
    assert (answer["status"], answer["driver"]["status"]) == ("Failed", "Finished")
    assert answer["cells"][1]["error"][0]["ename"] == "KeyboardInterrupt"
    assert answer["cells"][2]["display"][0]["text/plain"] == "1"
    assert answer["message"] == "cell 1 was ended because its time was over"


def test_all_have_one_together(cells):
    answer = cells("print(1)", "while True: pass", "print(3)", total_timeout=1)
    assert (answer["status"], answer["driver"]["status"]) == ("Failed", "TimeLimitExceeded")
    assert answer["driver"]["return_code"] is None
    assert answer["cells"][0]["stdout"] == "1\n"
    assert len(answer["cells"]) == 2
    assert cells("1", total_timeout=0)["driver"]["status"] == "TimeLimitExceeded"


def test_who_ends_the_process_ends_it_for_all(cells):
    answer = cells("import os; os._exit(0)", "1")
    assert (answer["status"], answer["driver"]["return_code"]) == ("Failed", -9)
    assert (len(answer["cells"]), answer["message"]) == (1, "cell 0 ended the process")


def test_files(cells):
    answer = cells(
        "open('out', 'w').write(open('in').read() * 2)",
        files={"in": "YQ=="},
        fetch_files=["out", "none"],
    )
    assert answer["files"] == {"out": "YWE="}
    assert cells("1", files={"../x": "YQ=="})["status"] == "SandboxError"


def test_output_is_bounded(cells):
    answer = cells("print('x' * (3 << 20))", "print('y')")
    assert len(answer["cells"][0]["stdout"]) == 1 << 20
    assert answer["cells"][1]["stdout"] == "y\n"
    assert "wrote more than" in answer["message"]


@pytest.mark.parametrize("body", [{}, {"cells": "x"}, {"cells": [1]}, {"cells": [], "kernel": "r"}])
def test_what_is_wrong_is_said_as_there(ask, body):
    status, answer = ask("/run_jupyter", body)
    assert status == 422
    assert answer["detail"][0]["loc"][0] == "body"


def test_its_client(url):
    requires("sandbox-fusion")
    import sandbox_fusion as package

    package.set_endpoint(url)
    request = package.RunJupyterRequest(cells=["a = 2", "a * 21"])
    answer = package.run_jupyter(request)
    assert answer.status == package.RunStatus.Success
    assert answer.cells[1].display[0]["text/plain"] == "42"
