"""Programs that live inside a box: standard library only, nothing of proctor.

The supervisor imports `frames` and `values` under their full names; inside a box the same files
are modules of a bare package `inside`, hence the relative imports. What a guest runs:

    keeper      forks guests, waits for them, kills what they leave, cleans up
    candidate   loads the candidate's program and answers calls: hostile from `load` on
    examiner    runs test code against `standins` of the candidate's names
    together    both in one process, for tests that cannot be run apart
"""
