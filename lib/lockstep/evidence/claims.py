"""Verdicts: every part of the ledger against every recorded machine.

A verdict is on the published relation alone. An identity (a count) holds or fails by itself; a direction or a magnitude
is tested, and holds or fails when its p-value is below 5 % after Holm's adjustment among the parts of its paper. Where
it does not, two times whose ratio lies within the margin of 1 show `no difference`, and all else is `undecided`. Where
the paper's words have several readings and these come out differently, that is the verdict. How large the figure is has
its own column.
"""

import collections
import itertools
import json
import math
from dataclasses import dataclass, field, replace

import pandas as pd

from lockstep import paths
from lockstep.evidence import between, ledger, reading, recording, statistics, store
from lockstep.evidence.controls import controls
from lockstep.evidence.ledger import KINDS, LIMITS, NEEDS, ClaimsError, Part, load, merge, papers
from lockstep.evidence.relations import JUDGES
from lockstep.evidence.selecting import Missing, figure, support

TESTED = ("holds", "fails", "no difference", "depends on the reading", "undecided")
ANSWERED = "open question, answered"
UNTESTED = (ANSWERED, *(f"needs {what}" for what in NEEDS))
VERDICTS = (*TESTED, *UNTESTED)
COLUMNS = [
    "machine", "part", "claim", "paper", "study", "statement", "of", "published", "unit", "relation", "kind",
    "population", "value", "low", "high", "n", "graphs", "recordings", "verdict", "reason", "factor", "times", "p",
    "adjusted", "beside", "twins", "bootstrap_low", "bootstrap_high", "stale", "measured",
]  # fmt: skip
LEVEL = 0.05
STALE = "†"  # beside a verdict that rests on rows of earlier code
OWN_FIGURE = ("beats-constant", "computed", "crossover", "exact", "none-dominates")  # not the plain ratio or mean


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
        One line a machine and part, of `COLUMNS`; for `stale` and `measured` see `marked`. `factor` is `within 2x`,
        `larger` or `smaller`, and `times` the figure over the published one.
    """
    apart, lines = between.components(machines.values()), []
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
        **{"verdict": "", "reason": "", "factor": "", "measured": "", "beside": "{}", "agrees": None},
    }
    if part.untestable:
        return {**line, "verdict": f"needs {part.needs}", "reason": part.untestable}
    line["beside"] = json.dumps(_beside(part, by_study))
    try:
        found, line["verdict"], line["reason"] = _read(part, by_study[part.study])
    except Missing as missing:
        how = "; with network snakemake --cores 1 fetches it" if part.needs == "data" else ""
        return {**line, "verdict": f"needs {part.needs}", "reason": f"{missing}{how}"}
    for name in ("value", "low", "high", "n", "graphs", "agrees", "p"):
        line[name] = getattr(found, name)
    line["bootstrap_low"], line["bootstrap_high"] = found.bootstrap
    line["recordings"] = int(recording.of(support(by_study[part.study], part.select)["round"]).nunique())
    line["factor"], line["times"] = compare(found.value, part.published)
    if part.relation == "open-question":
        line["verdict"], line["reason"] = ANSWERED, "the paper asks and claims nothing; the figure is an answer"
    return line


def _read(part, rows):
    """The finding under the first reading, and a verdict with its reason where the readings leave but one.

    Where all agree, the weakest finding's p-value counts.
    """
    found = JUDGES[part.relation](part, rows)
    if not part.readings or part.relation == "exists":
        return found, "", ""
    each = {}
    for label, change in part.readings.items():
        limits = {key: change[key] for key in LIMITS & set(change)}
        select = merge(part.select, {key: value for key, value in change.items() if key not in LIMITS})
        each[label] = JUDGES[part.relation](replace(part, select=select, **limits), rows)
    if len({one.agrees for one in each.values()}) == 1:
        return replace(found, p=max(one.p for one in each.values())), "", ""
    told = "; ".join(f"{label}: {one.value:.3g}" for label, one in each.items())
    clear = part.kind == "identity" or all(one.p < LEVEL for one in each.values())
    return replace(found, p=math.nan), "depends on the reading" if clear else "undecided", f"readings differ ({told})"


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


def _verdict(line):
    agrees, alone, p = line["agrees"], line["p"], line["adjusted"]
    if line["kind"] == "identity" or p < LEVEL:
        if line["relation"] == "exists" and not agrees:
            return "undecided", "no instance of it was found, which does not refute that there are any"
        return ("holds" if agrees else "fails"), ""
    near = statistics.Estimate(line["value"], line["low"], line["high"], line["n"])
    if line["relation"] in ("above", "below") and line["unit"] in ("", "x") and near.equal():
        return "no difference", f"within {100 * (statistics.MARGIN - 1):.0f} % of 1"
    if math.isnan(p):
        return "undecided", "a single sample has no interval"
    if alone >= LEVEL:
        return "undecided", "the interval does not exclude the other side"
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


def _beside(part, by_study):
    found = {}
    for label, change in part.beside.items():
        elsewhere = change.get("study", part.study)
        rows = by_study[elsewhere]
        try:
            # Of another study nothing of what the part selects is there.
            base = part.select if elsewhere == part.study else {}
            selected = replace(part, select=merge(base, change))
            judged = JUDGES[part.relation](selected, rows) if part.relation in OWN_FIGURE else None
            strata, apart = "strata" in part.population, part.apart or between.NONE
            shown = judged or figure(rows, selected.select, strata, apart)
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
        `machine, claim, paper, statement, parts, tested, stale, summary`, of the parts how many could be judged; the
        summary reads `3 of 4 parts hold`, or the verdict where an entry has a single part. `stale` counts the parts
        that rest on rows of earlier code; where there are such, the summary ends in `STALE`.
    """
    lines = []
    for (machine, claim), group in judged.groupby(["machine", "claim"], sort=False):
        first, old = group.iloc[0], group["stale"] > 0
        lines.append(
            {
                "machine": machine,
                "claim": claim,
                "paper": first["paper"],
                "statement": first["statement"],
                "parts": len(group),
                "tested": int(group["verdict"].isin(TESTED).sum()),
                "stale": int(old.sum()),
                "summary": _summary(group) + (f" {STALE}" if old.any() else ""),
            }
        )
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
    """How the verdicts of some parts are divided, a line a kind, directions first; what was not judged comes last.

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
    """How many parts every two machines decide both (hold or fail), and which of them come out differently.

    Returns
    -------
    list of str
        A sentence for each two machines that decide any part both.
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
    judged, held = _stored(claims, recordings, results, machines)
    verdicts = marked(judged, parts, machines, old)
    found = Summary(verdicts, entries(verdicts), held, old)
    found.text = "\n".join(_lines(found, machines))
    return found


def _stored(claims, recordings, results, machines=None):
    """Verdicts and controls: the one place where they are made. `machines` if they are read already."""

    def compute():
        rows = reading.machines(recordings, results) if machines is None else machines
        return judge(rows, load(claims)), controls(rows, ledger.controls(claims))

    return store.kept((claims, recordings, results), compute)


def of_study(study, machine=None):
    """The verdicts and controls of a study, as report, README and command line tell them.

    Parameters
    ----------
    study : Study
        Its recordings count and, if it has a configuration, what was measured here.
    machine : str, optional
        One machine's alone; by default those on which any part of the study was judged.

    Returns
    -------
    (DataFrame, DataFrame)
        See `judge` and `controls`.
    """
    results = study.folder.parent if study.config else study.recordings
    judged, held = (table[table["study"] == study.name] for table in _stored(None, study.recordings, results))
    known = judged.loc[judged["verdict"].isin(TESTED), "machine"].unique() if machine is None else [machine]
    return tuple(table[table["machine"].isin(known)].reset_index(drop=True) for table in (judged, held))


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


def records(verdicts):
    """Verdicts as JSON, an object a part with the fields of `COLUMNS`; what is not known is null."""
    lines = json.loads(verdicts.to_json(orient="records"))
    return json.dumps([{**line, "beside": json.loads(line["beside"])} for line in lines], indent=1)


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
    known = found.entries[found.entries["tested"] > 0]
    tested, many = set(known["claim"]), known["machine"].value_counts()
    for machine in sorted(machines, key=lambda machine: -many.get(machine, 0)):  # who tells most first
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
        ends = "" if low is None else f" ({low:.3g} to {high:.3g})"
        strays = "" if scatter is None else f", a round strays by a factor of {scatter:.3g}"
        yield f"    beside it, {label}: {value:.3g}{ends}{strays}"


__all__ = [
    "ClaimsError", "KINDS", "Part", "STALE", "Summary", "TESTED", "UNTESTED", "VERDICTS", "aged", "chosen",
    "compare", "controls", "counted", "differences", "entries", "judge", "load", "of_study", "papers", "records",
    "summary", "tally",
]  # fmt: skip
