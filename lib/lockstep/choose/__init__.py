"""Which strategy for a graph: the rules that `auto` of shortest paths and of colorings follows.

A rule is a decision tree of depth at most two on features of a graph, fitted to the times of a recording (by
`guide.rule`). `data/rules.json` holds the rules of the recorded machines, with the regret of each on graphs outside its
fit. It is written only by a command (``make rules``), not updated with new rows, since the choices of `auto` are part
of the build of its rows.

For each problem there is also a size below which the CPU's plain alternative takes less time than a launch and its
read-back. Rules are for machines with a GPU: without one, a study's `auto` chooses by itself.
"""

import functools
import json

from lockstep import paths

from . import tree
from .features import FEATURES

FILE = "rules.json"


def rules(problem):
    """(machine, entry) of a problem's rules: those of this machine where it has some, else of a recorded machine.

    Of the recorded machines one with this GPU comes first.

    Parameters
    ----------
    problem : str
        A package's name, `sssp` for example.

    Returns
    -------
    machine : str
    entry : mapping
        `rule`: packed, see `tree`; `small`: None or (size, strategy); `graphs`, `regret`, `worst`: the number of graphs
        judged, each left out of the fit, the geometric mean of time over best time there, and the largest with its
        graph.

    Raises
    ------
    LookupError
        No recorded machine has such a rule.
    """
    from lockstep.evidence import machine_name

    found = {name: one[problem] for name, one in _read().items() if problem in one}
    if not found:
        raise LookupError(f"no rule for {problem} in {paths.DATA / FILE}; write it with: make rules")
    here = machine_name()
    near = sorted(found, key=lambda name: (name != here, name.rpartition("-")[0] != here.rpartition("-")[0]))
    return near[0], found[near[0]]


def stands(problem):
    """A problem's rules as canonical JSON, without the graphs they were fitted on: part of the build of `auto`."""

    def bare(found):
        if "strategy" in found:
            return found["strategy"]
        return {**found, "low": bare(found["low"]), "high": bare(found["high"])}

    entries = {machine: one[problem] for machine, one in _read().items() if problem in one}
    told = {machine: [bare(one["rule"]), one["small"]] for machine, one in entries.items()}
    return json.dumps(told, sort_keys=True)


@functools.cache
def _read():
    file = paths.DATA / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def by_rule(problem, figures):
    """The strategy for a graph on a GPU, and why.

    Parameters
    ----------
    problem : str
    figures : mapping
        Of the graph, as `features` needs them.

    Returns
    -------
    strategy, reason : str
    """
    machine, entry = rules(problem)
    derive, units = FEATURES[problem]
    features = derive(figures)
    if entry["small"] and features["size"] < entry["small"][0]:
        name = entry["small"][1]
        return name, f"{features['size']:,.0f} {units['size']}: {name} is done before a launch has been read back"
    leaf, way = tree.decide(tree.unpacked(entry["rule"]), features)
    told = f"{tree.condition(way, units)}: the fastest on {len(leaf.observations)} recorded graphs of {machine}"
    return leaf.strategy, told
