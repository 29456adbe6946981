"""Notebooks as jobs: their parameters checked, run by papermill, their stored outputs refreshed."""

import ast
import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from lockstep import paths
from lockstep.workflow.plan import renew

WIDGET = "application/vnd.jupyter.widget-view+json"
PARAMETERS = ("config", "part", "executor")
# Blocking rfc3987_syntax saves 1 s per job: jsonschema would compile a grammar for a format that notebooks do not use.
# papermill warns that its standard input has no file extension. One kernel in five misses the shutdown request and is
# terminated after half of the wait time, 5 s by default.
PAPERMILL = """
import sys, warnings
sys.modules["rfc3987_syntax"] = None
warnings.filterwarnings("ignore", "the file is not specified with any extension")
from jupyter_client import KernelManager
from papermill.__main__ import papermill
KernelManager.shutdown_wait_time.default_value = 1.0
papermill()
"""
MEASURES = "measure"  # tag of the last cell that a measuring job runs


class NotebookError(ValueError):
    """A notebook lacks what its job requires: the file, a parameters cell, or a parameter."""


def parameters(notebook) -> list[str]:
    """Names that a notebook's cell tagged ``parameters`` assigns.

    papermill only warns about a parameter that the notebook does not have and then runs the defaults, which
    would look like a success. So the names are read here before anything runs.

    Raises
    ------
    NotebookError
        If there is no such cell.
    """
    try:
        cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    except FileNotFoundError:
        raise NotebookError(f"{notebook}: no such notebook, though the parameter file names it") from None
    for cell in cells:
        if "parameters" in cell.get("metadata", {}).get("tags", []):
            tree = ast.parse("".join(cell["source"]))
            targets = [
                t
                for node in tree.body
                if isinstance(node, ast.Assign | ast.AnnAssign)
                for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
            ]
            return [target.id for target in targets if isinstance(target, ast.Name)]
    raise NotebookError(f"{notebook}: no cell is tagged 'parameters'")


def check(notebook, names=PARAMETERS) -> None:
    """Raise `NotebookError` if the notebook lacks one of the parameters that its jobs pass."""
    there = parameters(notebook)
    missing = [name for name in names if name not in there]
    if missing:
        raise NotebookError(
            f"{notebook}: its parameters cell has {', '.join(there) or 'no names'}; missing: {', '.join(missing)}"
        )


def measuring(notebook) -> str:
    """The text of a notebook up to the cell tagged `measure`.

    Later cells draw and judge all rows, which the study's drawing job does once: a measuring job need not hold the GPU
    for it, nor fail by it.
    """
    text = Path(notebook).read_text(encoding="utf-8")
    known = json.loads(text)
    for number, cell in enumerate(known["cells"], 1):
        if MEASURES in cell.get("metadata", {}).get("tags", []):
            return json.dumps({**known, "cells": known["cells"][:number]})
    return text


def write_code(study: str, folder) -> None:
    """Write ``<folder>/<study>/measuring.py`` and ``drawing.py``: the code cells up to the one that measures, and all.

    Jobs depend on these, so that changed outputs or prose of a notebook do not trigger a new measurement.
    """
    notebook = f"notebooks/{study}.ipynb"
    for name, text in (("measuring", measuring(notebook)), ("drawing", Path(notebook).read_text(encoding="utf-8"))):
        cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        code = "\n\n".join(cell if isinstance(cell, str) else "".join(cell) for cell in cells)
        renew(Path(folder) / study / f"{name}.py", code + "\n")


def run(notebook, log, values: dict, journal=None, done=None) -> int:
    """Run a notebook by papermill; the executed copy is written to `log` and kept if a cell fails.

    If the values include a part, cells after the measuring one are not run.

    Parameters
    ----------
    notebook, log : path
        What is run, and where its executed copy is written as it runs.
    values : dict of str to str
        Parameters; ``"None"`` becomes None.
    journal : path, optional
        The file that the notebook appends its rows to.
    done : path, optional
        Written after success: a digest of the journal. Snakemake compares small inputs by checksum, so figures are
        redrawn only if the rows changed.

    Returns
    -------
    int
        papermill's exit status.
    """
    check(notebook, values)
    _die_with_parent()
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    given = measuring(notebook) if values.get("part", "None") != "None" else Path(notebook).read_text(encoding="utf-8")
    command = [sys.executable, "-c", PAPERMILL, "-", str(log), "-k", "python3", "--cwd", str(paths.ROOT)]
    command += ["--progress-bar" if sys.stderr.isatty() else "--no-progress-bar", "--log-level", "WARNING"]
    for name, value in values.items():
        command += ["-p", name, value]
    environment = {**os.environ, "IPYTHONDIR": str(_quiet_ipython()), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    status = subprocess.run(
        command, input=given, text=True, env=environment, preexec_fn=_die_with_parent, check=False
    ).returncode
    if status == 0 and done:
        rows = Path(journal).read_bytes() if journal and Path(journal).is_file() else b""
        Path(done).write_text(hashlib.sha256(rows).hexdigest() + "\n", encoding="utf-8")
    elif status:
        print(f"lockstep: {notebook} failed; the executed notebook with its error is {log}", file=sys.stderr)
    return status


def _quiet_ipython() -> Path:
    """An IPython folder of the workflow's own: no start-up files of the user, no warnings of each kernel."""
    settings = paths.RESULTS / ".ipython" / "profile_default" / "ipython_kernel_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("c = get_config()\nc.IPKernelApp.log_level = 50\n", encoding="utf-8")
    return settings.parents[1]


def _die_with_parent() -> None:
    """Let Linux send SIGTERM to this process when its parent dies.

    Otherwise a notebook of a killed Snakemake would go on measuring, concurrently with that of the next run.
    """
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM, 0, 0, 0)


def refresh(notebooks=None) -> None:
    """Run notebooks with their own defaults, as nbval does; store their outputs without times or versions."""
    import nbformat
    from nbclient import NotebookClient

    os.environ["LOCKSTEP_DRAWN"] = str(paths.RESULTS / "explored")
    for file in map(Path, notebooks or sorted(paths.NOTEBOOKS.glob("*.ipynb"))):
        notebook = nbformat.read(file, as_version=4)
        NotebookClient(
            notebook,
            kernel_name="python3",
            record_timing=False,
            timeout=1800,
            resources={"metadata": {"path": str(file.parent)}},
        ).execute()
        strip(notebook)
        nbformat.write(notebook, file)
        print(f"{file}: {sum(bool(cell.get('outputs')) for cell in notebook.cells)} cells with outputs")


def strip(notebook) -> None:
    """Remove metadata, times and widget outputs, which differ between runs, from a notebook (in place)."""
    notebook.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        for key in ("execution", "papermill", "collapsed", "scrolled"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":  # a stored widget is only a random model id
            cell.outputs = [one for one in cell.outputs if WIDGET not in one.get("data", {})]
