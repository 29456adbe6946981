"""Find recorded rows whose build differs from today's code."""

import re

import pandas as pd

from lockstep.evidence import recording

from . import builds, kept
from .device import digest


def stale(rows):
    """Which recorded strategies are stale.

    Rows derived from others have a name in parentheses and go stale with them: their build is ``"<strategy> <id>"``, or
    the ids alone, of whichever strategies have them.

    Parameters
    ----------
    rows : DataFrame
        A recording, of one study or of several.

    Returns
    -------
    DataFrame
        One line per study, strategy, data set and build: `study, strategy, dataset, kernel, commit, changed`, where
        `commit` is the one measured, if known, in at most twelve digits, and `changed` names the components; empty if
        no row is stale.
    """
    found = []
    cells, table = rows[["study", "strategy", "dataset", "kernel"]].drop_duplicates(), builds.known()
    for study, strategy, dataset, kernel in cells.itertuples(index=False, name=None):
        for owner, name in owners(strategy, kernel):
            look, whose = (_told, owner) if owner else (_of_any, strategy)
            told = look(table, study, whose, dataset, name)
            if told:
                found.append((study, strategy, dataset, kernel, *told))
                break
    kept.keep()
    return pd.DataFrame(found, columns=["study", "strategy", "dataset", "kernel", "commit", "changed"])


def owners(strategy, kernel):
    """(strategy, id) of the builds that a row rests on."""
    words = kernel.split()
    if strategy.startswith("(") and words and _is_id(words[0]):
        return [(None, word) for word in words]
    if not strategy.startswith("(") or len(words) < 2:
        return [(strategy, kernel)]
    return [(" ".join(words[:-1]), words[-1])]


def _is_id(word):
    return len(word) == 16 and not word.strip("0123456789abcdef")


def _of_any(table, study, strategy, dataset, name):
    """The same of a build that any strategy may have; in no table, the row's own of today's code alone is fresh."""
    here = [(who, lines) for (where, who), lines in table.items() if where == study]
    told = [_told(table, study, who, dataset, name) for who, lines in here if any(line["id"] == name for line in lines)]
    if told:
        return None if None in told else told[0]
    now = builds.parts_of(study, strategy, dataset)
    return None if now and name == digest(study, strategy, *now) else ("", "unknown")


def _told(table, study, strategy, dataset, name):
    """(commit, changed components) of a stale build; None if it is fresh, or if nothing in it can go stale."""
    if strategy == recording.CLOCKS:
        return None
    now = builds.parts_of(study, strategy, dataset)
    if now is None:
        return None
    lines = [line for line in table.get((study, strategy), ()) if line["id"] == name]
    if name == digest(study, strategy, *now) or any(not builds.changed(line, now, dataset) for line in lines):
        return None
    if not lines:
        return "", "unknown"
    commit = re.sub(r"([0-9a-f]{12})[0-9a-f]+", r"\1", lines[-1]["commit"])
    return commit, " ".join(builds.changed(lines[-1], now, dataset))
