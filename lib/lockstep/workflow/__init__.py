"""Support of Snakefile and Makefile: parameter files, notebooks as jobs, the first and the last screen.

Only `pictures` and `readme` name strategies and claims. ``python -m lockstep.workflow`` has a subcommand per chore.
"""
