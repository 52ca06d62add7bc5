"""JavaScript, run by Node."""

from proctor.languages.language import Harness, Language, PistonName, SandboxFusionName
from proctor.languages.lexer import BLOCK, LINE, STRING, Lexer
from proctor.records.task import TestProgram

NODE_PARTS = tuple(  # where Debian keeps what others have built into the command
    f"/usr/share/nodejs/{name}"
    for name in ("acorn", "acorn-walk", "cjs-module-lexer", "minimatch", "undici", "balanced-match")
)
NODE_MODULES = ("/usr/lib/node_modules", "/usr/local/lib/node_modules")
NODE_PACKAGES = tuple(f"{place}/js-md5" for place in NODE_MODULES)
"""What tests of humaneval-x-js need; nothing else that is installed is in sight."""
NODE_MEMORY = ("JavaScript heap out of memory", "Array buffer allocation failed")
DOUBLE = """\
const text = require('fs').readFileSync(0, 'utf8');
console.log(2 * parseInt(text, 10));
"""
PROBE = """\
const fs = require('fs'), path = require('path');
console.log(JSON.stringify(process.env), process.argv, process.execArgv);
const seen = new Set();
function look(place, depth) {
  if (seen.has(place) || depth > 4) return;
  seen.add(place);
  try {
    if (fs.statSync(place).isDirectory())
      for (const name of fs.readdirSync(place)) look(path.join(place, name), depth + 1);
    else console.log('== ' + place + '\\n' + fs.readFileSync(place, 'utf8').slice(0, 20000));
  } catch (error) {}
}
for (const place of ['.', '/tmp', '/proc/self/environ', '/proc/self/cmdline']) look(place, 0);
"""

_QUOTED = r"'(?:[^'\\\n]++|\\[\s\S])*+'?+"
_TEMPLATE = (
    r"`(?:[^`\\$]++|\\[\s\S]|\$(?!\{)"
    r"|\$\{(?:[^{}`]++|\{[^{}`]*+\}?+|`[^`]*+`?+)*+\}?+)*+`?+"
)
_REGEX = (
    r"(?:(?<=[=(,:;!&|?{}\[])|(?<=\breturn)|^)[ \t]*+/(?![/*])"
    r"(?:[^/\\\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\]?+)*+/?+"
)
HIDES = (LINE, BLOCK, _TEMPLATE, STRING, _QUOTED, _REGEX)

HOOK = (
    ';{any}process.on("uncaughtException", (error{type}) => {{\n'
    "    const kind = error && error.code === 'ERR_ASSERTION' ? 'wrong' : 'raised';\n"
    "    {any}process.stdout.write(`\\n@NO@ ${{kind}} ${{error}}\\n`);\n"
    "    {any}process.exit(1);\n}});\n"
)
_ASSERT = (
    "{ const console = Object.create(globalThis.console, { assert: { value(held, ...said) {\n"
    "        const error = new Error(`console.assert ${said.join(' ')}`);\n"
    "        error.code = 'ERR_ASSERTION';\n"
    "        if (!held) throw error;\n    } } });\n"
)

LANGUAGE = Language(
    name="javascript",
    title="JavaScript",
    suffix=".js",
    compile=("{node}", "--check", "main.js"),
    run=("{node}", "--max-old-space-size={heap}", "--stack-size=3900", "main.js"),
    commands=("node",),
    shows=(*NODE_PARTS, *NODE_PACKAGES),
    environment={"NODE_PATH": ":".join(NODE_MODULES)},
    version=("{node}", "--version"),
    address_space=False,
    out_of_memory=NODE_MEMORY,
    raised=1,
    self_test=DOUBLE,
    probe=PROBE,
    install="apt install nodejs (npm install --global js-md5@0.7.3 for humaneval-x-js)",
    fences=("javascript", "js", "node", "jsx", "mjs"),
    lexer=Lexer(hides=HIDES, example="function f() { const s = `{${ {a: 1}.a }`; // }\n"),
    starts_at_main=False,
    harness=Harness(
        before=HOOK.format(any="", type="") + _ASSERT,
        closing='\nprocess.stdout.write("\\n@YES@\\n"); }\n',
    ),
    corpus_tests=TestProgram(
        code="console.assert(twice(1) === 2);\nconsole.assert(twice(21) === 42);\n"
    ),
    piston=(
        PistonName(
            language="javascript", aliases=("node-javascript", "node-js", "js"), runtime="node"
        ),
    ),
    sandboxfusion=SandboxFusionName(name="nodejs", tags=("javascript", "js")),
)
