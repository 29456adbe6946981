"""Wording of the ledger's parts: published figure, measured figure with interval, and reason if untested."""

import json
import math
import re

from lockstep import digits
from lockstep.evidence import telling
from lockstep.graphs.registry import registry
from lockstep.report.output import heading


def percent(factor):
    """Deviation of a factor from 1 in percent; "" if unknown."""
    return "" if factor is None or math.isnan(factor) else f"{100 * (factor - 1):.2g} %"


def over(part):
    """Numerator and denominator of a part's ratio in words: `time: node-locked over edge-locked`; "" for others."""
    top, bottom = (part.select.get(side, {}) for side in ("numerator", "denominator"))
    if part.unit not in ("", "x", "slope") or not (top.get("strategy") and bottom.get("strategy")):
        return ""
    metrics = [side.get("metric", "wall") for side in (top, bottom)]
    words = [_METRICS.get(metric, metric.replace("_", " ")) for metric in metrics]
    names = [_named(side["strategy"]) for side in (top, bottom)]
    if words[0] != words[1]:
        told = f"{names[0]}: {words[0]} over {words[1]}"
    elif names[0] == names[1]:
        places = [side.get("dataset", "") for side in (top, bottom)]
        kinds = ["structured" if side.get("parameters", {}).get("structured") else "others" for side in (top, bottom)]
        told = f"{words[0]}: {names[0]}, {' over '.join(places if all(places) else kinds)}"
    else:
        told = f"{words[0]}: {names[0]} over {names[1]}"
    along = heading(str(part.select.get("x", "")).removeprefix("metric:"))
    return f"power of {along} in {told}" if along else told


def _named(strategy):
    """A strategy with its variant in words: `paper@placement=global` is paper with placement global, and
    `node-locked +no shared memory` is node-locked with no shared memory.
    """
    if isinstance(strategy, list):  # one of them on each graph
        return _named(strategy[0])
    name, *variant = strategy.strip("()").replace(" +", "@").split("@")
    return " with ".join([name, *(one.replace("=", " ") for one in variant)])


def trend(part):
    """A part's figure in words if it is a trend: `power of depth in time: naive`; "" for others."""
    select, value = part.select, part.select.get("value", {})
    if part.relation == "explained-by":
        first, *others = select["features"]
        return f"share of variance explained: {first} less the better of {' and '.join(others)}"
    if part.relation == "steeper":
        first, second = (select[side] for side in ("first", "second"))
        return f"power of {heading(first['x'])} less power of {heading(second['x'])} in time: {first['strategy']}"
    if part.relation.startswith("slope") and value:
        metric = value.get("metric", "wall")
        of = metric.rpartition("_")[0] + "'s share of time" if "of" in value else _METRICS.get(metric, metric)
        return ": ".join([f"power of {heading(select['x'])} in {of}", *filter(None, [value.get("strategy")])])
    return ""


_METRICS = {
    "wall": "time", "device": "time", "total": "time with preprocessing", "ms_an_edge": "time an edge",
    "load_us": "loading", "compute_us": "computing",
}  # fmt: skip


def published(part):
    """The published figure of a part as text."""
    if isinstance(part.published, int) and (word := digits.coded(part.published, part.unit)):
        return word
    if isinstance(part.published, (int, float)) and not isinstance(part.published, bool):
        text = f"{part.published:,.10g}"
        unit = digits.one(part.unit).strip() if text == "1" else part.unit
        return f"{text}×" if unit == "x" else f"{text} {unit}".strip()
    return re.sub(r"(\d)x\b", "\\1×", str(part.published)) if part.published is not None else ""


def told(line, part=None, held=()):
    """A line of `claims.judge` in words: figure with interval, unit, comparison with the published figure, reason.

    `held` are the data sets with rows of the machine; a data set outside it was not available.
    """
    unit, meaning = digits.unit_of(line["unit"])
    figure = digits.coded(line["value"], line["unit"])  # which the figures beside do not follow
    if not (figure or math.isnan(line["value"])):
        figure = digits.figure(line["value"], line["low"], line["high"], unit)
    return {
        "verdict": line["verdict"],
        "stale": f"measured at {line['measured'] or 'an unknown commit'}" if line["stale"] else "",
        "figure": figure,
        "value": figure.partition(" (")[0],
        "meaning": meaning,
        # a comparison of size is meaningless for a code or an identity
        "factor": "" if digits.CODES.match(line["unit"]) or line["kind"] == "identity" else line["factor"],
        "reason": _reason(line["reason"], part.select if part else {}, held),
        "beside": _beside(line, unit) | _host(line),
        "rounds": int(line["n"]),
        "graphs": int(line["graphs"]),
    }


def _beside(line, unit):
    """{label: figure with interval} beside a verdict; marked where it rests on rows of earlier code."""
    old = json.loads(line["beside_stale"])
    found = json.loads(line["beside"]).items()
    return {label: digits.figure(*ends, unit) + f" {telling.STALE}" * (label in old) for label, ends in found}


def _host(line):
    """The host's slowdown for a ratio of CPU to GPU, if a probe was recorded."""
    slow = json.loads(line["host"])
    return {"the host's probe over its least": digits.figure(*slow, "×")} if slow else {}


def _reason(reason, select, held):
    """Why a part is untested, in words: its graph or a measurement is missing."""
    if not reason.startswith("no measurement here of "):
        return reason
    dataset = select.get("dataset")
    if isinstance(dataset, str) and dataset not in held and (registry()["name"] == dataset).any():
        return f"its graph, {dataset}, was not at hand; with network snakemake --cores 1 fetches it"
    wanted = [f"{key} {value}" for key, value in (select.get("parameters") or {}).items() if isinstance(value, str)]
    experiments = select.get("experiment", "this")
    told = experiments if isinstance(experiments, str) else " or ".join(experiments)
    told += f" on {dataset}" if isinstance(dataset, str) else ""
    return f"not measured on this machine: {', '.join([told, *wanted])}"
