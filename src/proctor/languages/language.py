"""The records that describe a language; each language has one file in this package."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from proctor.languages.lexer import Lexer
from proctor.records.task import TestProgram


class Harness(msgspec.Struct, frozen=True, kw_only=True):
    """What is put around the test functions of a language so that they report how they ended.

    @YES@, @NO@ and @LINE@ stand for the two words of the report and for the line at which the
    tests begin, @HERE@ for the line of the first test function.
    """

    heads: str = ""
    """A pattern of where test functions begin, up to their brace; empty: all of the code is one."""
    before: str = ""
    """In front of the first test function."""
    opening: str = ""
    closing: str
    own_tests: str = ""
    """A pattern: such code is built as the language builds files with tests."""
    forbidden: str = ""
    """A pattern of what a candidate could only want in order to deceive the tests."""
    front: Callable[[str, str, str], str] | None = None
    """Join setup and candidate in front of tests, if they cannot simply follow one another."""


class PistonName(msgspec.Struct, frozen=True, kw_only=True):
    """What Piston's clients call a language."""

    language: str
    aliases: Sequence[str] = ()
    runtime: str | None = None
    """The package that brings it, if that has another name."""
    contest: bool = False
    """Whether it compares what a program writes with what is expected."""


CONTESTS = "codeforces"
"""The package that brings Piston's runtimes for contests."""


class SandboxFusionName(msgspec.Struct, frozen=True, kw_only=True):
    """What SandboxFusion's clients call a language."""

    name: str
    tests: str = ""
    """The name under which a file with tests is run."""
    compiles: bool = False
    """Whether its answers tell compiling apart from running."""
    tags: Sequence[str] = ()
    """What it takes for this language in a code fence, besides the name."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """All that is particular to one language.

    In a command line the name of a command in braces stands for its path, `{main}` for the
    name of the program and `{heap}` for the mebibytes that its heap may have.
    """

    name: str
    title: str
    """Its name as people write it."""
    internal: bool = False
    """Whether only Proctor itself runs programs so: no task can be in it."""

    # How to compile and run a program
    suffix: str
    """Of its source file, which is called {main} otherwise."""
    tests_suffix: str = ""
    """Of a file with tests, if that is otherwise."""
    compile: Sequence[str] = ()
    """Empty: there is nothing to compile."""
    products: Sequence[str] = ()
    """Files that the compiler leaves, as patterns."""
    run: Sequence[str]
    compile_tests: Sequence[str] = ()
    """How a file with tests of the language's own kind is compiled, if that is otherwise."""
    run_tests: Sequence[str] = ()
    main: str = "main"
    named_by: Sequence[str] = ()
    """Patterns, the group of the first of which that is found says what to call a program."""
    commands: Sequence[str]
    around: Mapping[str, Sequence[str]] = {}
    """Commands that need what lies around them, seen from the folder above theirs."""
    shows: Sequence[str] = ()
    """What else of the host is shown, as patterns."""
    optional: Mapping[str, Sequence[str]] = {}
    """A file, and the words that its being there adds to the end of the compiler's."""
    version: Sequence[str]
    """A command line whose first line of output tells the version."""
    home: Sequence[str] = ()
    """A command line that prints the folder that holds bin with the real commands."""
    environment: Mapping[str, str] = {}
    address_space: bool = True
    """Whether its programs live with a limit on addresses; else its runtime has one of its own."""
    out_of_memory: Sequence[str] = ()
    """What its runtime says on standard error when memory runs out."""
    raised: int | None = None
    """The exit status of a program that ended by an exception."""
    crashed: Sequence[int] = ()
    """Exit statuses by which its compiler says that it gave out, not that the program is wrong."""
    packages: Sequence[str] = ()
    """Python packages of ours that its programs may import, if they are in Python."""
    precompiled_headers: bool = False
    """Whether g++ compiles it, so that headers can be compiled beforehand."""
    cache: str = ""
    """Where its compiler keeps what it compiled."""
    warm_ups: Sequence[str] = ()
    """Files with tests: the first one that compiles fills the cache for all programs to come."""
    self_test: str
    """A program that reads a number and prints its double."""
    probe: str = ""
    """A program that prints all that it can find out: its environment, and the content of all
    files of its folder, of /tmp and of its own process in /proc. Contracts look for tests in it."""
    install: str

    # How to find code in an answer
    fences: Sequence[str] = ()
    """Tags of code fences; if there are none, its name and suffix."""
    lexer: Lexer = Lexer()
    definition: str = ""
    """A pattern of the beginning of a function @NAME@, if it is not like `int name(int x) {`."""
    brace_types: Sequence[str] = ()
    """Types with empty braces in their names, such as `interface{}`, that a signature may have."""
    block_comment: tuple[str, str] = ("/*", "*/")
    """Around a question that a base model continues with code."""
    imports: str = ""
    """A pattern of lines of a prompt that a whole program needs, too."""
    starts_at_main: bool = True
    """Whether a whole program has something called `main`."""
    main_function: str = ""
    """A pattern of the head of `main`, which an answer loses where tests have their own."""
    lost_beside_tests: str = ""
    """A pattern of other text that an answer loses there, except for its first group."""

    # How to run tests, and how servers call it
    harness: Harness | None = None
    """None: there are no test programs in it."""
    corpus_tests: TestProgram | None = None
    """Tests of `twice` for the hostile corpus."""
    piston: Sequence[PistonName] = ()
    """If there are none, its name."""
    sandboxfusion: SandboxFusionName | None = None

    @property
    def fence_tags(self) -> frozenset[str]:
        """Return the tags of fences around its code."""
        return frozenset(self.fences or (self.name, self.suffix.removeprefix(".")))

    @property
    def has_braces(self) -> bool:
        """Say whether its blocks are in braces, as in C."""
        return bool(self.lexer.hides)

    @property
    def piston_names(self) -> Sequence[PistonName]:
        """Return what Piston's clients call it."""
        return self.piston or (PistonName(language=self.name),)
