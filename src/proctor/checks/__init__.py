"""Can a benchmark, a run or a host be trusted?"""
