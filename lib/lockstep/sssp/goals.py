"""What this study set out to reach, beside what was measured; each figure comes from recorded rows."""

from lockstep.report.goals import Goals

from . import views

MS = {"USA-road-d.NY": 2.5, "ego-Facebook": 0.12, "rmat-20": 3.0, "road-like-4194304": 9.0}  # exact, by the wall clock


def reached(rows, costs=None):
    """A line a goal.

    Parameters
    ----------
    rows : DataFrame
        One machine's rows of the study.
    costs : Costs, optional
        Of the same machine; without them there are no floors.

    Returns
    -------
    DataFrame
        As of `lockstep.report.goals.Goals.table`.
    """
    found = Goals()
    for line in views.beside_peers(rows, costs).to_dict("records"):
        found.add(line["graph"], "ms", MS[line["graph"]], line["wall"], line["fastest"], line["floor"])
    return found.table()
