"""This study's goals beside the measured figures; each figure comes from recorded rows."""

import numpy as np

from lockstep.report.goals import Goals

from . import views

MS = {  # by device events, at no more colors than the fastest public code
    "coAuthorsDBLP": 1.0,
    "caidaRouterLevel": 0.2,
    "HC-BIOGRID": 0.035,
    "rmat-20": 2.5,
    "road-like-1e6": 0.055,
}
SWITCH = 1.03  # times the best fixed switch's time


def reached(rows, costs=None):
    """Times at no more colors than the peers, and the run-time switch's loss; see `report.goals`.

    Peer graphs without an entry in MS are skipped.
    """
    found = Goals()
    for line in views.beside_peers(rows, costs).to_dict("records"):
        if line["graph"] not in MS:
            continue
        few = "no more colors than the peer" if line["as few"] else "none takes as few colors as the peer"
        floor = line.get("floor ms", np.nan)
        goal, aim = f"{line['graph']}, {few}", MS[line["graph"]]
        found.add(goal, "ms", aim, line["ms"], line["strategy"], floor, also=line["as few"])
    for line in views.lost(rows).to_dict("records"):
        if line["known"] == "not fitted":
            goal = (
                f"a switch chosen while running over the best fixed one, {line['graphs']} graphs it was not fitted on"
            )
            found.add(goal, "x", SWITCH, line["auto/best"], "hybrid")
    return found.table()
