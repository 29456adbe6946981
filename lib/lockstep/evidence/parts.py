"""Measure the parts of a study: a parameter file lists cells, each measured on each of its graphs.

All studies share one grammar of cells:

    {kind: time, experiment: table-4.3, graphs: {layered: {nodes: 1000000, depth: [1, 10]}}, strategies: ladder}

kind        what is done, one of the study's kinds; `time` if it is left out
experiment  the label of its rows
graphs      names, or {family: sizes}, where every combination of listed sizes is one graph; of a kind without any, none
strategies  labels, the name of a list in the common block, or {measure: labels}
rounds      how often each is timed
vary        {option: values}: a cell for each combination
...         options of the kind: the keywords that its function takes

Other keys of the part's block or the common block are options of every cell whose kind takes them; mappings are merged,
and the cell's own values take precedence.
"""

import inspect
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from lockstep import paths
from lockstep.graphs import DatasetMissing

OWN = ("kind", "experiment", "graphs", "strategies", "rounds", "vary")
NOT_OPTIONS = ("seconds", "cells", "strategies", "rounds")  # of a part's block and of the common block


class Unmeasurable(Exception):
    """A cell needs another machine; the message says which."""


@dataclass
class Cell:
    """A measurement of one graph.

    Attributes
    ----------
    kind, experiment : str
    graph : str or None
        Its name, or its family.
    sizes : dict
        Of a family.
    strategies : list of str, or {measure: list of str}
    rounds : int
    place : int
        Its place in the part.
    options : dict
        Keyword arguments of its kind's function.
    """

    kind: str
    experiment: str
    graph: str | None
    sizes: dict
    strategies: list | dict
    rounds: int
    place: int = 0
    options: dict = field(default_factory=dict)


def planned(study):
    """The cells of a study in the parameter file that recordings follow."""
    block = yaml.safe_load((paths.CONFIG / "paper.yaml").read_text())["studies"][study]
    return [cell for part in block["parts"].values() for cell in cells(part, block.get("common"))]


def cells(block, common=None, kinds=None, rounds=8):
    """The cells of a part, one for each graph and each combination of what it varies.

    Parameters
    ----------
    block : mapping
        A part's block of a parameter file. A list among its `cells` stands for the cells in it.
    common : mapping, optional
        The study's common block.
    kinds : mapping, optional
        {kind: function}; a cell's options are checked against their keywords.
    rounds : int
        Default for parts that give none.

    Yields
    ------
    Cell

    Raises
    ------
    ValueError
        There is no list of strategies, no kind or no option of that name.
    """
    common, place = common or {}, itertools.count()
    shared = [{key: value for key, value in one.items() if key not in NOT_OPTIONS} for one in (common, block)]
    used = set()
    for one in block.get("cells", []):
        for cell in one if isinstance(one, list) else [one]:
            kind = cell.get("kind", "time")
            takes = None if kinds is None else _options(kinds, kind)
            own = {key: value for key, value in cell.items() if key not in OWN}
            _known([*own, *cell.get("vary", {})], takes, f"kind {kind} has no option")
            options = {}
            for given in (*shared, own):
                options |= {
                    key: {**options[key], **value} if isinstance(value, Mapping) and key in options else value
                    for key, value in given.items()
                    if takes is None or key in takes
                }
            used |= set(options)
            strategies = _listed(cell.get("strategies", []), common.get("strategies", {}))
            for varied in combinations(cell.get("vary", {})):
                for graph, sizes in _graphs(cell.get("graphs")):
                    yield Cell(
                        kind, cell.get("experiment", kind), graph, sizes, strategies,
                        cell.get("rounds", block.get("rounds", rounds)), next(place), {**options, **varied},
                    )  # fmt: skip
    if kinds is not None:
        _known(shared[1], used, "no kind of its cells has an option")


def _options(kinds, kind):
    if kind not in kinds:
        raise ValueError(f"there is no kind of cells named {kind!r}; there are {', '.join(kinds)}")
    return [p.name for p in inspect.signature(kinds[kind]).parameters.values() if p.kind == p.KEYWORD_ONLY]


def _known(names, takes, what):
    if takes is not None and (unknown := [name for name in names if name not in takes]):
        raise ValueError(f"{what} {', '.join(unknown)}; there are {', '.join(takes) or 'none'}")


def _listed(names, known):
    if isinstance(names, Mapping):
        return {measure: _listed(one, known) for measure, one in names.items()}
    if not isinstance(names, str):
        return list(names)
    if names not in known:
        raise ValueError(f"there is no list of strategies named {names!r}; the common block has {', '.join(known)}")
    return list(known[names])


def _graphs(graphs):
    if graphs is None:
        return [(None, {})]
    if isinstance(graphs, Mapping):
        return [(family, one) for family, sizes in graphs.items() for one in combinations(sizes)]
    return [(name, {}) for name in graphs]


def combinations(lists):
    """Cartesian product of the values under each key, the last key varying fastest; a scalar is a list of one."""
    each = [values if isinstance(values, list) else [values] for values in lists.values()]
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*each)]


def measure(kinds, study, part, executor, say=print):
    """Measure the samples of a part that are missing from this machine's recording.

    A cell that lacks its data set or needs another machine is skipped.

    Parameters
    ----------
    kinds : mapping
        {kind: function}. ``function(study, part, cell, executor, **options)`` is a generator that measures and yields a
        progress line per step.
    study : Study
    part : str
        A part that the study's configuration has, or `all`.
    executor : Executor or None
        Where strategies with kernels run; None leaves them out.
    say : callable
        Called with each line, extended by the seconds since the cell began.

    Returns
    -------
    list of str
        Cells that could not be measured, each with the reason.

    Raises
    ------
    ValueError
        A part has an invalid cell; nothing is measured then.
    """
    names = list(study.config["parts"]) if part == "all" else [part]
    each = {name: list(cells(study.config["parts"][name], study.config.get("common"), kinds)) for name in names}
    missing = []
    for name, listed in each.items():
        for cell in listed:
            begin = time.perf_counter()
            try:
                for line in kinds[cell.kind](study, name, cell, executor, **cell.options):
                    say(f"{line}, {time.perf_counter() - begin:.1f} s")
            except (DatasetMissing, Unmeasurable) as error:
                missing.append(f"{cell.graph or cell.experiment}: {error}")
        study.seal(name)
    return missing
