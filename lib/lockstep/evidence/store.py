"""Cache of verdicts, valid until a recording, the ledger or a file of this package is written."""

import pickle
import sys
from pathlib import Path

from lockstep import cache, paths

HERE = Path(__file__).parent


def kept(places, compute):
    """The result of `compute()`, from the cache if its inputs are unchanged.

    Parameters
    ----------
    places : (path or None, path, path)
        The ledger (None: the project's), recorded machines, and what was measured here.
    compute : callable
    """
    file = _file(*places)
    try:
        return pickle.loads(file.read_bytes())
    except Exception:  # missing, damaged, or pickled by another library version: compute anew
        found = compute()
    cache.write(file, pickle.dumps(found))
    return found


def _file(claims, recordings, results):
    """Cache file named by a digest of the Python version and of the ledger, this package and all recordings."""
    files = [Path(claims or paths.PAPER / "claims.yaml"), *HERE.glob("*.py")]
    for folder in dict.fromkeys(map(Path, (recordings, results))):
        files += (file for deep in ("*", "*/*") for file in folder.glob(f"{deep}/[0-9]-*.csv"))
    return paths.CACHE / "verdicts" / f"{cache.name_of(sys.version, files=files)}.pickle"
