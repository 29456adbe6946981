"""This study's goals beside the measured figures; each figure comes from recorded rows."""

from lockstep.report.goals import Goals

from . import views

MS = {"USA-road-d.NY": 2.5, "ego-Facebook": 0.12, "rmat-20": 3.0, "road-like-4194304": 9.0}  # exact, by the wall clock


def reached(rows, costs=None):
    """Times of the fastest exact strategy on those peer graphs that have a goal; see `report.goals`."""
    found = Goals()
    for line in views.beside_peers(rows, costs).to_dict("records"):
        if line["graph"] in MS:
            found.add(line["graph"], "ms", MS[line["graph"]], line["wall"], line["fastest"], line["floor"])
    return found.table()
