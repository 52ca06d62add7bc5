"""What the files of every box import instead of heavier modules.

A fork copies its parent's memory page by page, so a keeper holds little: not `typing`, which its
own annotations alone would need, and of `collections`, `signal` and `socket` only what is written
in C. Programs that import such modules are run in boxes that have them (`contents.py`).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
    from collections import OrderedDict, defaultdict, deque
else:
    import _signal as signal
    import _socket as socket
    from _collections import OrderedDict, defaultdict, deque

__all__ = ["TYPE_CHECKING", "OrderedDict", "defaultdict", "deque", "signal", "socket"]
