"""Single replacements in code that judges, kernels and host sides, in a copy: does the test fail that is meant to?

python -m tests.evidence.mutate               all of them, some ten minutes
python -m tests.evidence.mutate oracle.py     those whose file or text holds a word
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.provenance.mutate import ROOT, copy, main

# [file below lib/lockstep, old text, new text, test below tests/ that must fail]
MUTATIONS = json.loads(Path(__file__).with_name("mutations.json").read_text(encoding="utf-8"))


def survives(file, old, new, test):
    """Whether a test passes although the old text, which is there once, is replaced by the new one.

    Raises
    ------
    RuntimeError
        The test was not run, with what pytest said.
    """
    with tempfile.TemporaryDirectory() as folder:
        lib = copy(Path(folder, "lib"))
        path = lib / "lockstep" / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        told = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"tests/{test}"],
            cwd=ROOT, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(lib), "LOCKSTEP_ROOT": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    if told.returncode not in (0, 1):
        raise RuntimeError(f"{file}: {new!r}: {told.stdout[-2000:]}{told.stderr[-2000:]}")
    return told.returncode == 0


def run(mutations):
    """Make each mutation in a copy; the number of those that survive."""
    alive = 0
    with ThreadPoolExecutor(2) as pool:
        for (file, old, new, test), survived in zip(
            mutations, pool.map(lambda one: survives(*one), mutations), strict=True
        ):
            alive += survived
            print(f"{'SURVIVES' if survived else 'killed  '}  {file}: {old!r} -> {new!r} ({test})", flush=True)
    print(f"{len(mutations) - alive} killed, {alive} survive")
    return alive


if __name__ == "__main__":
    main(run, MUTATIONS)
