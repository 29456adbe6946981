"""Schedules of the emulator as pictures, step by step, for notebooks/explore.ipynb.

>>> from lockstep.explore import schedule
>>> found = schedule("sssp", "two ways", "atomic")
>>> found.steps > 0 and found.kinds["atomic"] > 0
True
"""


from typing import Any

from .picture import draw, told
from .schedule import GRAPHS, STUDIES, Event, Schedule, graph_of, schedule, strategies_of, suits

__all__ = [
    "GRAPHS", "STUDIES", "Event", "Schedule", "draw", "explorer", "graph_of", "recorded", "schedule", "strategies_of",
    "suits", "told",
]


def explorer(**picked: Any) -> Any:
    """The widgets, to be shown by a notebook; `picked` is what they begin with (study, graph, strategy, seed)."""
    from .widgets import Explorer

    return Explorer(**picked).box


def recorded(study: Any) -> Any:
    """The widgets of a study notebook (see `lockstep.explore.records.Recorded`), or what they need, as text."""
    try:
        from .records import Recorded
    except ModuleNotFoundError as error:
        if error.name != "ipywidgets":
            raise
        return "To pick a machine, a claim or a graph here, install ipywidgets: it comes with the extra `lab`."
    return Recorded(study).box
