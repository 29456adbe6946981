"""Where things stand: the one module that knows folder names, so that no other holds a path literal."""

import os
from pathlib import Path


def _root() -> Path:
    """The compendium's folder: the nearest one upwards that holds a Snakefile, from here or from this file."""
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
FIGURES = ROOT / "figures"
PAPER = ROOT / "paper"
GENERATED = PAPER / "generated"
NOTEBOOKS = ROOT / "notebooks"
CACHE = Path(os.environ.get("LOCKSTEP_CACHE") or Path.home() / ".cache" / "lockstep")
