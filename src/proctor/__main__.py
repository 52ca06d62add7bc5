"""Lets `python -m proctor` be `proctor`."""

from proctor.cli import main

main()
