"""Rows made up for a purpose: what a recording would hold if the world were so."""

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence.recording import COLUMNS, canonical

MACHINE = {"name": "test-machine-00000000", "cores": 2, "driver": None, "python": "3"}


@pytest.fixture
def machine():
    return dict(MACHINE)


@pytest.fixture
def make_rows():
    """make_rows(*cells) -> rows; a cell holds labels and `times`: {strategy: ms or a list of ms}."""

    def make(*cells, noise=0.01, rounds=8, seed=0):
        random = np.random.default_rng(seed)
        lines = []
        for cell in cells:
            for strategy, value in cell.get("times", {}).items():
                values = value if isinstance(value, list) else value * np.exp(random.normal(0, noise, rounds))
                for turn, one in enumerate(values):
                    lines.append(line(cell, strategy, cell.get("metric", "wall"), "ms", turn, one))
            for metric, value in cell.get("counts", {}).items():
                lines.append(line(cell, "serial", metric, "1", 0, value))
        return pd.DataFrame(lines, columns=COLUMNS)

    def line(cell, strategy, metric, unit, turn, value):
        return {
            "study": cell.get("study", "3-toposort-depth"),
            "experiment": cell.get("experiment", "e"),
            "dataset": cell.get("dataset", "g"),
            "strategy": strategy,
            "parameters": canonical(cell.get("parameters")),
            "metric": metric,
            "unit": unit,
            "round": turn,
            "value": float(value),
            "verified": "exact",
            "kernel": "k",
        }

    return make
