"""The Model Context Protocol: execute and grade as tools for coding agents, over standard streams.

Theory of operation. A thread reads lines, so many bytes at most, and hands one after the other to
an event loop (`stdio.py`). There a `Session` answers what takes no time at once and makes a task of
each call of a tool. Work waits and runs behind the same queue as that of the HTTP service. Nothing
but answers and notifications is ever written to standard output: what else the process prints goes
to standard error. A line that makes no sense is answered with an error and the next one is read.
"""
