"""A module with a larger stack: C code keeps its variables there, and builds give it little.

Compilers put that stack at the bottom of a module's memory and its end into the first global, a
number from which all stacks grow downwards. Here that number is moved to the end of the memory,
which is made larger by as much before anything runs. Python counts how deep C code is nested and
raises RecursionError in time, if there is room for it to get there.
"""

PAGE = 1 << 16
STACK_PAGES = 256
STACK_BYTES = STACK_PAGES * PAGE
"""16 MiB; without them Python crashes when some fifty calls of a cached function are nested."""
MEMORY, GLOBAL = 5, 6
I32, MUTABLE, I32_CONST, END = 0x7F, 1, 0x41, 0x0B


def enlarge_stack(module: bytes) -> bytes:
    """Return the module with its stack moved; as it is, if that is not how its stack is made."""
    sections = dict(_sections(module))
    if MEMORY not in sections or GLOBAL not in sections:
        return module
    pages = _pages(module, sections[MEMORY][1])
    begin, content, end = sections[GLOBAL]
    _, at = _number(module, content)
    value = at + 3
    if module[at:value] != bytes((I32, MUTABLE, I32_CONST)):
        return module
    _, after = _number(module, value)
    moved = _signed((pages + STACK_PAGES) * PAGE)
    inner = module[content:value] + moved + module[after:end]
    return module[:begin] + bytes((GLOBAL,)) + _unsigned(len(inner)) + inner + module[end:]


def _sections(module: bytes) -> "list[tuple[int, tuple[int, int, int]]]":
    """Return where sections begin, where their content does, and where they end."""
    found = []
    at = 8
    while at < len(module):
        length, content = _number(module, at + 1)
        found.append((module[at], (at, content, content + length)))
        at = content + length
    return found


def _pages(module: bytes, at: int) -> int:
    """Return how large the first memory is at first."""
    _, at = _number(module, at)
    return _number(module, at + 1)[0]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of any length; return where it ends, too."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if not byte & 128:
            return value, at


def _unsigned(value: int) -> bytes:
    out = bytearray()
    while value > 127:  # noqa: PLR2004  seven bits a byte
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _signed(value: int) -> bytes:
    """Write a number above 0 as one that could have been below."""
    out = bytearray(_unsigned(value))
    if out[-1] & 64:
        out[-1] |= 128
        out.append(0)
    return bytes(out)
