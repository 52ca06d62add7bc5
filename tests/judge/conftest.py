"""What tests of judging share."""

import pytest

from proctor.errors import SandboxError
from proctor.sandbox import Sandbox


@pytest.fixture(scope="session")
def cpp(kernel: Sandbox) -> Sandbox:
    """Return the kernel tier if it compiles C++ here."""
    try:
        kernel.offer("cpp")
    except SandboxError as error:
        pytest.skip(str(error))
    return kernel
