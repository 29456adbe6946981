"""``python -m lockstep.workflow``: the jobs and chores of the Snakefile and the Makefile."""

import argparse
import sys

from lockstep import paths


def main(arguments=None) -> int:
    """Run one chore; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m lockstep.workflow", description=__doc__.split(": ")[1])
    chores = parser.add_subparsers(dest="chore", required=True)
    job = chores.add_parser("run", help="run one notebook as a job")
    job.add_argument("notebook")
    job.add_argument("log")
    job.add_argument("--journal")
    job.add_argument("--done")
    job.add_argument("-p", dest="values", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    quick = chores.add_parser("check", help="lint, and the tests of what has changed")
    quick.add_argument("--since", default="main", metavar="BRANCH")
    chores.add_parser("unlock", help="remove a lock that no process holds")
    chores.add_parser("refresh", help="renew the notebooks' stored outputs").add_argument("notebooks", nargs="*")
    chores.add_parser("publish", help="copy the report and this machine's recording to their tracked places")
    chores.add_parser("rules", help="fit the rules that `auto` and NetworkX's backend follow to recorded times")
    chores.add_parser("readme", help="write the made parts of README.md anew")
    crate = chores.add_parser("crate", help="pack what was made, described as an RO-Crate")
    crate.add_argument("target", help="a folder, or a file that ends in .zip")
    wheels = chores.add_parser("wheelhouse", help="collect wheels for a machine without network")
    wheels.add_argument("--lock", default="requirements.lock")
    wheels.add_argument("--python", default="3.12")
    choice = parser.parse_args(arguments)
    try:
        return _do(choice)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"lockstep: {error}", file=sys.stderr)
        return 1


def _do(choice) -> int:
    if choice.chore == "run":
        from lockstep.workflow import notebooks

        return notebooks.run(choice.notebook, choice.log, dict(choice.values), choice.journal, choice.done)
    if choice.chore == "check":
        from lockstep.workflow.check import check

        return check(choice.since)
    if choice.chore == "unlock":
        from lockstep.workflow.unlock import unlock

        return unlock()
    if choice.chore == "refresh":
        from lockstep.workflow import notebooks

        notebooks.refresh(choice.notebooks)
    elif choice.chore == "publish":
        from lockstep.workflow import readme
        from lockstep.workflow.publish import publish

        print(*publish(), *readme.refresh(), sep="\n")
    elif choice.chore == "rules":
        from lockstep.guide import fitted
        from lockstep.networkx_backend import fitted as backend

        print(fitted.write(), *backend.write(), sep="\n")
    elif choice.chore == "readme":
        from lockstep.workflow import readme

        print(*readme.refresh(), sep="\n")
    elif choice.chore == "crate":
        from lockstep.workflow import crate

        print(crate.write(choice.target))
    else:
        from lockstep.workflow.wheelhouse import collect

        wheels = collect(choice.lock, choice.python, paths.ROOT / ".wheelhouse")
        size = sum(wheel.stat().st_size for wheel in wheels) / 2**20
        print(f"{len(wheels)} wheels for Python {choice.python}, {size:.0f} MB, in .wheelhouse")
    return 0


if __name__ == "__main__":
    sys.exit(main())
