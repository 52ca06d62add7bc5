"""The pages of `proctor view`: runs, their samples, and how runs differ, in a browser.

Theory of operation. `runs.py` finds the runs below a folder and says how each stands. An
`Index` (`index.py`) knows where in a run's files each receipt and completion lies and what became
of each sample, so a page reads the few lines it shows and no more, however long the files are. It
lives in the user's cache, never in the run, and is brought up to date bit by bit as a run grows.
`background_figures.py` makes the estimates, which may take a while, beside the requests. `pages/`
turns all of it into HTML by the templates; `server.py` answers requests on the loopback interface,
`export.py` writes the same pages to files. `viewer.js` adds keys, the matrix and live changes to
pages that can be read without it.

All of it is shown as hostile text: every value is escaped by the templates, a page may load our
script and our style sheet and nothing else, and nothing can be changed by a request. A run is
addressed by a name that the catalogue made, never by a path that a request brought.

Not covered: whoever can connect to the loopback interface of this machine can read the pages.
"""
