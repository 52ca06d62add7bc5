# denylist
# tempfile imports shutil for itself, which is its business.
import tempfile


def double(x):
    assert tempfile._shutil
    return 2 * x
