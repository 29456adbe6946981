"""Where things stand: the one module that knows folder names, so that no other holds a path literal."""

import os
from pathlib import Path


def _root() -> Path:
    """The compendium's folder: the nearest upwards that holds a Snakefile, from here or from this file."""
    for start in (Path.cwd(), Path(__file__).resolve().parent):
        for folder in (start, *start.parents):
            if (folder / "Snakefile").is_file():
                return folder
    return Path.cwd()


ROOT = _root()
CONFIG = ROOT / "config"
DATA = ROOT / "data"
RECORDINGS = DATA / "recordings"
RESULTS = ROOT / "results"
PAPER = ROOT / "paper"
# Only the workflow draws into the compendium: notebooks that are tested or explored draw somewhere else.
_elsewhere = os.environ.get("LOCKSTEP_DRAWN")
FIGURES = Path(_elsewhere) / "figures" if _elsewhere else ROOT / "figures"
GENERATED = Path(_elsewhere) / "generated" if _elsewhere else PAPER / "generated"
NOTEBOOKS = ROOT / "notebooks"
CACHE = Path(os.environ.get("LOCKSTEP_CACHE") or Path.home() / ".cache" / "lockstep")
