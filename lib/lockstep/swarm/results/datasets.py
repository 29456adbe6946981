"""The graphs of DD and of Benchmark II beside the paper's Tables 2 and 3."""

import numpy as np
import pandas as pd

from ..experiments import cases, synthetic


def table_2(rows):
    """The groups of DD beside the paper's Table 2."""
    mine = rows[rows["experiment"] == "table-2"]
    lines = []
    for group, published in cases.TABLE_2.items():
        own = mine[mine["dataset"] == f"DD-{group}"].groupby("metric")["value"].first()  # each recording counts anew
        if len(own):
            low, high = cases.GROUPS[group]
            line = {"group": group, "sizes": f"{low} to {high - 1}"}
            pairs = zip(("graphs", "vertices", "edges"), published, strict=True)
            both = {k: v for key, p in pairs for k, v in ((key, round(own[key])), (f"{key} published", p))}
            lines.append(line | both)
    return pd.DataFrame(lines)


def table_3():
    """Numbers of graphs in Benchmark II (as in Table 3), and the average degrees that a few of each kind have."""
    lines, count = [], 50
    for kind, name in enumerate(synthetic.TABLE_3):
        for size, published in zip(synthetic.SIZES, synthetic.TABLE_3[name], strict=True):
            numbers = np.arange(count) + count * len(lines)
            pack = synthetic.generate(numbers, np.full(count, kind), np.full(count, size))
            degrees = pack.m / pack.n
            low, mean, high = float(degrees.min()), float(degrees.mean()), float(degrees.max())
            about = {"kind": name, "vertices": size, "graphs": published}
            lines.append({**about, "lowest": low, "mean": mean, "highest": high})
    return pd.DataFrame(lines)
