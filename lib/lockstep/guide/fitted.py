"""The rules that `auto` follows (see `choose`), fitted to the recordings and written to `data/rules.json`."""

import json

from lockstep import choose, paths
from lockstep.choose import tree
from lockstep.machine import costs

from . import observed, rule
from .lessons import lessons


def rules(recordings=None):
    """{machine: {problem: entry}} of the recorded machines, the largest first recordings first; see `choose.rules`."""
    found = {}
    recordings = recordings or paths.RECORDINGS
    for machine in observed.machine_names(recordings, recordings):
        known = lessons(machine, recordings, recordings)
        entries = {name: _entry(lesson, recordings) for name, lesson in known.items() if lesson is not None}
        if entries:
            found[machine] = entries
    return found


def _entry(lesson, recordings):
    one = lesson.unseen
    return {
        "rule": tree.packed(lesson.tree, lambda one: one.dataset),
        "small": _small(lesson, recordings),
        "graphs": one.judged,
        "regret": round(one.mean, 3),
        "worst": [round(one.worst, 2), one.where],
    }


def _small(lesson, recordings):
    """(size, strategy): below that size the CPU's plain alternative is faster than a launch and read-back; or None.

    Its time is extrapolated from the smallest recorded graph in proportion to the size. The size is rounded, so that a
    new recording of the same machine usually gives the same. None for batches: one launch serves all graphs.
    """
    smallest, plain = lesson.smallest or (None, None)
    if smallest is None or "graphs" in smallest.features:
        return None
    size, needed = smallest.features["size"], 1e3 * smallest.time(plain)
    cost = costs.of(lesson.machine, recordings, recordings, first=lesson.problem.followed)
    at = min(size, size * cost.readback_us / needed)
    return [rule.rounded_between(0.7 * at, 1.4 * at), plain]


def write(file=None):
    """Write the rules file; the path."""
    file = file or paths.DATA / choose.FILE
    file.write_text(json.dumps(rules(), indent=1) + "\n", encoding="utf-8")
    return file
