"""Verdicts in words: entry by entry, counted, compared between machines, listed for a terminal."""

import itertools
import json
import math

import pandas as pd

from lockstep import digits
from lockstep.evidence import recording
from lockstep.evidence.ledger import KINDS, NEEDS

TESTED = ("holds", "fails", "no difference", "depends on the reading", "undecided")
ANSWERED = "open question, answered"
UNTESTED = (ANSWERED, *(f"needs {what}" for what in NEEDS))
VERDICTS = (*TESTED, *UNTESTED)
STALE = "†"  # beside a verdict that rests on rows of earlier code
NAMED = 8  # stale strategies listed by name; a changed kernel makes dozens stale
SETS = 4  # data sets of one of them that are listed by name


def entries(judged):
    """Summarize the judged parts by entry.

    Returns
    -------
    DataFrame
        `machine, claim, paper, statement, parts, tested, stale, summary`. `tested` counts the parts that could be
        judged, `stale` those that rest on rows of earlier code; if there are any, the summary ends in `STALE`. It reads
        `3 of 4 parts hold`, or is the verdict where an entry has a single part.
    """
    lines = []
    for (machine, claim), group in judged.groupby(["machine", "claim"], sort=False):
        first, old = group.iloc[0], group["stale"] > 0
        lines.append({
            "machine": machine,
            "claim": claim,
            "paper": first["paper"],
            "statement": first["statement"],
            "parts": len(group),
            "tested": int(group["verdict"].isin(TESTED).sum()),
            "stale": int(old.sum()),
            "summary": _summary(group) + (f" {STALE}" if old.any() else ""),
        })  # fmt: skip
    return pd.DataFrame(lines)


def _summary(group):
    twins = " on twins" if group["twins"].all() else ""
    counts = group["verdict"].value_counts()
    if len(counts) == 1 and (len(group) == 1 or counts.index[0] in UNTESTED):
        return counts.index[0] + (twins if counts.index[0] in TESTED else "")
    holds = counts.get("holds", 0)
    rest = [counted(counts[verdict], verdict) for verdict in VERDICTS[1:] if verdict in counts]
    told = f"{holds} of {len(group)} parts {'holds' if holds == 1 else 'hold'}{twins}"
    return "; ".join([told, ", ".join(rest)] if rest else [told])


def counted(count, verdict):
    """A number of verdicts in words: `1 fails`, `16 fail`, `33 undecided`, `2 need data`."""
    verb, _, rest = verdict.partition(" ")
    plural = {"holds": "hold", "fails": "fail", "needs": "need", "depends": "depend"}.get(verb, verb)
    rest = rest.replace("question,", "questions,") if count > 1 else rest
    return f"{count} {verdict if count == 1 else ' '.join(filter(None, [plural, rest]))}"


def tally(verdicts):
    """Counts of the verdicts of some parts, a line per kind, directions first; parts not judged come last.

    Returns
    -------
    list of str
        `direction: 40 hold, 9 fail, 20 undecided`, then `magnitude`, `identity` and `not judged`.
    """
    tested, told = verdicts[verdicts["verdict"].isin(TESTED)], []
    for kind in KINDS:
        told.append((kind, tested.loc[tested["kind"] == kind, "verdict"], TESTED))
    told.append(("not judged", verdicts["verdict"], UNTESTED))
    counts = [(kind, found.value_counts(), words) for kind, found, words in told]
    lists = [(kind, [counted(here[word], word) for word in words if word in here]) for kind, here, words in counts]
    return [f"{kind}: {', '.join(found)}" for kind, found in lists if found]


def differences(verdicts):
    """For each pair of machines the number of parts decided (hold or fail) on both, and those that differ.

    Returns
    -------
    list of str
        A sentence per pair of machines with a part decided on both.
    """
    decided = verdicts[verdicts["verdict"].isin(["holds", "fails"])]
    table = decided.pivot(index="part", columns="machine", values="verdict")
    kinds, told = decided.drop_duplicates("part").set_index("part")["kind"], []
    for one, other in itertools.combinations(table.columns, 2):
        both = table[[one, other]].dropna()
        apart = both.index[both[one] != both[other]]
        named = [f"{kind}: {', '.join(apart[kinds[apart] == kind])}" for kind in KINDS if (kinds[apart] == kind).any()]
        if len(both):
            told.append(f"{one} and {other} both decide {len(both)} parts; "
                        f"{'they differ in ' + '; '.join(named) if named else 'they agree on all'}")  # fmt: skip
    return told


def chosen(verdicts, study=None, claim=None, machine=None, verdict=None):
    """The lines of `judge` of a study, a claim or part, a machine, a verdict; names may be abbreviated.

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
            there = dict.fromkeys(verdicts["claim" if column == "part" else column])
            known = ", ".join(sorted(there) if column == "study" else there)
            raise ValueError(f"no {column} {wanted!r} among these verdicts; there are {known or 'none'}")
        verdicts = verdicts[fits]
    return verdicts


def possible(parts):
    """What `chosen` may select of the ledger's parts: each with every verdict."""
    names = [{"study": one.study, "part": one.id, "claim": one.claim, "paper": one.paper} for one in parts]
    return pd.DataFrame(names).merge(pd.DataFrame({"verdict": VERDICTS}), how="cross")


def records(verdicts):
    """Verdicts as JSON, an object a part with the fields of `COLUMNS`; what is not known is null."""
    told = []
    for line in verdicts.astype(object).to_dict("records"):
        known = {key: None if value != value else value for key, value in line.items()}  # NaN
        told.append(known | {key: json.loads(line[key]) for key in ("beside", "host", "beside_stale")})
    return json.dumps(told, indent=1, default=lambda number: number.item())


def listed(verdicts):
    """A line a part: its verdict, the figure with its interval, what it is of; for a terminal."""
    for machine, parts in verdicts.groupby("machine", sort=False):
        yield machine
        for one in parts.itertuples():
            unit, _ = digits.unit_of(one.unit)
            told = digits.coded(one.value, one.unit) or digits.figure(one.value, one.low, one.high, unit)
            said = "" if unit or digits.CODES.match(one.unit) else f" {one.unit}".rstrip()
            figure = "" if math.isnan(one.value) else f" {told}{said}"
            mark = f" {STALE}" if one.stale else ""
            yield f"  {one.part:<5} {one.verdict}{mark}:{figure or ' ' + one.reason}; {one.of or one.statement}"


def aged(parts):
    """`2 parts rest on rows of earlier code (†)`, or nothing; of lines of `judge`."""
    count = int((parts["stale"] > 0).sum())
    return f"{count} {'part rests' if count == 1 else 'parts rest'} on rows of earlier code ({STALE})" if count else ""


def earlier(stale):
    """What one machine's current rows have of earlier code, by study.

    Parameters
    ----------
    stale : DataFrame
        The machine's stale strategies, see `claims.summary`.

    Returns
    -------
    dict
        {study: ```graph` (DD-small, NCI1), `paper` (16 data sets); recorded at e09a727``}; more than `SETS` data sets
        are counted. Rows derived from several strategies, whose names have parentheses, are left out: they are of
        earlier code with those.
    """
    told = {}
    for study, lines in stale[~stale["strategy"].str.startswith("(")].groupby("study"):
        each = []
        for name, mine in lines.groupby("strategy")["dataset"].unique().items():
            where = f"{len(mine)} data sets" if len(mine) > SETS else ", ".join(sorted(mine))
            each.append(f"`{name}` ({where})")
        commits = sorted({commit[:7] for commit in lines["commit"] if commit})
        told[study] = ", ".join(each) + (f"; recorded at {', '.join(commits)}" if commits else "")
    return told


def lines(found, machines):
    """All of a `claims.Summary`, for a terminal."""
    if not machines:
        yield "No machine is recorded yet: snakemake --cores 1 measures this one."
        return
    known = found.entries[found.entries["tested"] > 0]
    tested, many = set(known["claim"]), known["machine"].value_counts()
    for machine in sorted(machines, key=lambda machine: -many.get(machine, 0)):  # most tested claims first
        here = found.entries[found.entries["machine"] == machine]
        parts = found.verdicts[found.verdicts["machine"] == machine]
        if tested and not here["tested"].any():
            yield f"{machine}: no claim is tested by what it recorded; the studies show it beside other machines"
            here = here[:0]
        else:
            old = f"; {aged(parts)}" if aged(parts) else ""
            yield f"{machine}: {len(here)} claims, {len(parts)} parts{old}"
            yield from (f"  {line}" for line in tally(parts))
        elsewhere = (here["tested"] == 0) & here["claim"].isin(tested)
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
    if len(machines) > 1:
        yield from differences(found.verdicts)


def _control(control):
    passed = "passes" if control.passes else "does not pass: its interval leaves the margin of 3 %"
    where = f" on {control.of}" if control.of else ""
    yield f"  A/A control of {control.study}, {control.strategy}{where}: {passed}"
    for label, (value, low, high, scatter) in json.loads(control.beside).items():
        strays = "" if scatter is None else f", a round strays by a factor of {digits.significant(scatter)}"
        yield f"    beside it, {label}: {digits.figure(value, low, high)}{strays}"
