"""What Snakefile and Makefile lean on: parameter files, notebooks as jobs, the first and the last screen.

Nothing here knows what a study computes. Each module is also a subcommand of ``python -m lockstep.workflow``.
"""
