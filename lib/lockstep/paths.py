"""Paths of the compendium, the cache, results and figures; the environment is read once, at import."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("LOCKSTEP_CACHE") or Path.home() / ".cache" / "lockstep")


def _root() -> Path:
    """The compendium: ``LOCKSTEP_ROOT``, else the checkout that contains this package, else the wheel's copy.

    Parents of the working directory are not searched: they may hold another project's Snakefile.
    """
    if told := os.environ.get("LOCKSTEP_ROOT"):
        return Path(told).resolve()
    checkout = HERE.parents[1]
    return checkout if (checkout / "Snakefile").is_file() else HERE / "compendium"


ROOT = _root()
CONFIG = ROOT / "config"
DATA = ROOT / "data"
RECORDINGS = DATA / "recordings"
PAPER = ROOT / "paper"
# An installed wheel writes results and figures to the cache.
_made = CACHE if ROOT == HERE / "compendium" else ROOT
RESULTS = _made / "results"
# Only the workflow draws into the compendium: notebooks that are tested or explored draw somewhere else.
_elsewhere = os.environ.get("LOCKSTEP_DRAWN")
FIGURES = Path(_elsewhere) / "figures" if _elsewhere else _made / "figures"
GENERATED = Path(_elsewhere) / "generated" if _elsewhere else _made / "paper" / "generated"
NOTEBOOKS = ROOT / "notebooks"


def recordings_of(folder, study="[0-9]-*"):
    """The files of a study in a machine's folder: the first recording's beside machine.json, then the second's, ...

    A further recording, made after a start of its own by another commit or on another day, has a folder in the
    machine's folder.
    """

    def order(file):  # sort key: recordings by number, files of one recording by name
        number = file.parent.name
        return (int(number), file.name) if number.isdecimal() else (0, file.name)

    folder = Path(folder)
    return [*sorted(folder.glob(f"{study}.csv")), *sorted(folder.glob(f"*/{study}.csv"), key=order)]
