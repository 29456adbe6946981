"""Verdicts: every part of the ledger against every recorded machine.

A verdict is on the published relation alone. An identity (a count) holds or fails without a test; a direction or a
magnitude holds or fails if its p-value, Holm-adjusted among the parts of its paper, is below 5 %. Otherwise a ratio
whose interval lies within 3 % of 1 gives `no difference`, all else `undecided`. If readings of the paper's words give
different results, the verdict is `depends on the reading` where each of them is clear, else `undecided`. The size of
the effect has its own column.
"""

import collections
import json
import math
from dataclasses import dataclass, field, replace

import pandas as pd

from lockstep import digits, paths
from lockstep.evidence import between, ledger, reading, statistics, store
from lockstep.evidence.controls import controls
from lockstep.evidence.ledger import KINDS, LIMITS, ClaimsError, Part, load, merge, papers
from lockstep.evidence.relations import JUDGES, unsure
from lockstep.evidence.selecting import Missing, figure, host, recordings, support
from lockstep.evidence.telling import ANSWERED, TESTED, entries, lines

COLUMNS = [
    "machine", "part", "claim", "paper", "study", "statement", "of", "published", "unit", "relation", "kind",
    "population", "value", "low", "high", "n", "graphs", "recordings", "verdict", "reason", "factor", "times", "p",
    "adjusted", "beside", "host", "twins", "bootstrap_low", "bootstrap_high", "stale", "measured",
    "beside_stale",
]  # fmt: skip
BUILD = ["study", "strategy", "dataset", "kernel"]
CODED = [*BUILD, "experiment", "parameters", "metric", "unit", "verified"]  # selected by code, not letter by letter
LEVEL = 0.05
OWN_FIGURE = (  # not the plain ratio or mean
    "beats-constant", "computed", "crossover", "exact", "explained-by", "none-dominates", "ordering", "slope-above",
    "slope-within", "steeper",
)  # fmt: skip


def judge(machines, parts=None, apart=None):
    """Judge all parts on all machines.

    Parameters
    ----------
    machines : mapping
        {machine: rows}, see `lockstep.evidence.machines`.
    parts : list of Part, optional
        By default the project's ledger.
    apart : mapping, optional
        {study: Between}, see `between.components`; by default estimated from these rows.

    Returns
    -------
    DataFrame
        One line a machine and part, of `COLUMNS`; for `stale`, `measured` and `beside_stale` see `marked`, for `host`
        see `selecting.host`. `factor` is `within 2x`, `larger` or `smaller`, and `times` the figure over the published
        one.
    """
    apart, lines = between.components(machines.values()) if apart is None else apart, []
    parts = [
        replace(part, apart=apart.get(part.study, apart.get("", between.NONE)))
        for part in (load() if parts is None else parts)
    ]
    for machine, rows in machines.items():
        by_study = collections.defaultdict(lambda none=rows[:0]: none, iter(rows.groupby("study", sort=False)))
        judged = [_line(machine, part, by_study) for part in parts]
        for family in {line["paper"]: None for line in judged}:  # a paper's parts are tested together
            own = [line for line in judged if line["paper"] == family]
            for line, p in zip(own, statistics.holm([line["p"] for line in own]), strict=True):
                line["adjusted"] = p
                if not line["verdict"]:
                    line["verdict"], line["reason"] = _verdict(line)
                    line["reason"] = line["reason"] or line["why"]
        lines += judged
    return pd.DataFrame(lines, columns=COLUMNS)


def _line(machine, part, by_study):
    line = {
        "machine": machine,
        "part": part.id,
        **{name: getattr(part, name) for name in ("claim", "paper", "study", "statement", "of", "published")},
        **{name: getattr(part, name) for name in ("unit", "relation", "kind", "twins", "why")},
        "population": next(iter(part.population), ""),
        **dict.fromkeys(("value", "low", "high", "times", "p", "bootstrap_low", "bootstrap_high"), math.nan),
        **dict.fromkeys(("n", "graphs", "recordings", "stale"), 0),
        **dict.fromkeys(("verdict", "reason", "factor", "measured", "weakest"), ""),
        **{"beside": "{}", "host": "[]", "beside_stale": "[]", "agrees": None},
    }
    if part.untestable:
        return {**line, "verdict": f"needs {part.needs}", "reason": part.untestable}
    line["beside"] = json.dumps(_beside(part, by_study))
    try:
        found, line["verdict"], line["reason"] = _read(part, by_study[part.study])
    except Missing as missing:
        how = "; with network snakemake --cores 1 fetches it" if part.needs == "data" else ""
        return {**line, "verdict": f"needs {part.needs}", "reason": f"{missing}{how}"}
    for name in ("value", "low", "high", "n", "graphs", "agrees", "p", "weakest"):
        line[name] = getattr(found, name)
    line["bootstrap_low"], line["bootstrap_high"] = found.bootstrap
    if part.kind != "identity":
        line["host"] = json.dumps(host(by_study[part.study], part.select))
    line["recordings"] = recordings(by_study[part.study], part.select)
    line["factor"], line["times"] = compare(found.value, part.published)
    if part.relation == "open-question":
        line["verdict"], line["reason"] = ANSWERED, "the paper asks and claims nothing; the figure is an answer"
    return line


def _read(part, rows):
    """The finding under the part's selector, and a verdict with its reason where the readings disagree.

    Where all readings agree, the largest of their p-values is used.
    """
    found = JUDGES[part.relation](part, rows)
    if not part.readings or part.relation == "exists":
        return found, "", ""
    each = {}
    for label, change in part.readings.items():
        read = _under(part, change)
        each[label] = JUDGES[read.relation](read, rows)
    if len({one.agrees for one in each.values()}) == 1:
        label, weakest = max(each.items(), key=lambda one: unsure(one[1]))
        told = f"{label}: {digits.figure(weakest.value, weakest.low, weakest.high)}"
        return replace(found, p=weakest.p, weakest=told if unsure(weakest) > unsure(found) else ""), "", ""
    words = {label: "agrees" if one.agrees else "disagrees" for label, one in each.items()}
    told = "; ".join(f"{label}: {digits.figure(one.value)}, {words[label]}" for label, one in each.items())
    clear = part.kind == "identity" or all(one.p < LEVEL for one in each.values())
    return replace(found, p=math.nan), "depends on the reading" if clear else "undecided", f"readings differ ({told})"


def _under(part, change):
    """A part under a reading of the paper's words: with another selector, or other limits."""
    limits = {key: change[key] for key in LIMITS & set(change)}
    select = merge(part.select, {key: value for key, value in change.items() if key not in LIMITS})
    return replace(part, select=select, **limits)


def marked(judged, used, old):
    """Add to verdicts the number of a part's rows from earlier code, the commits at which they were measured, and as
    JSON the labels of figures beside them that rest on such rows.

    Parameters
    ----------
    judged : DataFrame
        See `judge`; a copy is returned.
    used : DataFrame
        See `builds_of`.
    old : mapping
        {machine: its stale strategies}, see `summary`.
    """
    judged = judged.copy()
    for machine, gone in old.items():
        found = used[used["machine"] == machine].merge(gone[[*BUILD, "commit"]], on=BUILD)
        for part, mine in found.groupby("part", sort=False):
            here, own = (judged["machine"] == machine) & (judged["part"] == part), mine[mine["beside"] == ""]
            told = ", ".join(dict.fromkeys(filter(None, own["commit"])))
            labels = [label for label in mine["beside"].unique() if label]
            judged.loc[here, ["stale", "measured", "beside_stale"]] = own["rows"].sum(), told, json.dumps(labels)
    return judged


def builds_of(judged, parts, machines):
    """The builds behind figures: `machine, part, beside, study, strategy, dataset, kernel, rows`, in the rows' order.

    `beside` is empty for a verdict's own rows, else the label of the figure that stands beside it.

    Parameters
    ----------
    judged : DataFrame
        See `judge`.
    parts : list of Part
    machines : mapping
        {machine: rows}.
    """
    found, by_id = [], {part.id: part for part in parts}
    for line in judged.itertuples():
        part, rows = by_id[line.part], machines[line.machine]
        read = [(part.study, one.select) for one in (part, *(_under(part, way) for way in part.readings.values()))]
        figures = {"": read} if line.n > 0 else {}
        figures |= {label: [_elsewhere(part, part.beside[label])] for label in json.loads(line.beside)}
        for label, selected in figures.items():
            behind = pd.concat([support(rows[rows["study"] == study], select) for study, select in selected])
            count = behind[~behind.index.duplicated()].groupby(BUILD, sort=False).size()
            found.append(count.reset_index(name="rows").assign(machine=line.machine, part=part.id, beside=label))
    return pd.concat(found) if found else pd.DataFrame(columns=["machine", "part", "beside", *BUILD, "rows"])


def _verdict(line):
    agrees, alone, p = line["agrees"], line["p"], line["adjusted"]
    if line["relation"] == "exists" and not agrees:
        return "undecided", "no instance of it was found, which does not refute that there are any"
    if line["kind"] == "identity" or p < LEVEL:
        return ("holds", "") if agrees else ("fails", line["weakest"] if line["kind"] == "identity" else "")
    near = statistics.Estimate(line["value"], line["low"], line["high"], line["n"])
    if line["relation"] in ("above", "below") and line["unit"] in ("", "x") and near.equal():
        return "no difference", f"within {100 * (statistics.MARGIN - 1):.0f} % of 1"
    if math.isnan(p):
        return "undecided", "a single sample has no interval"
    if line["relation"] == "beats-constant" and line["value"] == 0:
        return "undecided", "right on as many graphs as the same side named on all"
    if alone >= LEVEL:
        under = f" under one reading ({line['weakest']})" if line["weakest"] else ""
        return "undecided", f"the interval does not exclude the other side{under}"
    side = "for" if agrees else "against"
    return "undecided", f"alone it would speak {side} the claim; among the parts of its paper that may be chance"


def compare(value, published):
    """How a figure compares with the published one: (`within 2x`, `larger`, `smaller` or nothing, the
    quotient).
    """
    number = isinstance(published, (int, float)) and not isinstance(published, bool)
    if not number or published <= 0 or not value > 0:
        return "", math.nan
    times = value / published
    return ("within 2x" if 0.5 <= times <= 2 else "larger" if times > 2 else "smaller"), times


def _elsewhere(part, change):
    """(study, selector) of a figure beside a verdict; the part's selector does not apply to another study's rows."""
    study = change.get("study", part.study)
    return study, merge(part.select if study == part.study else {}, change)


def _beside(part, by_study):
    found = {}
    for label, change in part.beside.items():
        study, select = _elsewhere(part, change)
        rows = by_study[study]
        try:
            selected = replace(part, select=select)
            judged = JUDGES[part.relation](selected, rows) if part.relation in OWN_FIGURE else None
            strata, apart = "strata" in part.population, part.apart or between.NONE
            shown = judged or figure(rows, select, strata, apart)
        except Missing:
            continue
        ends = (shown.value, shown.low, shown.high)
        found[label] = [None if math.isnan(end) else end for end in ends]
    return found


@dataclass
class Summary:
    """What `lockstep claims` prints.

    Attributes
    ----------
    verdicts, entries, controls : DataFrame
        See `judge`, `entries`, `controls`.
    stale : dict
        {machine: stale strategies}, see `summary`; machines without any are not there.
    text : str
        All of it for a terminal.
    """

    verdicts: pd.DataFrame
    entries: pd.DataFrame
    controls: pd.DataFrame
    stale: dict = field(default_factory=dict)
    text: str = ""


def summary(claims=None, recordings=None, results=None, stale=None):
    """Judge all recordings and describe the verdicts in words.

    Parameters
    ----------
    claims : path, optional
        The ledger; by default the project's.
    recordings, results : path, optional
        Recorded machines, and what was measured here; by default the project's.
    stale : callable, optional
        ``stale(builds)`` returns the stale ones of a machine's builds (`study, strategy, dataset, kernel`), each with
        its `commit`.

    Returns
    -------
    Summary
    """
    recordings, results = recordings or paths.RECORDINGS, results or paths.RESULTS
    judged, held, used, present = _stored(claims, recordings, results)
    old = {machine: stale(builds) for machine, builds in present.items()} if stale else {}
    old = {machine: lines for machine, lines in old.items() if len(lines)}
    verdicts = marked(judged, used, old)
    found = Summary(verdicts, entries(verdicts), held, old)
    found.text = "\n".join(lines(found, list(present)))
    return found


def _stored(claims, recordings, results):
    """Verdicts, controls, builds behind the verdicts, and {machine: all its builds}; cached."""

    def compute():
        machines, parts = reading.machines(recordings, results), load(claims)
        apart = between.components(reading.machines(recordings, results, earlier=True).values())
        machines = {name: rows.astype(dict.fromkeys(CODED, "category")) for name, rows in machines.items()}
        judged = judge(machines, parts, apart)
        present = {machine: rows[BUILD].drop_duplicates() for machine, rows in machines.items()}
        return judged, controls(machines, ledger.controls(claims)), builds_of(judged, parts, machines), present

    return store.kept((claims, recordings, results), compute)


def of_study(study, machine=None):
    """The verdicts and controls of a study, as shown in report, README and command line.

    Parameters
    ----------
    study : Study
        Its recordings are used and, if it has a configuration, the results measured here.
    machine : str, optional
        One machine's alone; by default those on which any part of the study was judged.

    Returns
    -------
    (DataFrame, DataFrame)
        See `judge` and `controls`.
    """
    results = study.folder.parent if study.config else study.recordings
    judged, held = (table[table["study"] == study.name] for table in _stored(None, study.recordings, results)[:2])
    known = judged.loc[judged["verdict"].isin(TESTED), "machine"].unique() if machine is None else [machine]
    return tuple(table[table["machine"].isin(known)].reset_index(drop=True) for table in (judged, held))


__all__ = [
    "ClaimsError", "KINDS", "Part", "Summary", "compare", "controls", "judge", "load", "of_study", "papers", "summary",
]  # fmt: skip
