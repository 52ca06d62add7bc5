"""What goes into a box: an interpreter, chosen packages, and modules that are loaded beforehand."""

import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from proctor import fork_safe_fds
from proctor.errors import InputError, boundary
from proctor.records.limits import GIB
from proctor.settings import TuneFork

PRELOADED = (
    *("bisect", "collections", "copy", "functools", "heapq", "itertools", "json", "math"),
    *("operator", "re", "string", "typing"),
)
"""Modules that many candidates import; each one makes every fork a little slower."""
SLOW = {
    "numpy": ("numpy",),
    "pandas": ("pandas",),
    "matplotlib": ("matplotlib.pyplot",),
    "scipy": ("scipy.stats",),
    "scikit-learn": ("sklearn.linear_model", "sklearn.cluster"),
    "seaborn": ("seaborn",),
    "requests": ("requests",),
}
"""Packages whose modules take longer to import than a typical test takes to run."""
SESSION_BYTES = GIB


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """A Python interpreter, as it describes itself."""

    executable: str
    version: str
    prefix: str
    stdlib: str
    sites: Sequence[str]
    """Where its packages are installed."""


ASK = """
import json, os, sys, sysconfig
print(json.dumps({"executable": os.path.realpath(sys.executable), "version": sys.version,
                  "prefix": sys.base_prefix, "stdlib": sysconfig.get_path("stdlib"),
                  "sites": sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})}))
"""


@lru_cache(maxsize=16)
def inspect_interpreter(python: str) -> Interpreter:
    """Ask an interpreter about itself."""
    refusal = f"{python} is not a Python that can run candidates"
    command = [python, "-I", "-c", ASK]
    try:
        with boundary(InputError, refusal), fork_safe_fds.no_forks():
            answer = subprocess.run(command, capture_output=True, check=True, timeout=60)
        return msgspec.json.decode(answer.stdout, type=Interpreter)
    except subprocess.CalledProcessError as error:
        raise InputError(f"{refusal}: it ended with status {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{refusal}: it does not answer") from None
    except msgspec.DecodeError:
        raise InputError(f"{refusal}: it does not describe itself") from None


class BoxContents(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a box."""

    interpreter: Interpreter
    packages: Sequence[tuple[str, str]] = ()
    """Name in /packages, and where it lies."""
    preload: Sequence[str] = PRELOADED
    loopback: bool = False
    """Whether guests may use a network that ends in the box."""
    examiner: bool = False
    """Whether test code runs in it."""
    shown: Sequence[str] | None = None
    """Paths of the host that programs of another language need; None: the box is for Python."""
    notebook: bool = False
    """Whether its guest runs cells."""
    shared_bytes: int = 0
    """Size of a scratch folder that guests share, as in a session; 0: each guest has a new one."""
    links: Mapping[str, str] = {}
    """Links besides those of the host: path from the root, and target."""
    tune_fork: TuneFork = "all"
    """Which parts of `inside/keeper/tune_for_fork.py` are used, where the tier has them."""
