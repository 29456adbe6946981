"""Observations: the features of each recorded graph, and the time of each strategy on it.

No measured figure is built in: all are read from the recordings at run time.
"""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from lockstep import paths


@dataclass(frozen=True)
class Observation:
    """One cell of a recording: a graph under given parameters, and every strategy's time on it.

    Attributes
    ----------
    dataset : str
    group : str
        The data set's name without numbering and instance: variants of a graph are left out together.
    family : str
        The generator, or the graph itself if real: in the harder test all sizes of a family are left out together.
    features : dict
    times : dict
        {strategy: milliseconds} of those that may be advised: geometric means over the rounds, by the wall clock.
    others : dict
        The same for `auto`, and for published strategies that may not be advised.
    """

    dataset: str
    group: str
    family: str
    features: dict
    times: dict
    others: dict

    def time(self, strategy):
        """Milliseconds; NaN if it was not measured here."""
        return self.times.get(strategy, self.others.get(strategy, math.nan))

    def regret(self, strategy):
        """Time over that of the best strategy that may be advised; NaN if it was not measured here.

        The best is selected and timed on the same rounds, which biases regrets upwards.
        """
        return self.time(strategy) / min(self.times.values())


def group_of(dataset):
    """A data set's name without what makes variants of one graph: numbering, instance, shuffling."""
    name = re.sub(r"-(ordered|random|shuffled|printed)$", "", dataset)
    return re.sub(r"^(erdos-renyi-[^-]+-[^-]+)-\d+$", r"\1", name)


def family_of(dataset):
    """What generated a graph: its name up to the first size; a real graph is a family of its own."""
    found = re.match(r"((?:[a-z]+-)+)\d+(?:e\d+)?(?:-|$)", dataset)
    if found:
        return found[1].rstrip("-")
    # Commit histories are one family; a scaled-down twin, or a part of a batch, belongs to the family of the whole.
    if dataset.startswith("commit-dag-"):
        return "commit-dag"
    return re.sub(r"(-(by-\d+|seed-\d+|small|printed|shuffled|curved|skewed))+$", "", dataset)


def files(problem, machine, recordings=None, results=None):
    """What a problem's rule on a machine is fitted to: all recordings of the study there, or the first alone, see
    `Problem.followed`; and the results measured here, if any, as the last file."""
    folder, here = Path(recordings or paths.RECORDINGS) / machine, Path(results or paths.RESULTS) / machine
    name = f"{problem.study}.csv"
    known = [*folder.glob(name)] if problem.followed else paths.recordings_of(folder, problem.study)
    return known + [file for file in here.glob(name) if here != folder]


def machine_names(recordings=None, results=None):
    """Names of the NVIDIA machines recorded, by total bytes of their first recordings, descending."""
    sizes = {}
    for folder in (recordings or paths.RECORDINGS, results or paths.RESULTS):
        for file in Path(folder).glob("*/[1-9]-*.csv"):
            if file.parent.name.startswith("nvidia-"):
                sizes[file.parent.name] = sizes.get(file.parent.name, 0) + file.stat().st_size
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def rows(problem, machine, recordings=None, results=None):
    """Rows of `files`, see `recording.joined`."""
    from lockstep.evidence import recording

    return recording.joined(files(problem, machine, recordings, results))


def from_rows(problem, rows):
    """Observations of a problem out of rows of its study.

    Parameters
    ----------
    problem : Problem
    rows : DataFrame
        Current rows of one machine.

    Returns
    -------
    list of Observation
        Cells with known figures and times of at least two strategies that may be advised, including all needed ones.
    """
    import numpy as np

    figures = _figures(problem, rows)
    timed = rows[(rows["metric"] == "wall") & (rows["value"] > 0) & rows["experiment"].isin(problem.experiments)]
    timed = timed[timed["verified"].isin(("exact", "invariant"))]
    advisable = problem.strategies()
    timed = timed[timed["strategy"].isin({*advisable, "auto", *problem.published})]
    found = []
    for (experiment, dataset, parameters), cell in timed.groupby(["experiment", "dataset", "parameters"], sort=False):
        means = np.exp(np.log(cell["value"]).groupby(cell["strategy"]).mean()).to_dict()
        times = {name: means.pop(name) for name in advisable if name in means}
        elsewhere, own = figures.get((None, dataset), {}), figures.get((experiment, dataset), {})
        known = {**_from_parameters(problem, parameters), **elsewhere, **own}
        if len(times) < 2 or set(problem.needed) - set(times):
            continue
        if set(problem.given) - set(problem.optional) - set(known):
            continue
        features = {name: float(value) for name, value in problem.derive(known).items()}
        found.append(Observation(dataset, group_of(dataset), family_of(dataset), features, times, means))
    return found


def _figures(problem, rows):
    """{(experiment, data set): {figure: value}} from the rows that describe the graphs.

    The key (None, data set) holds figures of any experiment, for experiments without their own.
    """
    told = rows[rows["strategy"].isin(("(graph)", "(batch)"))]
    place = {name: (figure, rank) for figure, names in problem.given.items() for rank, name in enumerate(names)}
    told = told[told["metric"].isin(place)]
    ranked = {}
    for experiment, dataset, metric, value in zip(
        told["experiment"], told["dataset"], told["metric"], told["value"], strict=True
    ):
        figure, rank = place[metric]
        for key in ((experiment, dataset), (None, dataset)):
            known = ranked.setdefault(key, {})
            if figure not in known or rank <= known[figure][0]:  # of a figure's names the first that there is
                known[figure] = rank, float(value)
    return {key: {figure: value for figure, (_, value) in known.items()} for key, known in ranked.items()}


def _from_parameters(problem, text):
    """Figures that stand among the parameters, where a study has no rows of the graph itself."""
    own = json.loads(text)
    known = {}
    for figure, names in problem.given.items():
        value = next((own[name] for name in names if isinstance(own.get(name), int | float)), None)
        if value is not None and not isinstance(value, bool):
            known[figure] = float(value)
    return known
