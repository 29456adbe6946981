"""Verdicts: every part of the ledger against every recorded machine.

A part's verdict is on the published relation alone: `holds`, `fails`, `undecided`, or `not testable here`
with the reason. How large the figure is has its own column. Tests of one machine are adjusted together
(Holm), so that a ledger of many parts does not find what is not there. A part holds or fails when its
adjusted p-value is below 5 %.
"""

import collections
import json
import math
from dataclasses import dataclass, field, replace

import pandas as pd

from lockstep import paths
from lockstep.evidence import ledger, reading, recording, statistics, store
from lockstep.evidence.controls import controls
from lockstep.evidence.ledger import ClaimsError, Part, load, papers
from lockstep.evidence.relations import JUDGES
from lockstep.evidence.selecting import Missing, figure, support

VERDICTS = ("holds", "fails", "undecided", "not testable here")
COLUMNS = [
    "machine", "part", "claim", "paper", "study", "statement", "of", "published", "unit", "relation",
    "value", "low", "high", "n", "graphs", "verdict", "reason", "factor", "times", "p", "adjusted", "beside",
    "twins", "bootstrap_low", "bootstrap_high", "stale", "measured",
]  # fmt: skip
LEVEL = 0.05
STALE = "†"  # beside a verdict that rests on rows of earlier code
OWN_FIGURE = ("crossover", "exact", "none-dominates")  # relations whose figure is not the plain ratio or mean


def judge(machines, parts=None):
    """Judge all parts on all machines.

    Parameters
    ----------
    machines : mapping
        {machine: rows}, see `lockstep.evidence.machines`.
    parts : list of Part, optional
        By default the project's ledger.

    Returns
    -------
    DataFrame
        One line a machine and part: `machine, part, claim, paper, study, statement, of, published, unit,
        relation, value, low, high, n, graphs, verdict, reason, factor, times, p, adjusted, beside, twins,
        bootstrap_low, bootstrap_high, stale, measured`; for the last two see `marked`. `factor` is `within 2x`,
        `larger` or `smaller`, and `times` the figure over the published one.
    """
    parts = load() if parts is None else parts
    lines = []
    for machine, rows in machines.items():
        by_study = collections.defaultdict(lambda none=rows[:0]: none, iter(rows.groupby("study", sort=False)))
        judged = [_line(machine, part, by_study) for part in parts]
        adjusted = statistics.holm([line["p"] for line in judged])
        for line, p in zip(judged, adjusted, strict=True):
            line["adjusted"] = p
            if not line["verdict"]:
                line["verdict"], line["reason"] = _verdict(line["agrees"], line["p"], p)
        lines += judged
    return pd.DataFrame(lines, columns=COLUMNS)


def _line(machine, part, by_study):
    line = {
        "machine": machine,
        "part": part.id,
        **{name: getattr(part, name) for name in ("claim", "paper", "study", "statement", "of", "published")},
        **{name: getattr(part, name) for name in ("unit", "relation", "twins")},
        **dict.fromkeys(("value", "low", "high", "times", "p", "bootstrap_low", "bootstrap_high"), math.nan),
        **{"n": 0, "graphs": 0, "verdict": "", "reason": "", "factor": "", "beside": "{}", "agrees": None},
        **{"stale": 0, "measured": ""},
    }
    if part.untestable:
        return {**line, "verdict": VERDICTS[3], "reason": part.untestable}
    try:
        found = JUDGES[part.relation](part, by_study[part.study])
    except Missing as missing:
        return {**line, "verdict": VERDICTS[3], "reason": str(missing)}
    for name in ("value", "low", "high", "n", "graphs", "agrees", "p"):
        line[name] = getattr(found, name)
    line["bootstrap_low"], line["bootstrap_high"] = found.bootstrap
    line["factor"], line["times"] = compare(found.value, part.published)
    line["beside"] = json.dumps(_beside(part, by_study))
    if part.relation == "open-question":
        line["verdict"], line["reason"] = (
            VERDICTS[3],
            "the paper asks and claims nothing; the figure is an answer",
        )
    return line


def marked(judged, parts, machines, old):
    """Verdicts with how many of a part's rows are of earlier code, and the commits that these were measured at.

    Parameters
    ----------
    judged : DataFrame
        See `judge`; a copy is returned.
    parts : list of Part
    machines : mapping
        {machine: rows}.
    old : mapping
        {machine: its stale strategies}, see `summary`.
    """
    judged, by_id, keys = judged.copy(), {part.id: part for part in parts}, ["study", "strategy", "dataset", "kernel"]
    for place, line in enumerate(judged.itertuples()):
        if line.machine in old and line.n:
            part, rows = by_id[line.part], machines[line.machine]
            used = support(rows[rows["study"] == part.study], part.select)
            found = used.merge(old[line.machine][[*keys, "commit"]], on=keys)
            told = ", ".join(dict.fromkeys(filter(None, found["commit"])))
            judged.loc[judged.index[place], ["stale", "measured"]] = len(found), told
    return judged


def _verdict(agrees, alone, p):
    if math.isnan(p):
        return "undecided", "a single sample has no interval"
    if alone >= LEVEL:
        return "undecided", "the interval does not exclude the other side"
    if p >= LEVEL:
        side = "for" if agrees else "against"
        return "undecided", f"alone it would speak {side} the claim; among all parts tested here that may be chance"
    return ("holds" if agrees else "fails"), ""


def compare(value, published):
    """How a figure compares with the published one: (`within 2x`, `larger`, `smaller` or nothing, the
    quotient).
    """
    number = isinstance(published, (int, float)) and not isinstance(published, bool)
    if not number or published <= 0 or not value > 0:
        return "", math.nan
    times = value / published
    return ("within 2x" if 0.5 <= times <= 2 else "larger" if times > 2 else "smaller"), times


def _beside(part, by_study):
    found = {}
    for label, change in part.beside.items():
        elsewhere = change.get("study", part.study)
        rows = by_study[elsewhere]
        try:
            # Of another study nothing of what the part selects is there.
            base = part.select if elsewhere == part.study else {}
            selected = replace(part, select=ledger.merge(base, change))
            judged = JUDGES[part.relation](selected, rows) if part.relation in OWN_FIGURE else None
            shown = judged or figure(rows, selected.select)
        except Missing:
            continue
        ends = (shown.value, shown.low, shown.high)
        found[label] = [None if math.isnan(end) else end for end in ends]
    return found


def entries(judged):
    """The judged parts entry by entry.

    Returns
    -------
    DataFrame
        `machine, claim, paper, statement, parts, holds, fails, undecided, untested, stale, summary`; the summary
        reads `3 of 4 parts hold`, or the verdict where an entry has a single part. `stale` counts the parts that rest
        on rows of earlier code; where there are such, the summary ends in `STALE`.
    """
    lines = []
    for (machine, claim), group in judged.groupby(["machine", "claim"], sort=False):
        counts = {verdict: int((group["verdict"] == verdict).sum()) for verdict in VERDICTS}
        first = group.iloc[0]
        lines.append(
            {
                "machine": machine,
                "claim": claim,
                "paper": first["paper"],
                "statement": first["statement"],
                "parts": len(group),
                "holds": counts["holds"],
                "fails": counts["fails"],
                "undecided": counts["undecided"],
                "untested": counts["not testable here"],
                "stale": int((group["stale"] > 0).sum()),
                "summary": _summary(group, counts) + (f" {STALE}" if (group["stale"] > 0).any() else ""),
            }
        )
    return pd.DataFrame(lines)


def _summary(group, counts):
    twins = " on twins" if group["twins"].all() else ""
    if len(group) == 1:
        return group["verdict"].iloc[0] + twins
    if counts["not testable here"] == len(group):
        return "not testable here"
    rest = [counted(counts[v], v) for v in VERDICTS[1:] if counts[v]]
    hold = "holds" if counts["holds"] == 1 else "hold"
    return f"{counts['holds']} of {len(group)} parts {hold}{twins}" + (f"; {', '.join(rest)}" if rest else "")


def counted(count, verdict):
    """A number of verdicts in words: `1 fails`, `16 fail`, `33 undecided`."""
    return f"{count} {verdict if count == 1 else {'holds': 'hold', 'fails': 'fail'}.get(verdict, verdict)}"


NAMED = 8  # stale strategies that are named one by one; a changed kernel brings dozens


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
    """Judge everything that is recorded and say it in words.

    Parameters
    ----------
    claims : path, optional
        The ledger; by default the project's.
    recordings, results : path, optional
        Recorded machines, and what was measured here; by default the project's.
    stale : callable, optional
        ``stale(rows)`` returns the stale strategies of a machine's rows, one line per study, strategy, data set and
        build: `study, strategy, dataset, kernel, commit`. The caller knows the studies.

    Returns
    -------
    Summary
    """
    recordings, results = recordings or paths.RECORDINGS, results or paths.RESULTS
    machines = reading.machines(recordings, results)
    old = {machine: stale(rows) for machine, rows in machines.items()} if stale else {}
    old = {machine: lines for machine, lines in old.items() if len(lines)}
    parts = load(claims)
    judged, held = store.kept(
        (claims, recordings, results), lambda: (judge(machines, parts), controls(machines, ledger.controls(claims)))
    )
    verdicts = marked(judged, parts, machines, old)
    found = Summary(verdicts, entries(verdicts), held, old)
    found.text = "\n".join(_lines(found, machines))
    return found


def chosen(verdicts, study=None, claim=None, machine=None, verdict=None):
    """The lines of `judge` that are of a study, a claim or part, a machine, a verdict; names as far as they are given.

    Raises
    ------
    ValueError
        Nothing is left; the message names what there is.
    """
    asked = {"study": study, "part": claim, "machine": machine, "verdict": verdict}
    for column, wanted in asked.items():
        if wanted is None:
            continue
        names, low = verdicts[column].str.lower(), wanted.lower()
        if column == "part":  # D1 is no part of D10
            fits = (verdicts[["part", "claim", "paper"]] == wanted.upper()).any(axis=1) | (names == low)
        else:
            fits = names.str.contains(low, regex=False) if column == "study" else names.str.startswith(low)
        if not fits.any():
            known = ", ".join(dict.fromkeys(verdicts["claim" if column == "part" else column]))
            raise ValueError(f"no {column} {wanted!r} among these verdicts; there are {known or 'none'}")
        verdicts = verdicts[fits]
    return verdicts


def listed(verdicts):
    """A line a part: its verdict, the figure with its interval, what it is of; for a terminal."""
    for machine, parts in verdicts.groupby("machine", sort=False):
        yield machine
        for one in parts.itertuples():
            ends = "" if math.isnan(one.low) or one.low == one.high else f" ({one.low:.3g} to {one.high:.3g})"
            figure = "" if math.isnan(one.value) else f" {one.value:.4g}{ends} {one.unit}".rstrip()
            mark = f" {STALE}" if one.stale else ""
            yield f"  {one.part:<5} {one.verdict}{mark}:{figure or ' ' + one.reason}; {one.of or one.statement}"


def aged(parts):
    """`2 parts rest on rows of earlier code (†)`, or nothing; of lines of `judge`."""
    count = int((parts["stale"] > 0).sum())
    return f"{count} {'part rests' if count == 1 else 'parts rest'} on rows of earlier code ({STALE})" if count else ""


def _lines(found, machines):
    if not machines:
        yield "No machine is recorded yet: snakemake --cores 1 measures this one."
        return
    known = found.entries[found.entries["untested"] < found.entries["parts"]]
    tested, many = set(known["claim"]), known["machine"].value_counts()
    for machine in sorted(machines, key=lambda machine: -many.get(machine, 0)):  # who tells most first
        here = found.entries[found.entries["machine"] == machine]
        parts = found.verdicts[found.verdicts["machine"] == machine]
        tally = ", ".join(counted((parts["verdict"] == verdict).sum(), verdict) for verdict in VERDICTS)
        untested = (here["untested"] == here["parts"]).all()
        if untested and tested:
            yield f"{machine}: no claim is tested by what it recorded; the studies show it beside other machines"
            here = here[:0]
        else:
            old = f"; {aged(parts)}" if aged(parts) else ""
            yield f"{machine}: {len(here)} claims, {len(parts)} parts: {tally}{old}"
        elsewhere = (here["untested"] == here["parts"]) & here["claim"].isin(tested)
        shown = here[~elsewhere]
        width = shown["summary"].str.len().max()  # the statements begin below one another
        for entry in shown.itertuples():
            yield f"  {entry.claim:<4} {entry.summary:<{width}} {entry.statement}"
        if elsewhere.any():
            yield f"  tested on another machine alone: {', '.join(here['claim'][elsewhere])}"
        for control in found.controls[found.controls["machine"] == machine].itertuples():
            yield from _control(control)
        if machine in found.stale:
            names = found.stale[machine][["study", "strategy"]].drop_duplicates()
            listed = [f"{row.study}/{row.strategy}" for row in names.itertuples()]
            more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
            at = ", ".join(filter(None, found.stale[machine]["commit"].unique()))
            yield f"  stale: {', '.join(listed[:NAMED])}{more}" + (f"; measured at {at}" if at else "")
            yield f"  renew with: {recording.renew_command(machine)}"


def _control(control):
    passed = "passes" if control.passes else "does not pass: its interval leaves the margin of 3 %"
    where = f" on {control.of}" if control.of else ""
    yield f"  A/A control of {control.study}, {control.strategy}{where}: {passed}"
    for label, (value, low, high, scatter) in json.loads(control.beside).items():
        ends = "" if low is None else f" ({low:.3g} to {high:.3g})"
        strays = "" if scatter is None else f", a round strays by a factor of {scatter:.3g}"
        yield f"    beside it, {label}: {value:.3g}{ends}{strays}"


__all__ = [
    "ClaimsError", "Part", "STALE", "Summary", "VERDICTS", "aged", "chosen", "compare", "controls", "counted",
    "entries", "judge", "load", "papers", "summary",
]  # fmt: skip
