"""TypeScript, compiled by tsc and run by Node."""

from proctor.languages.javascript import DOUBLE, HIDES, HOOK, NODE_MEMORY, NODE_PARTS
from proctor.languages.language import Harness, Language, PistonName, SandboxFusionName
from proctor.languages.lexer import Lexer
from proctor.records.task import TestProgram

LANGUAGE = Language(
    name="typescript",
    title="TypeScript",
    suffix=".ts",
    compile=(
        *("{node}", "{tsc}", "--target", "es2022", "--module", "commonjs"),
        *("--skipLibCheck", "--noEmitOnError", "main.ts"),
    ),
    products=("main.js",),
    run=("{node}", "--max-old-space-size={heap}", "--stack-size=3900", "main.js"),
    commands=("node", "tsc"),
    around={"tsc": [".", "../@typescript", "../@types"]},
    optional={
        "{tsc}/../../../@types/node": (
            *("--types", "node", "--typeRoots", "{tsc}/../../../@types"),
        )
    },
    shows=NODE_PARTS,
    version=("{tsc}", "--version"),
    address_space=False,
    out_of_memory=NODE_MEMORY,
    raised=1,
    self_test=f"declare var require: any;\n{DOUBLE}",
    install="npm install --global typescript, and apt install nodejs",
    fences=("typescript", "ts", "tsx"),
    lexer=Lexer(hides=HIDES, example="function f(): {a: number} { return /[{]/.test('}')"),
    starts_at_main=False,
    harness=Harness(
        before=HOOK.format(any="(globalThis as any).", type=": any"),
        closing='\n;(globalThis as any).process.stdout.write("\\n@YES@\\n");\n',
    ),
    corpus_tests=TestProgram(
        code="declare var require: any;\nconst assert = require('node:assert');\n"
        "assert.strictEqual(twice(1), 2);\nassert.strictEqual(twice(21), 42);\n"
    ),
    piston=(PistonName(language="typescript", aliases=("ts", "node-ts", "tsc")),),
    sandboxfusion=SandboxFusionName(name="typescript", tags=("ts",)),
)
