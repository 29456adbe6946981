"""The ledger of claims: the papers' claims as data, read from `paper/claims.yaml` and validated.

An entry is a published claim. It has one part for each published figure, named by letters in order (D4a, D4b,
...); a single part has the entry's name. Relation, unit and selection of an entry are inherited by its parts, which
may override them. Nothing in the file is executed: relations and selectors come from closed vocabularies, and an
unknown word is an error that names the entry.
"""

from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import yaml

from lockstep import paths

# Relation: its condition on the selected figure.
RELATIONS = {
    "above": "the figure lies above the bound",
    "below": "the figure lies below the bound",
    "equal": "the figure equals the bound within the margin of 3 %",
    "within": "the figure lies within a factor of the published one",
    "exact": "the count is the published one",
    "computed": "fewer blocks fit a multiprocessor of the paper's own GPU with that shared memory than without",
    "exists": "the figure lies above the bound in one of the instances at least; where in none, nothing is told",
    "ordering": "the strategies come in this order, the fastest first",
    "none-dominates": "for each of the strategies there is a graph on which another one is faster",
    "slope-within": "on log-log axes the slope lies between two bounds",
    "slope-above": "on log-log axes the slope lies above the bound",
    "steeper": "the first slope is larger than the second",
    "crossover": "the ratio falls from above 1 to below 1, and passes 1 within a factor of the published place",
    "explained-by": "the first feature explains the figure better than each of the others",
    "beats-constant": "a prediction of the faster side is right on more graphs than naming the same side on all",
    "open-question": "a question that the paper leaves open: there is no relation to judge",
}  # fmt: skip
# Kind: what a verdict is about. `KIND` gives a relation's default kind; relations not in it are directions.
KINDS = {
    "direction": "which of two is faster or larger, an order, a trend",
    "magnitude": "how large: a published figure, or a bound that is no mere direction",
    "identity": "a count or a size: it agrees on every graph or it does not, and no test is needed",
}
KIND = {"exact": "identity", "computed": "identity", "within": "magnitude", "crossover": "magnitude"}
# Population: what the graphs behind a figure are sampled from.
POPULATIONS = {
    "strata": "named graphs that are all there: the interval is over their rounds",
    "random": "random graphs of a stated family: the interval is over graphs",
    "collection": "individual graphs, which stand for others of their kind: the interval is over graphs",
}
LIMITS = frozenset({"bound", "factor", "relation"})  # fields that a reading may change besides the selector
NEEDS = ("rows", "data", "hardware", "code")  # what an untested part lacks
SELECTORS = {
    "study", "experiment", "dataset", "parameters", "any_of", "complete", "numerator", "denominator", "value",
    "strategies", "metric", "x", "first", "second", "features", "mean", "same", "once", "blocks",
}  # fmt: skip
PART = {
    "of", "published", "unit", "relation", "kind", "population", "bound", "bounds", "factor", "select", "beside",
    "readings", "untestable", "needs", "twins", "changed", "why",
}  # fmt: skip
ENTRY = PART | {"id", "statement", "short", "parts"}
PAPER = {"title", "message", "reference", "study", "same"}
CONTROL = {"study", "strategy", "of", "reason", "select", "beside"}
PLACE = {"experiment", "dataset", "parameters"}
SIDE = PLACE | {"strategy", "metric", "of", "over", "per", "plus", "times", "less", "pick"}


class ClaimsError(ValueError):
    """The ledger is not well formed; the message names file and entry."""


@dataclass(frozen=True)
class Part:
    """One published figure and the relation that is judged.

    Attributes
    ----------
    id, claim, paper : str
        `D4c`, `D4`, `D`.
    statement, of : str
        The entry's claim, and a label of this part.
    short : str
        The statement in a few words; the statement itself where the file gives none.
    published : float, str or None
        The published figure; text where it is not a number.
    unit : str
    relation : str
        One of `RELATIONS`.
    kind : str
        One of `KINDS`; by default what follows from the relation.
    population : dict
        {one of `POPULATIONS`: the graphs in words}; empty for a single graph.
    bound : float
        For `above`, `below`, `equal`, `slope-above`.
    bounds : tuple of float
        For `slope-within`.
    factor : float
        For `within` and `crossover`: largest accepted factor between figure and published figure.
    select : dict
        Selector of the rows behind the figure.
    beside : dict
        Label to changes of `select`: figures shown with the verdict, which do not affect it.
    study : str
        The study whose rows it is judged on.
    readings : dict
        Label to changes of `select` or of `LIMITS`: possible meanings of the paper's words, or of what one graph is.
        Each is judged; if results differ, the verdict says so. For `exists` they are the instances.
    untestable : str
        Why it cannot be tested on any machine here; empty if it can.
    needs : str
        One of `NEEDS`: what the part lacks where it cannot be judged.
    changed : list
        What was changed in how it is judged while its rows were known: {commit, what, why}.
    why : str
        Explanation of a figure far from the published one.
    twins : bool
        Judged on synthetic graphs with the sizes of the paper's data.
    apart : Between
        Scatter between recordings; not in the file, but estimated from the recordings.
    """

    id: str
    claim: str
    paper: str
    statement: str
    of: str
    published: Any
    unit: str
    relation: str
    study: str
    kind: str = ""
    population: dict = field(default_factory=dict)
    bound: float = 1.0
    bounds: tuple = ()
    factor: float = 2.0
    select: dict = field(default_factory=dict)
    beside: dict = field(default_factory=dict)
    readings: dict = field(default_factory=dict)
    untestable: str = ""
    needs: str = "rows"
    changed: list = field(default_factory=list)
    why: str = ""
    twins: bool = False
    short: str = ""
    apart: Any = None

    def __post_init__(self):
        if not self.kind:
            object.__setattr__(self, "kind", KIND.get(self.relation, "direction"))


def load(path=None):
    """Read the ledger.

    Parameters
    ----------
    path : path, optional
        By default `paper/claims.yaml`.

    Returns
    -------
    list of Part
        In the file's order.

    Raises
    ------
    ClaimsError
        For an unknown key, relation or selector, a missing statement, an id used twice.
    """
    path = Path(path or paths.PAPER / "claims.yaml")
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ClaimsError(f"{path.name} is not YAML: {error}") from None
    papers, entries = content["papers"], content["claims"]
    for letter, paper in papers.items():
        _known(paper, PAPER, path, f"paper {letter}")
    parts = [part for entry in entries for part in _parts(entry, papers, path)]
    names = [part.id for part in parts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ClaimsError(f"{path.name}: {', '.join(twice)} is there twice")
    return parts


def papers(path=None):
    """{letter: {title, message, reference, study}} of the ledger."""
    return yaml.safe_load(Path(path or paths.PAPER / "claims.yaml").read_text())["papers"]


@dataclass(frozen=True)
class Control:
    """Cells in which two measurements of one strategy must be equal (A/A control).

    Attributes
    ----------
    study, strategy : str
    of : str
        The cells in words.
    reason : str
        Why these cells.
    select : dict
        `experiment`, `dataset`, `parameters` of the control's cells; all cells if it is empty.
    beside : dict
        Label to selector: other cells with both measurements, shown but not judged.
    """

    study: str
    strategy: str
    of: str = ""
    reason: str = ""
    select: dict = field(default_factory=dict)
    beside: dict = field(default_factory=dict)


def controls(path=None):
    """{(study, strategy): Control} of the ledger; a strategy without an entry has its control wherever it was timed.

    Raises
    ------
    ClaimsError
        For an unknown key, or an entry that lacks study, strategy or reason.
    """
    path = Path(path or paths.PAPER / "claims.yaml")
    found = {}
    for entry in yaml.safe_load(path.read_text()).get("controls", []):
        where = f"control of {entry.get('study')}, {entry.get('strategy')}"
        _known(entry, CONTROL, path, where)
        if not all(entry.get(key) for key in ("study", "strategy", "reason")):
            raise ClaimsError(f"{path.name}, {where}: a control needs a study, a strategy and a reason")
        for selector in (entry.get("select", {}), *entry.get("beside", {}).values()):
            _known(selector, PLACE, path, where)
        found[entry["study"], entry["strategy"]] = Control(**entry)
    return found


def _known(mapping, allowed, path, where):
    if unknown := sorted(set(mapping) - allowed):
        words = ", ".join(sorted(allowed))
        raise ClaimsError(f"{path.name}, {where}: unknown {', '.join(unknown)}; it may hold {words}")


def _parts(entry, papers, path):
    where = entry.get("id", "an entry without id")
    _known(entry, ENTRY, path, where)
    if not entry.get("id") or not entry.get("statement"):
        raise ClaimsError(f"{path.name}, {where}: an entry needs an id and a statement")
    if entry["id"][0] not in papers:
        raise ClaimsError(f"{path.name}, {where}: there is no paper {entry['id'][0]}")
    given = entry.get("parts") or [{}]
    for k, part in enumerate(given):
        name = entry["id"] + (ascii_lowercase[k] if len(given) > 1 else "")
        _known(part, PART, path, name)
        yield _part(name, entry, part, papers[entry["id"][0]], path)


def _part(name, entry, part, paper, path):
    merged = {**{key: entry[key] for key in PART & set(entry)}, **part}
    merged["select"] = merge(entry.get("select", {}), part.get("select", {}))
    merged["beside"] = {**entry.get("beside", {}), **part.get("beside", {})}
    relation = merged.get("relation")
    if relation not in RELATIONS:
        words = ", ".join(RELATIONS)
        raise ClaimsError(f"{path.name}, {name}: the relation {relation!r} is none of {words}")
    for word, known in (("kind", KINDS), ("needs", NEEDS)):
        if word in merged and merged[word] not in known:
            raise ClaimsError(f"{path.name}, {name}: {word} {merged[word]!r} is none of {', '.join(known)}")
    if unknown := set(merged.get("population", {})) - set(POPULATIONS):
        raise ClaimsError(f"{path.name}, {name}: population {', '.join(unknown)} is none of {', '.join(POPULATIONS)}")
    readings = {label: dict(change) for label, change in merged.get("readings", {}).items()}
    for selector in (merged["select"], *merged["beside"].values(), *readings.values()):
        _check_selector({key: value for key, value in selector.items() if key not in LIMITS}, path, name)
    study = merged["select"].get("study", paper["study"])
    same = {"same": paper["same"]} if "same" in paper else {}
    merged |= {key: float(merged[key]) for key in ("bound", "factor") if key in merged}
    merged |= {key: str(merged.get(key, "")) for key in ("of", "unit")}
    merged |= {"bounds": tuple(merged.get("bounds", ())), "readings": readings}
    merged |= {"select": {"study": study, **same, **merged["select"]}, "published": merged.get("published")}
    said = {"statement": entry["statement"], "short": entry.get("short", entry["statement"])}
    return Part(id=name, claim=entry["id"], paper=entry["id"][0], study=study, **said, **merged)


def _check_selector(selector, path, name):
    _known(selector, SELECTORS, path, f"{name}, select")
    for side in ("numerator", "denominator", "value", "first", "second"):
        if side in selector:
            _known(selector[side], SIDE | {"x"}, path, f"{name}, select, {side}")
    for other in selector.get("any_of", []):
        _known(other, {"study", "experiment", "dataset", "parameters"}, path, f"{name}, select, any_of")


def merge(base, change):
    """`change` laid over `base`: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for key, value in change.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged
