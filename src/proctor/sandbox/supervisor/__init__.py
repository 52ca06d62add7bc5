"""The trusted side of a box: starts it, talks to its keeper, runs guests in it."""
