"""Java."""

from proctor.languages.language import (
    CONTESTS,
    Harness,
    Language,
    PistonName,
    SandboxFusionName,
)
from proctor.languages.lexer import BLOCK, CHARACTER, LINE, STRING, Lexer
from proctor.records.task import TestProgram

_TEXT_BLOCK = r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+(?:""")?+'

LANGUAGE = Language(
    name="java",
    title="Java",
    suffix=".java",
    main="Main",
    named_by=(
        r"(?m)^\s*public\s+(?:final\s+|abstract\s+)*class\s+(\w+)",
        r"\bclass\s+(\w+)[^{;]*\{(?:(?!\bclass\s)[\s\S])*?\bstatic\s+void\s+main\b",
    ),
    compile=(
        *("{javac}", "-nowarn", "-encoding", "UTF-8", "-J-XX:TieredStopAtLevel=1"),
        *("-J-XX:+UseSerialGC", "-J-XX:-UsePerfData", "-J-Xmx1g", "{main}.java"),
    ),
    products=("*.class",),
    run=(
        *("{java}", "-ea", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"),
        *("-Xss64m", "-Xmx{heap}m", "-cp", ".", "{main}"),
    ),
    commands=("javac", "java"),
    around={"javac": ["."], "java": ["."]},
    shows=("/etc/java-*",),
    version=("{javac}", "-version"),
    address_space=False,
    out_of_memory=("java.lang.OutOfMemoryError",),
    raised=1,
    crashed=(3, 4),
    self_test="import java.util.Scanner;\npublic class Double {\n"
    "    public static void main(String[] args) {\n"
    "        System.out.println(2 * new Scanner(System.in).nextInt());\n    }\n}\n",
    install="apt install default-jdk-headless",
    fences=("java",),
    lexer=Lexer(
        hides=(LINE, BLOCK, _TEXT_BLOCK, STRING, CHARACTER),
        example='class A { String s = """\n{ "{" \n"""; /* } */ char c = \'}\';',
    ),
    imports=r"^[ \t]*import\s+[\w.*]+\s*;[ \t]*$",
    lost_beside_tests=r"^(\s*)public\s+(?=(?:final\s+|abstract\s+)*class\b)",
    harness=Harness(
        heads=r"\bpublic\s+static\s+void\s+main\s*\([^)]*\)\s*(?:throws\s+[\w.,\s]+?)?\s*\{",
        opening="try {",
        closing='java.lang.System.out.println("\\n@YES@"); } catch (java.lang.AssertionError _no) {'
        ' java.lang.System.out.println("\\n@NO@ wrong " + _no);'
        " java.lang.Runtime.getRuntime().exit(3); }",
    ),
    corpus_tests=TestProgram(
        code="public class Main {\n    public static void main(String[] args) {\n"
        "        for (int x : new int[] {1, 21, -3}) {\n"
        "            if (Solution.twice(x) != x + x) throw new AssertionError();\n"
        "        }\n    }\n}\n"
    ),
    piston=(
        PistonName(language="java"),
        PistonName(language="cf_java", aliases=("Java 17",), runtime=CONTESTS, contest=True),
    ),
    sandboxfusion=SandboxFusionName(name="java", compiles=True),
)
