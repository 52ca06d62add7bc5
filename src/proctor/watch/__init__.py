"""Every new checkpoint evaluated without asking: `proctor watch`.

Theory of operation. Any number of watchers, on any number of hosts, share one folder of results and
nothing else. There is no server and no database, and no clock is compared with another host's.

    RESULTS/NAME-DIGEST/checkpoint.json        which checkpoint: its resolved path and fingerprint
    RESULTS/NAME-DIGEST/BENCHMARK-KEY/
        lease.N  beat.N  released.N            who works on it, that he lives, that he let go of it
        attempt.N/                             what he works on; nobody else ever writes there
        run/                                   the run, moved here whole from an attempt
        evaluated.json                         what came of it; where it is, nothing is left to do

A job is one checkpoint and one benchmark. `checkpoints.py` finds checkpoints that are complete;
`rotation.py` says which benchmarks may be relied on; `leases.py` sees to it that one watcher works
on a job, and that another one takes over when it dies; `job_process.py` is the process that does
the work and can be killed; `job_state.py` moves its results into place; `mirror.py` copies them
elsewhere; `loop.py` repeats all of this.

DIGEST is of the checkpoint's resolved path and of its content, so two folders with one last name
never mix, nor do two contents of one folder. KEY is of the benchmark's tasks and of how the model
is asked. Whatever is written for others to read is there whole or not at all, and never replaced.
"""
