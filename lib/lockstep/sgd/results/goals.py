"""This study's goals beside the measured figures; each figure comes from recorded rows."""

import numpy as np
import pandas as pd

from lockstep.report.goals import Goals

from ..strategies.table import STRATEGIES
from . import views

MATCHINGS = ("agm-edge", "agm-node", "sgm")
PREPARED_S = {"twin-NFLIX": 10, "twin-LIVEJ": 5}  # matchings, first-fit over all ratings
ROADS_PREPARED_S = 1  # all schedules made beforehand, in whole or in part, on each road twin
AHEAD = ("offline", "tiles", "hybrid")  # families of such schedules
OF_BYTES = 0.6  # of the bandwidth-bound sweep rate of each road twin
RANK, UPDATES = 32, 4  # G (10^9) a second on the twin of NFLIX, vectors in float32
ERROR, SWEEPS = 1.01, 20  # test error over one thread's, after so many sweeps


def reached(rows, costs=None):
    """Updates a second, what is learned, preparation, and the road twins' share of the bandwidth; see `report.goals`.

    Without costs the last, which are shares of a floor, are left out.
    """
    found = Goals()
    fast = views.cells(rows, "fast")
    if len(fast):
        mine = fast[(fast["rank"] == RANK) & (fast["storage"].isna() if "storage" in fast else True)]
        for line in mine.to_dict("records"):
            best = _fastest(line)
            if best:
                goal, unit = f"the twin of NFLIX, rank {RANK}", "G updates a second"
                found.add(goal, unit, UPDATES, line["ratings"] / line[best] / 1e6, best, least=True)
    learned = views.learned(rows)[1]
    if "over one thread's" in learned:
        mine = learned[(learned["sweeps of one thread"] >= SWEEPS) & learned["strategy"].map(_serializable)]
        for line in mine.to_dict("records"):
            goal = f"{line['dataset']} after {int(line['sweeps of one thread'])} sweeps"
            found.add(goal, "times one thread's test error", ERROR, line["over one thread's"], line["strategy"])
    for experiment in views.CLASSES:
        for line in views.cells(rows, experiment, "preparation").to_dict("records"):
            dataset = line["dataset"]
            if dataset in PREPARED_S:
                _slowest(found, f"matchings of {dataset}", PREPARED_S[dataset], line, MATCHINGS)
            elif experiment == "road":
                ahead = [name for name, entry in STRATEGIES.items() if entry.family in AHEAD]
                _slowest(found, f"each schedule of {dataset} made beforehand", ROADS_PREPARED_S, line, ahead)
    if costs is not None:
        for line in views.floors(views.cells(rows, "road"), costs).to_dict("records"):
            if line["fastest"]:
                share = line["bytes (ms)"] / line["time (ms)"]
                goal, unit = f"{line['dataset']}, a sweep", "of the rate that its bytes allow"
                found.add(goal, unit, OF_BYTES, share, line["fastest"], least=True)
    return found.table()


def _serializable(name):
    """Whether a strategy of the GPU is equal to one thread in some order."""
    entry = STRATEGIES.get(name)
    return entry is not None and entry.exact and entry.gpu


def _fastest(line):
    times = {name: line[name] for name in STRATEGIES if _serializable(name) and line.get(name, np.nan) > 0}
    return min(times, key=times.get) if times else ""


def _slowest(found, goal, aim, line, names):
    """A goal that all of some schedules have to reach, by the one that takes longest to prepare."""
    known = {name: line[name] for name in names if pd.notna(line.get(name))}
    if known:
        last = max(known, key=known.get)
        found.add(goal, "s", aim, known[last] / 1e3, last)
