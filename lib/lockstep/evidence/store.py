"""Verdicts, kept from one run to the next as long as no row, no ledger and no file that judges is written."""

import pickle
import sys
from pathlib import Path

from lockstep import cache, paths

HERE = Path(__file__).parent


def kept(places, compute):
    """What `compute()` returns, or what it returned when all was as it is now.

    Parameters
    ----------
    places : (path or None, path, path)
        The ledger (None: the project's), recorded machines, and what was measured here.
    compute : callable
    """
    file = _file(*places)
    try:
        return pickle.loads(file.read_bytes())
    except Exception:  # damaged, or of another version of a library: whatever it is, it is computed anew
        found = compute()
    cache.write(file, pickle.dumps(found))
    return found


def _file(claims, recordings, results):
    """Its name tells of everything that the verdicts follow from."""
    files = [Path(claims or paths.PAPER / "claims.yaml"), *HERE.glob("*.py")]
    for folder in dict.fromkeys(map(Path, (recordings, results))):
        files += (file for deep in ("*", "*/*") for file in folder.glob(f"{deep}/[0-9]-*.csv"))
    return paths.CACHE / "verdicts" / f"{cache.name_of(sys.version, files=files)}.pickle"
