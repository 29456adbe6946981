"""Write figures, tables and numbers for the paper; equal data give equal bytes."""

import json
import math
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.text import Text

from lockstep import paths
from lockstep.digits import readable, significant  # noqa: F401 - both are known under this name


def save(figure, name, folder=None, close=True):
    """Save a figure as SVG and PDF, with no date and fixed element names, so that equal figures are equal
    files.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        Study and figure, `3-toposort-depth/depth` for example, without an ending.
    folder : path, optional
        Where figures go; by default the project's `figures`.
    close : bool
        Close the figure, so that a notebook does not keep it. A notebook that shows it passes False.

    Returns
    -------
    list of Path
        The two files.
    """
    base = Path(folder or paths.FIGURES) / name
    base.parent.mkdir(parents=True, exist_ok=True)
    for text in figure.findobj(Text):
        text.set_text(printed(text.get_text()))
    with mpl.rc_context({"svg.hashsalt": "lockstep"}):
        files = [base.parent / f"{base.name}.svg", base.parent / f"{base.name}.pdf"]
        figure.savefig(files[0], metadata={"Date": None, "Creator": "lockstep"})
        figure.savefig(files[1], metadata={"CreationDate": None, "Creator": "lockstep", "Producer": None})
    if close:
        plt.close(figure)
    return files


def printed(text):
    """Text of a figure for print: `us` as µs, powers as superscripts."""
    text = re.sub(r"(?<![A-Za-z])us\b", "\N{MICRO SIGN}s", text)
    return text if "$" in text else re.sub(r"\b(\d+)\^(-?\d+)", r"$\1^{\2}$", text)


def table(rows, name, folder=None):
    """Write a table for the paper as CSV: `paper/generated/<name>.csv`.

    Cells are formatted for display: floats with three significant digits, missing values as a dash.
    A study's tables are named `<study>/<table>`.
    """
    path = Path(folder or paths.GENERATED) / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    shown(rows).to_csv(path, index=False, lineterminator="\n")
    return path


HEADINGS = {"nodes": "vertices", "dataset": "graph", "lost": "failed CAS", "looks": "queue reads"}  # of recorded names


def heading(name):
    """What a reader sees of a recorded name: its words apart, or the word that the text uses."""
    return HEADINGS.get(name, name.replace("_", " ")) if isinstance(name, str) else name


def shown(rows):
    """Rows as a table that is to be read: see `readable`. Columns have their `heading`, and counts stay whole where
    some are missing.

    Parameters
    ----------
    rows : DataFrame, or what makes one

    Returns
    -------
    DataFrame
        Of text.
    """
    table = pd.DataFrame(rows)
    told = table.apply(lambda column: _whole(column).map(readable))
    return told.rename(columns=heading)


def _whole(column):
    """Convert a float column of whole numbers to Int64: pandas stores counts as floats if one is missing."""
    numbers = column.dropna()
    if not pd.api.types.is_float_dtype(column) or numbers.empty or not np.isfinite(numbers).all():
        return column
    return column.astype("Int64") if (numbers % 1 == 0).all() and (numbers != 0).any() else column


def numbers(study, values, folder=None):
    """Write the numbers that the paper's text quotes from a study: `paper/generated/<study>.json`.

    Parameters
    ----------
    study : str
    values : mapping
        Name to number, text, or mapping or list of these; NumPy scalars are taken as numbers. The report
        shows, where they are given: `summary` and `prediction` (sentences, made from the numbers), `captions`
        ({figure: caption}) and `tables` ({table: caption}), in this order. What stands between backticks in them is
        set as code. Text in the report uses each number by its name, so names are part of the report's interface.
    """
    path = Path(folder or paths.GENERATED) / f"{study}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_plain(values), indent=1, ensure_ascii=False) + "\n")
    return path


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray, pd.Series)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    kind = type(value).__name__
    raise TypeError(f"numbers hold {value!r} of type {kind}: give numbers, text, lists or mappings")
