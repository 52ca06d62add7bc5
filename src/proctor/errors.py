"""Everything that can go wrong outside a candidate, and who is to blame for it.

    ProctorError
    ├── InputError          the user gave us something we cannot use      exit status 2
    ├── SandboxError        this host cannot run candidates as asked      exit status 3
    ├── HostError           this host gives out: a full or broken disk,
    │                       no memory, no descriptors, nobody who reads   exit status 3
    ├── ModelError          a model cannot be asked, or has gone          exit status 3
    │   └── NoAnswer        it did not answer this one prompt             (an unscored sample)
    ├── ServiceError        a service cannot be asked, or not now         exit status 3
    └── BorderError         what came over the border breaks the protocol

A failing candidate is no error: it is data, an `Execution` and then a `Verdict`. Errors are
typed once, at the edge where they happen, by `boundary`; above that edge nobody guesses.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

GIVES_OUT = frozenset(
    {
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO),
        *(errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    }
)
"""What the operating system says when the host gives out: never the fault of somebody's input."""


class ProctorError(Exception):
    """Base of every error that Proctor raises on purpose."""

    exit_status = 3


class InputError(ProctorError):
    """The user's input cannot be used; the message names file, line and field."""

    exit_status = 2


class SandboxError(ProctorError):
    """No sandbox, or not the one that was asked for; the message says what would mend it."""


class HostError(ProctorError):
    """This host gives out; what was done before is kept."""


class ModelError(ProctorError):
    """A model cannot be asked any more; the message says what to look at."""


class NoAnswer(ModelError):
    """A model did not answer one prompt, though it may answer others."""

    passing: bool = False
    """Whether that may be because of the moment rather than because of the prompt."""


class PassingNoAnswer(NoAnswer):
    """The same, but another time it might have answered."""

    passing = True


class ServiceError(ProctorError):
    """A service did not answer, however often it was asked."""


class BorderError(ProctorError):
    """A message from inside a box is malformed, out of order or too large."""


@contextmanager
def boundary(error: type[ProctorError], what: str, then: str = "") -> Iterator[None]:
    """Turn an operating-system error inside the block into `error`.

    It says `what` was tried, why that failed, and what to do `then`. A host that gives out is not
    blamed on the user's input, nor taken for one that cannot run candidates.
    """
    try:
        yield
    except OSError as trouble:
        reason = f"{what}: {trouble.strerror or trouble}"
        if error in (InputError, SandboxError) and trouble.errno in GIVES_OUT:
            error = HostError
        raise error(f"{reason}; {then}" if then else reason) from trouble
