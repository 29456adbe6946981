"""From recordings, verdicts and what notebooks drew to the typeset report.

`collect` writes what report.typ reads: the ledger with its verdicts, the machines, the missing data sets, and
an inventory of the figures, tables and numbers that exist. A study that has not drawn anything yet is said to
be missing in the report; nothing else changes, so the report grows with the studies.
"""

import importlib.util
import inspect
import json
import math
import os
import re
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from lockstep import paths
from lockstep.evidence import Study, claims, flags, gpu_words, recording, statistics, study
from lockstep.graphs.registry import registry
from lockstep.report import figures, style
from lockstep.report.output import numbers, readable, save, significant

TYPESET = ("report.pdf", "report.html")
LONG = 14  # letters of a unit that stands beside a figure


def build(generated=None, **places):
    """Collect and typeset: `paper/generated/report.pdf` and `report.html`, the same bytes from the same data.

    Parameters
    ----------
    generated : path, optional
        Where to; by default the project's `paper/generated`.
    **places
        See `collect`.

    Returns
    -------
    list of Path
        The files made: none, with a line that says so, where typst is not installed.
    """
    generated = Path(generated or paths.GENERATED).resolve()
    drawn = Path(places.get("drawn") or paths.FIGURES).resolve()
    collect(generated, **places)
    if importlib.util.find_spec("typst") is None:
        print("report: typst is not installed here, so the report is left out")
        return []
    import typst

    # typst reads nothing above its root; a build into a folder elsewhere (tests) needs a higher one.
    root = Path(os.path.commonpath([paths.ROOT.resolve(), generated, drawn]))
    inputs = {
        name: "/" + folder.relative_to(root).as_posix()
        for name, folder in {"generated": generated, "drawn": drawn}.items()
    }
    files = []
    for name in TYPESET:
        file = generated / name
        content, warnings = typst.compile_with_warnings(
            str((paths.PAPER / "report.typ").resolve()),
            root=str(root),
            format=file.suffix[1:],
            timestamp=0,
            ignore_system_fonts=True,
            sys_inputs=inputs,
        )
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        for warning in warnings:
            text = str(getattr(warning, "message", warning))
            if "under active development" not in text:  # what typst says of its HTML on every run
                print(f"report: {file.name}: {text}")
        files.append(file)
    return files


def collect(generated=None, *, recordings=None, results=None, drawn=None, ledger=None):
    """Write the generated files that report.typ reads.

    Parameters
    ----------
    generated, recordings, results, drawn : path, optional
        Where to; recorded machines; what was measured here; the folder of figures. By default the project's.
    ledger : path, optional
        The ledger; by default the project's.

    Returns
    -------
    Summary
        What was judged, see `lockstep.evidence.claims.summary`.
    """
    generated, results = Path(generated or paths.GENERATED), Path(results or paths.RESULTS)
    recordings, drawn = Path(recordings or paths.RECORDINGS), Path(drawn or paths.FIGURES)
    found = claims.summary(ledger, recordings, results)
    machines = machines_of(found, recordings, results)
    held = {name: set(rows["dataset"]) for name, rows in study.machines(recordings, results).items()}
    numbers("ledger", _ledger(found, machines, claims.load(ledger), claims.papers(ledger), held), generated)
    numbers("machines", machines, generated)
    numbers("methods", _methods(), generated)
    datasets = results / "datasets.csv"
    numbers("datasets", _records(pd.read_csv(datasets)) if datasets.is_file() else [], generated)
    _overview(found, machines, generated)
    # Last, since it lists what is there; itself and the report are left out.
    numbers("inventory", _inventory(generated, drawn), generated)
    return found


def _records(table):
    return [{key: readable(value) for key, value in line.items()} for line in table.to_dict("records")]


def machines_of(found, recordings, results):
    """What each judged machine is, those with the most tested parts first: the first leads the text.

    `short` is what a heading calls it: its GPU, with how many there are, and its digest where two would read alike;
    `studies` what it has rows of.
    """
    tested = found.verdicts[found.verdicts["verdict"] != "not testable here"].groupby("machine").size()
    rows, listed = study.machines(recordings, results), []
    for name in dict.fromkeys(found.verdicts["machine"]):
        files = [folder / name / "machine.json" for folder in (results, recordings)]
        known = next((json.loads(file.read_text()) for file in files if file.is_file()), {})
        runs = known.get("runs", [])
        listed.append(
            {
                **{
                    key: known.get(key)
                    for key in ("gpu", "gpus", "driver", "cpu", "cores", "memory_gib", "cuda", "cupy")
                },
                "name": name,
                "short": gpu_words(known) or known.get("cpu") or name,
                "studies": sorted(rows[name]["study"].unique()),
                "dates": sorted({run["date"][:10] for run in runs}),
                "commits": list(dict.fromkeys(run["commit"] for run in runs if run.get("commit"))),
                "runs": len(runs),
                "tested": int(tested.get(name, 0)),
                "watched": flags.watched(rows[name]),
                "flagged": len(flags.flagged(rows[name])),
            }
        )
    shorts = [machine["short"] for machine in listed]
    for machine in listed:
        if shorts.count(machine["short"]) > 1:
            machine["short"] += f" ({machine['name'].rpartition('-')[2]})"
    return sorted(listed, key=lambda machine: (-machine["tested"], machine["name"]))


def _ledger(found, machines, parts, papers, held):
    verdicts = found.verdicts.set_index(["part", "machine"])
    names = [machine["name"] for machine in machines]
    entries = {}
    for part in parts:
        line = {
            "id": part.id,
            "of": part.of,
            "published": published(part),
            "ratio": _over(part) or _trend(part),
            "relation": part.relation,
            "study": part.study,
            "untestable": part.untestable,
            "verdicts": {name: told(verdicts.loc[(part.id, name)], part, held[name]) for name in names},
        }
        entry = entries.setdefault(part.claim, {"id": part.claim, "paper": part.paper, "parts": []})
        entry["statement"], entry["short"] = part.statement, part.short
        entry["parts"].append(line)
    for row in found.entries.itertuples():
        entries[row.claim].setdefault("summaries", {})[row.machine] = row.summary
    tallies = {name: {verdict: 0 for verdict in claims.VERDICTS} for name in names}
    for (_, name), verdict in verdicts["verdict"].items():
        tallies[name][verdict] += 1
    return {
        "papers": papers,
        "claims": list(entries.values()),
        "tallies": tallies,
        "parts": len(parts),
        "controls": [
            {
                **line,
                "text": _ratio(line["value"], line["low"], line["high"]),
                "beside": [
                    {"label": label, "text": _ratio(*ends), "scatter": _percent(scatter)}
                    for label, (*ends, scatter) in json.loads(line["beside"]).items()
                ],
                "scatter": _percent(line["scatter"]),
            }
            for line in found.controls.to_dict("records")
        ],
    }


def _ratio(value, low, high):
    ends = (math.nan if end is None else end for end in (low, high))
    return figures.label(statistics.Estimate(value, *ends, 0), "")


def _percent(factor):
    """By how much a factor strays from 1, in percent; nothing where it is not known."""
    return "" if factor is None or math.isnan(factor) else f"{100 * (factor - 1):.2g} %"


def _coded(value, unit):
    """What a coded value means: of `1: right, 2: wrong` the word after the value; None for other units."""
    meanings = dict(re.findall(r"(\d+): ([^,]+)", unit))
    return meanings.get(f"{value:g}") if meanings else None


def _over(part):
    """What over what a part's figure is, where it is a ratio: `time: node-locked over edge-locked`."""
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
    along = str(part.select.get("x", "")).removeprefix("metric:")
    return f"power of {along} in {told}" if along else told


def _named(strategy):
    """A strategy with its variant in words: `paper@placement=global` is paper with placement global."""
    name, *variant = strategy.strip("()").split("@")
    return " with ".join([name, *(one.replace("=", " ") for one in variant)])


def _trend(part):
    """What a part's figure is where it is a trend and no ratio: `power of depth in time: naive`."""
    select, value = part.select, part.select.get("value", {})
    if part.relation == "explained-by":
        first, *others = select["features"]
        return f"share of variance explained: {first} less the better of {' and '.join(others)}"
    if part.relation == "steeper":
        first, second = (select[side] for side in ("first", "second"))
        return f"power of {first['x']} less power of {second['x']} in time: {first['strategy']}"
    if part.relation.startswith("slope") and value:
        metric = value.get("metric", "wall")
        of = metric.rpartition("_")[0] + "'s share of time" if "of" in value else _METRICS.get(metric, metric)
        return ": ".join([f"power of {select['x']} in {of}", *filter(None, [value.get("strategy")])])
    return ""


_METRICS = {
    "wall": "time", "device": "time", "total": "time with preprocessing", "ms_an_edge": "time an edge",
    "load_us": "loading", "compute_us": "computing",
}  # fmt: skip
# Of one thing.
_ONE = {"launches": "launch", "graphs": "graph", "layers": "layer", "atomics an edge": "atomic an edge"}


def published(part):
    """The published figure of a part as one reads it."""
    if isinstance(part.published, int) and (word := _coded(part.published, part.unit)):
        return word
    if isinstance(part.published, (int, float)) and not isinstance(part.published, bool):
        text = f"{part.published:,.10g}"
        unit = _ONE.get(part.unit, part.unit) if text == "1" else part.unit
        return f"{text}×" if unit == "x" else f"{text} {unit}".strip()
    return str(part.published) if part.published is not None else ""


def told(line, part=None, held=()):
    """A line of `claims.judge` in words: the figure with its interval, its unit, how large it is, the reason.

    `held` are the data sets that the machine has rows of: one that is not among them was not there.
    """
    unit = {"x": "×", "slope": "", "share explained, ahead": ""}.get(line["unit"], f" {line['unit']}").rstrip()
    coded = bool(re.match(r" \d+: ", unit))  # which the figures beside do not follow
    # A unit of many words is said once and not with each figure.
    meaning = "" if coded or len(unit) <= LONG else unit.strip()
    unit = "" if coded or meaning else unit
    figure = value = ""
    if not math.isnan(line["value"]):
        word = _coded(line["value"], line["unit"])
        value = word or f"{_count(line['value'], line['low']) or significant(line['value'])}{unit}"
        figure = word or _figure((line["value"], line["low"], line["high"]), unit)
    return {
        "verdict": line["verdict"],
        "figure": figure,
        "value": value,
        "meaning": meaning,
        # how large says nothing of a word or of a count that is right or not
        "factor": "" if coded or line["relation"] == "exact" else line["factor"],
        "reason": _reason(line["reason"], part.select if part else {}, held),
        "beside": {label: _figure(ends, unit) for label, ends in json.loads(line["beside"]).items()},
        "rounds": int(line["n"]),
        "graphs": int(line["graphs"]),
    }


def _reason(reason, select, held):
    """Why a part is not testable: for want of its graph, or of a measurement, in words."""
    if not reason.startswith("no measurement here of "):
        return reason
    dataset = select.get("dataset")
    if isinstance(dataset, str) and dataset not in held and (registry()["name"] == dataset).any():
        return f"its graph, {dataset}, was not at hand"
    wanted = [f"{key} {value}" for key, value in (select.get("parameters") or {}).items() if isinstance(value, str)]
    experiments = select.get("experiment", "this")
    told = experiments if isinstance(experiments, str) else " or ".join(experiments)
    told += f" on {dataset}" if isinstance(dataset, str) else ""
    return f"not measured on this machine: {', '.join([told, *wanted])}"


def _figure(ends, unit):
    """A figure with its interval; a count, which has none, to the last digit."""
    value, low, high = (math.nan if end is None else end for end in ends)
    count = _count(value, low)
    unit = f" {_ONE.get(unit.strip(), unit.strip())}" if count == "1" and unit.strip() in _ONE else unit
    return f"{count}{unit}" if count else figures.label(statistics.Estimate(value, low, high, 0), unit)


def _count(value, low):
    """A whole number without an interval, thousands apart; None for what was measured."""
    counted = (math.isnan(low) or low == value) and math.isfinite(value) and value == int(value)
    return f"{int(value):,}" if counted else None


def _methods():
    """The constants of the protocol, so that the text cannot disagree with the code."""
    return {
        "margin_percent": f"{100 * (statistics.MARGIN - 1):.0f}",
        "confidence_percent": f"{100 * statistics.CONFIDENCE:.0f}",
        "level_percent": f"{100 * claims.LEVEL:.0f}",
        "resamples": f"{statistics.RESAMPLES:,}",
        "rounds": inspect.signature(Study.measure).parameters["rounds"].default,
        "columns": recording.COLUMNS,
    }


def _overview(found, machines, generated):
    """Published against measured for every entry of ratios, on the machine that leads."""
    chosen = ["D1", "D2", "D3", "D4", "D7", "D11"]
    shutil.rmtree(generated / "overview", ignore_errors=True)
    if not machines:
        return
    judged = found.verdicts[found.verdicts["machine"] == machines[0]["name"]]
    style.use()
    save(figures.mosaic(judged, claims.papers()).figure, "overview/verdicts", generated)
    if costs := _costs(generated):
        save(figures.ladder(costs).figure, "overview/ladder", generated)
    if judged[judged["claim"].isin(chosen)]["value"].notna().any():
        style.use()
        ax = figures.published(judged, chosen)
        ax.set_xlabel("serial CPU time over naive GPU time (above 1 the GPU is faster)")
        save(ax.figure, "overview/published", generated)
        plt.close("all")


def _costs(generated):
    """{rung: ns of a step} as study 0 measured them; empty before it has."""
    file = generated / "0-machine.json"
    known = json.loads(file.read_text()) if file.is_file() else {}
    block = known.get("block_barrier_ns") or {}
    costs = {
        "the host launches and looks": known.get("readback_us", math.nan) * 1e3,
        "the host launches": known.get("launch_us", math.nan) * 1e3,
        "all blocks, by a barrier": known.get("grid_barrier_us", math.nan) * 1e3,
        "launches recorded beforehand": known.get("graph_node_us", math.nan) * 1e3,
        "one block to another, by a word": known.get("hop_ns", math.nan),
        "a full block, by its barrier": block.get("1024", math.nan),
        "a warp, by its barrier": block.get("32", math.nan),
    }
    return {rung: value for rung, value in costs.items() if value and math.isfinite(value)}


def _inventory(generated, drawn):
    """{study: {figures: [...], tables: [...], numbers: bool}}: what the report may take in."""
    studies = {}
    for file in sorted(drawn.glob("*/*.svg")):
        studies.setdefault(file.parent.name, _nothing())["figures"].append(file.stem)
    for file in sorted(generated.glob("*/*.csv")):
        if file.read_text().count("\n") < 2:  # a heading alone: nothing was measured for it
            continue
        studies.setdefault(file.parent.name, _nothing())["tables"].append(file.stem)
    for file in (*sorted(generated.glob("[0-9]-*.json")), *generated.glob("guide.json")):
        studies.setdefault(file.stem, _nothing())["numbers"] = True
    return {
        "studies": studies,
        "overview": (generated / "overview" / "published.svg").is_file(),
        "ladder": (generated / "overview" / "ladder.svg").is_file(),
    }


def _nothing():
    return {"figures": [], "tables": [], "numbers": False}
