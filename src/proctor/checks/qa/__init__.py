"""The gate before figures are published: `proctor qa`.

`policy.py` says what is asked of a run; `gate.py` looks at it, line by line, and gives evidence for
every word. What cannot be looked at does not pass.
"""
