"""Programs that live inside a box: standard library only, nothing of proctor.

The supervisor imports `protocol` under its full name; inside a box the same files are modules of a
bare package `inside`, hence the relative imports.

    keeper      forks guests, waits for them, kills what they leave, cleans up
    isolation   builds a box and puts each guest behind its namespaces and filters
    protocol    frames and values: how messages are encoded on both sides
    roles       what a guest runs: the candidate (hostile from `load` on), an examiner that runs
                test code against proxies of the candidate's names, both in one process, a compiler
"""
