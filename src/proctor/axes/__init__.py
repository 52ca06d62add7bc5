"""The static axes of C++: does a candidate keep to its context, and what does it make up.

Theory of operation. A candidate's text is hostile, and a parser is a large program that was not
written for hostile text. So it runs as candidates do: in a box without the user's files, network or
other processes, with limits of its own, in a process that is gone afterwards. `inside/` is what is
sent into that box; `parser.py` sends it, and checks every line that comes back. A crash, a time-out
or an answer that is none is `parser_failed` or `parser_timeout`: that says nothing about a model.

Names are looked for in what the unit sees, then in the whole repository, then in the standard
library as the declared flags have it. Both indexes are made without any candidate in sight.

What is not covered: see docs/concepts/axes.md for the blind spots.
"""
