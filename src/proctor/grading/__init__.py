"""From completions to receipts.

prepare      extract the code and assemble the program
engine       judge the program: on threads of this process, or on a Ray cluster (`ray/`)
receipts     write down what was found
grade        these three in a row, for one sample
pipeline     the same for a stream of samples, as many at once as the engine takes
duplicates   identical programs of one task are judged once
evaluate     one run: a folder, every sample of a benchmark, a summary
"""
