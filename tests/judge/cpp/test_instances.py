"""Templates that the host has for its parts: all that are declared are there, and nothing else."""

import subprocess

import pytest

from proctor.judge.cpp import codegen
from proctor.judge.cpp import judge as parts_module
from proctor.judge.judge import Judge
from proctor.languages import gcc
from proctor.languages.compiler import BuildRecipe, unpack_files
from proctor.records.limits import Limits
from proctor.records.program import Program
from proctor.records.task import Task
from proctor.records.task import TestProgram as InOneFile
from proctor.records.verdict import Passed
from proctor.sandbox.toolchains.precompiled_headers import PRECOMPILE_AFTER_USES

HEADERS = ("algorithm", "map", "string", "unordered_map", "vector")
USES = """
template <class T> void vectors(T one) {
    std::vector<T> a, b(a), c(3), d(3, one), e{one, one};
    a = b; a = static_cast<std::vector<T>&&>(e); a.push_back(one); a.insert(a.begin(), one);
    a.erase(a.begin()); a.resize(4); a.reserve(9); a.pop_back(); a.emplace_back(one); a.assign(2, one);
    a.insert(a.end(), d.begin(), d.end()); a[0] = a.back(); a.at(0) = a.front(); a.swap(b); a.clear();
    for (const T& each : d) b.push_back(each);
    std::sort(b.begin(), b.end());
}
template <class M, class K> void maps(K key) {
    M a; a[key]++; a.insert({key, 1}); M b(a); b = a; b.erase(key); a.find(key); a.count(key);
    a.at(key) = 2; a.emplace(key, 3); for (auto& each : a) each.second++; a.clear();
}
template <class T> void searches(std::vector<T> a, T one) {
    std::reverse(a.begin(), a.end()); std::find(a.begin(), a.end(), one);
    std::max_element(a.begin(), a.end()); std::min_element(a.begin(), a.end());
}
void all() {
    vectors<int>(1); vectors<long>(1); vectors<float>(1); vectors<std::string>("");
    searches<int>({1}, 1); searches<long>({1}, 1); searches<float>({1}, 1);
    std::vector<std::vector<int>> nested(2); nested.push_back({1}); nested[0] = nested[1];
    maps<std::map<int, int>>(1); maps<std::map<char, int>>('c');
    maps<std::map<std::string, int>>(std::string("a"));
    maps<std::unordered_map<int, int>>(1); maps<std::unordered_map<char, int>>('c');
    std::string s = "b", t = s + s + "a" + 'a' + (s + s); t = "a" + s; t = 'a' + s; t = s + "a";
    t = s + 'a'; t = s + (s + s); t = "a" + (s + s); bool same = s == "b" || s != "b"; (void)same;
    std::sort(s.begin(), s.end()); std::reverse(s.begin(), s.end());
}
"""


def names(path, *which):
    said = subprocess.run(
        ["nm", "-D", *which, str(path)], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1] for line in said.splitlines()}


def host_of(sandbox, folder):
    toolchain = sandbox.native("cpp").require("cpp")
    recipe = BuildRecipe(files=codegen.HOST, steps=gcc.program(toolchain), products=("host",))
    made = sandbox.native("cpp").build_recipe(toolchain, recipe, keep=True)
    path = folder / "host"
    path.write_bytes(unpack_files(made.files)["host"])
    return path


def test_the_host_shows_templates_of_the_library_and_nothing_of_its_own(cpp, tmp_path):
    shown = names(host_of(cpp, tmp_path), "--defined-only")
    assert len(shown) > 200
    assert {name[:4] for name in shown} <= {"_ZNS", "_ZNK", "_ZSt"}


@pytest.mark.parametrize(
    "standard",
    ["c++17", *(pytest.param(name, marks=pytest.mark.slow) for name in ("c++11", "c++20"))],
)
def test_all_that_is_declared_is_there(cpp, tmp_path, standard):
    text = "".join(f"#include <{name}>\n" for name in HEADERS) + codegen.INSTANCES + USES
    (tmp_path / "part.cpp").write_text(text)
    for name, content in codegen.HOST.items():
        (tmp_path / name).write_bytes(content)
    toolchain = cpp.native("cpp").require("cpp")
    [(command, *words)] = gcc.program(toolchain)
    words = [f"-std={standard}" if word.startswith("-std=") else word for word in words]
    subprocess.run([command, *words], cwd=tmp_path, check=True)
    steps = [command, f"-std={standard}", "-O0", *gcc.SHARED, "-shared", "-o", "part.so"]
    subprocess.run([*steps, "part.cpp"], cwd=tmp_path, check=True)
    elsewhere = {name for name in names(tmp_path / "part.so", "--undefined-only") if "I" in name}
    ours = {name for name in elsewhere if "@" not in name and name.startswith("_Z")}
    assert len(ours) > 80
    assert ours <= names(tmp_path / "host", "--defined-only")


def test_candidates_find_it_there_once_their_headers_are_compiled(cpp, tmp_path, monkeypatch):
    made = []
    candidate = parts_module.CppTestBuild.candidate

    def making(self, program, *, whole=False):
        outcome = candidate(self, program, whole=whole)
        made.append((whole, unpack_files(outcome.files)["part.so"]))
        return outcome

    monkeypatch.setattr(parts_module.CppTestBuild, "candidate", making)
    prompt = "#include <vector>\n#include <algorithm>\nusing namespace std;\n"
    task = Task(
        task_id="t",
        language="cpp",
        prompt=prompt + "vector<int> f(vector<int> a) {\n",
        entry_point="f",
        tests=InOneFile(code="#include <assert.h>\nint main() { assert(f({2, 1})[1] == 2); }"),
        limits=Limits().with_seconds(5),
    )
    judge = Judge(cpp)
    for n in range(PRECOMPILE_AFTER_USES + 2):
        source = f"{task.prompt}  a.push_back({n + 5}); sort(a.begin(), a.end()); a[0] = a[a.size() - 1]; return a; }}"
        judgement = judge.judge(task, Program(source=source, language="cpp"))
        assert isinstance(judgement.verdict, Passed), judgement.verdict
    assert [whole for whole, _ in made] == [False] * (PRECOMPILE_AFTER_USES + 2)
    path = tmp_path / "part.so"
    path.write_bytes(made[-1][1])
    missing = names(path, "--undefined-only")
    assert any(name.startswith("_ZSt4sortI") for name in missing)
    assert any("9push_back" in name for name in missing)
    # what only reads a member is its own: to ask the host takes longer than to do it
    assert not [
        name for name in missing if name.endswith(("ixEm", "4sizeEv", "5beginEv", "3endEv"))
    ]
