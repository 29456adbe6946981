"""The rules that `auto` follows (see `choose`), fitted to the recordings and written to `data/rules.json`."""

import json

from lockstep import choose, paths
from lockstep.choose import tree

from . import observed, rule
from .lessons import costs_of, lessons


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
    """[size, strategy] of `Lesson.smallest`, or None; rounded, so that a new recording usually gives the same size."""
    found = lesson.smallest(costs_of(lesson.machine, recordings, recordings, lesson.problem.followed))
    return found and [rule.rounded_between(0.7 * found[0], 1.4 * found[0]), found[1]]


def write(file=None):
    """Write the rules file; the path."""
    file = file or paths.DATA / choose.FILE
    file.write_text(json.dumps(rules(), indent=1) + "\n", encoding="utf-8")
    return file
