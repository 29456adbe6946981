"""Read recordings: of one study on one machine or on all, or of all studies."""

import json
from pathlib import Path

import pandas as pd

from lockstep import paths
from lockstep.evidence import recording


class Reader:
    """The rows of one study, of this machine and of the recorded ones; `Study` adds to them.

    Parameters
    ----------
    name : str
        The study's name, `3-toposort-depth` for example.
    machine : mapping
        Description of this machine, see `computer.describe_machine`.
    results, recordings : path
        Folders of this machine's rows and of recorded machines.
    config : mapping
        The study's block of a configuration, if there is one.
    writable : bool
        Whether rows of this machine will be appended.
    """

    def __init__(self, name, machine, results, recordings, config, writable):
        self.name, self.machine, self.config = name, dict(machine), config
        self.recordings, self.folder = Path(recordings), Path(results) / self.machine["name"]
        self._recording = recording.Recording(self.folder / f"{name}.csv", writable=writable)

    def rows(self, machine=None):
        """Current rows (see `recording.current`) of this machine (None) or a recorded one, as a tidy DataFrame.

        Raises
        ------
        ValueError
            If no such machine is recorded.
        """
        if machine is None:
            return recording.current(self._recording.rows())
        known = self.recorded()
        if machine not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"no recording of {self.name} from {machine!r}; there are {names}")
        return known[machine]

    def recorded(self):
        """{machine: rows} for every recorded machine with this study, in the order of `by_coverage`."""
        folders = [folder for folder in by_coverage(self.recordings) if any(folder.rglob(f"{self.name}.csv"))]
        return {folder.name: recording.recorded(folder, self.name) for folder in folders}

    def machines(self):
        """{machine: rows} of the recorded machines and, with a configuration, of this one.

        This one comes first, if it has results, which replace its recording.
        """
        here, mine = self.machine["name"], self.rows()
        found = self.recorded()
        if not self.config or mine.empty:
            return found
        return {here: mine, **{name: rows for name, rows in found.items() if name != here}}


def by_coverage(recordings):
    """Folders of the recorded machines: those with the most studies first, of them the one recorded last."""
    root, studies, last = Path(recordings), {}, {}
    for file in sorted(root.rglob("[0-9]-*.csv")):
        studies.setdefault(root / file.relative_to(root).parts[0], set()).add(file.stem)
    for file in root.rglob("machine.json"):
        runs = json.loads(file.read_text()).get("runs", [])
        folder = root / file.relative_to(root).parts[0]
        last[folder] = max([last.get(folder, ""), *(run["date"] for run in runs)])
    return sorted(studies, key=lambda folder: (len(studies[folder]), last.get(folder, "")), reverse=True)


def machines(recordings=paths.RECORDINGS, results=paths.RESULTS, earlier=False):
    """Rows of all studies, machine by machine.

    Parameters
    ----------
    recordings, results : path
        Recorded machines, and results measured here, which take precedence where both hold a study of one
        machine.
    earlier : bool
        Whether to keep rows of an earlier build where a later recording has newer ones.

    Returns
    -------
    dict
        {machine: current rows}, recorded machines first, in the order of `by_coverage`.
    """
    found = {}
    for folder in (*by_coverage(recordings), *by_coverage(results)):
        for study in sorted({file.stem for file in folder.rglob("[0-9]-*.csv")}):
            found.setdefault(folder.name, {})[study] = recording.recorded(folder, study, earlier)
    return {machine: pd.concat(each.values(), ignore_index=True) for machine, each in found.items()}
