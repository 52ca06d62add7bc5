"""Which languages there are, and what they are called."""

import platform

import pytest

from proctor.errors import SandboxError
from proctor.languages import builtin_languages
from proctor.server.compat.piston.runtimes import Runtimes, packages, shown


class Offering:
    """A sandbox that says what it offers."""

    def __init__(self, **versions):
        self._versions = versions
        self.tried = []

    def require_language(self, language):
        self.tried.append(language)
        if language not in self._versions:
            raise SandboxError(f"there is no {language} here")
        return self._versions[language]


def test_only_what_is_asked_for_is_tried_and_that_once():
    sandbox = Offering(python="python 3.12.3", cpp="g++ (Debian 12.2.0-14) 12.2.0")
    known = Runtimes(sandbox)
    for _ in range(2):
        assert known.find("c++", "12.x").version == "12.2.0"
        assert known.find("rust", "*") is None
    assert sandbox.tried == ["cpp", "rust"]


@pytest.mark.parametrize(
    ("asked", "selector", "language"),
    [
        ("py", "*", "python"),
        ("python3", "3.x", "python"),
        ("python3.12", "*", "python"),
        ("python3.11", "*", None),
        ("python", "2.x", None),
        ("cpp", "*", "c++"),
        ("g++", ">=10", "c++"),
        ("c++17", "*", "c++17"),
        ("cf_c++17", "*", "c++17"),
        ("cf_python3", "*", "cf_python3"),
        ("brainfuck", "*", None),
        ("go", "*", None),
    ],
)
def test_a_language_by_any_of_its_names(asked, selector, language):
    known = Runtimes(Offering(python="python 3.12.3", cpp="g++ 12.2.0"))
    found = known.find(asked, selector)
    assert (None if found is None else found.name.language) == language


def test_no_name_means_two_languages():
    known = [one for language in builtin_languages().values() for one in language.piston_names]
    names = [name for one in known for name in (one.language, *one.aliases)]
    assert len(names) == len(set(names))


def test_lists_have_its_shape():
    known = Runtimes(Offering(python="python 3.12.3", cpp="g++ 12.2.0")).all()
    first, second, *_ = (entry for entry in shown(known))
    assert (first.language, first.version) == ("python", "3.12.3")
    assert "python3.12" in first.aliases
    assert second.runtime == "gcc"
    found = [(one.language, one.installed) for one in packages(known)]
    assert found == [("python", True), ("gcc", True), ("codeforces", True)]


def test_the_service_lists_what_works_here(server, languages):
    listed = server.client.get("/api/v2/runtimes").json()
    python = next(one for one in listed if one["language"] == "python")
    assert python["version"] == platform.python_version()
    assert "runtime" not in python
    assert {"python", "cf_python3"} <= languages
    installed = server.client.get("/api/v2/packages").json()
    assert {"language": "python", "language_version": python["version"], "installed": True} in (
        installed
    )


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_packages_are_not_changed_over_the_network(server, method):
    answer = server.client.request(method, "/api/v2/packages", json={"language": "rust"})
    assert answer.status_code == 405
    assert list(answer.json()) == ["message"]
