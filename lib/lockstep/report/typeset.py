"""Typeset the report from recordings, verdicts and the notebooks' figures.

`collect` writes the inputs of report.typ: the ledger with its verdicts, the machines, the data sets, and an
inventory of the figures, tables and numbers that exist. The report marks a study without output as missing.
"""

import collections
import contextlib
import importlib.util
import inspect
import json
import math
import os
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lockstep import digits, paths
from lockstep.evidence import Study, between, claims, flags, gpu_words, reading, recording, statistics, telling
from lockstep.machine import MachineError, costs
from lockstep.report import figures, style, wording
from lockstep.report.output import numbers, readable, save

TYPESET = ("report.pdf", "report.html")


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
            str((paths.PAPER / "report.typ").resolve()), root=str(root), format=file.suffix[1:], timestamp=0,
            ignore_system_fonts=True, sys_inputs=inputs,
        )
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        for warning in warnings:
            text = str(getattr(warning, "message", warning))
            if "under active development" not in text:  # typst's notice on HTML export, at every run
                print(f"report: {file.name}: {text}")
        files.append(file)
    return files


def collect(generated=None, *, recordings=None, results=None, drawn=None, ledger=None, stale=None):
    """Write the generated files that report.typ reads.

    Parameters
    ----------
    generated, recordings, results, drawn : path, optional
        Where to; recorded machines; what was measured here; the folder of figures. By default the project's.
    ledger : path, optional
        The ledger; by default the project's.
    stale : callable, optional
        See `lockstep.evidence.claims.summary`.

    Returns
    -------
    Summary
        The verdicts, see `lockstep.evidence.claims.summary`.
    """
    generated, results = Path(generated or paths.GENERATED), Path(results or paths.RESULTS)
    recordings, drawn = Path(recordings or paths.RECORDINGS), Path(drawn or paths.FIGURES)
    found = claims.summary(ledger, recordings, results, stale)
    machines = machines_of(found, recordings, results)
    recorded = reading.machines(recordings, results)
    held = {name: set(rows["dataset"]) for name, rows in recorded.items()}
    numbers("ledger", _ledger(found, machines, claims.load(ledger), claims.papers(ledger), held), generated)
    numbers("machines", machines, generated)
    numbers("methods", _methods(found.verdicts, reading.machines(recordings, results, earlier=True)), generated)
    datasets = results / "datasets.csv"
    numbers("datasets", _records(pd.read_csv(datasets)) if datasets.is_file() else [], generated)
    _overview(found, machines, generated, results, recordings)
    # Last, since it lists what is there; itself and the report are left out.
    numbers("inventory", _inventory(generated, drawn), generated)
    return found


def _records(table):
    return [{key: readable(value) for key, value in line.items()} for line in table.to_dict("records")]


def _runs(folders):
    """The runs of a machine's folders and of the numbered ones in them, without duplicates, by date."""
    told = [run for one in folders for folder in (one, *one.glob("[0-9]*")) for run in recording.runs(folder)]
    once = {tuple(map(run.get, ("date", "study", "part"))): run for run in told}
    return sorted(once.values(), key=lambda run: run["date"])


def machines_of(found, recordings, results):
    """Description of each judged machine. The first is the lead: of those with tested parts, the one with the largest
    recordings.

    `short` is its name in headings: its GPUs with their number, and its digest where names collide; `studies` are those
    with rows.
    """
    tested = found.verdicts[found.verdicts["verdict"].isin(telling.TESTED)].groupby("machine").size()
    rows, listed = reading.machines(recordings, results), []
    for name in dict.fromkeys(found.verdicts["machine"]):
        folders = [results / name, recordings / name]
        files = [folder / "machine.json" for folder in folders]
        known = next(filter(None, map(recording.described, files)), {})
        runs = _runs(folders)
        listed.append({
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
            "recordings": len({file.parent for at in folders for file in paths.recordings_of(at)}),
            "tested": int(tested.get(name, 0)),
            "watched": flags.watched(rows[name]),
            "flagged": len(flags.flagged(rows[name])),
        })  # fmt: skip
    shorts = [machine["short"] for machine in listed]
    for machine in listed:
        if shorts.count(machine["short"]) > 1:
            machine["short"] += f" ({machine['name'].rpartition('-')[2]})"
    order = list(rows)
    return sorted(listed, key=lambda machine: (not machine["tested"], order.index(machine["name"])))


def _ledger(found, machines, parts, papers, held):
    verdicts = found.verdicts.set_index(["part", "machine"])
    names = [machine["name"] for machine in machines]
    entries = {}
    for part in parts:
        line = {
            "id": part.id,
            "of": part.of,
            "published": wording.published(part),
            "ratio": wording.over(part) or wording.trend(part),
            "relation": part.relation,
            "kind": part.kind,
            "population": "; ".join(f"{kind}: {told}" for kind, told in part.population.items()),
            "study": part.study,
            "untestable": part.untestable,
            "verdicts": {name: wording.told(verdicts.loc[(part.id, name)], part, held[name]) for name in names},
        }
        entry = entries.setdefault(part.claim, {"id": part.claim, "paper": part.paper, "parts": [], "changed": []})
        entry["statement"], entry["short"] = part.statement, part.short
        entry["parts"].append(line)
        entry["changed"] += [change for change in part.changed if change not in entry["changed"]]
    for row in found.entries.itertuples():
        entries[row.claim].setdefault("summaries", {})[row.machine] = row.summary
    return {
        "papers": papers,
        "claims": list(entries.values()),
        "tallies": {name: telling.tally(found.verdicts[found.verdicts["machine"] == name]) for name in names},
        "aged": {name: telling.aged(found.verdicts[found.verdicts["machine"] == name]) for name in names},
        "earlier": {name: telling.earlier(lines) for name, lines in found.stale.items()},
        "differences": telling.differences(found.verdicts),
        "parts": len(parts),
        "controls": [
            {
                **line,
                "text": digits.figure(line["value"], line["low"], line["high"]),
                "beside": [
                    {"label": label, "text": digits.figure(*ends), "scatter": wording.percent(scatter)}
                    for label, (*ends, scatter) in json.loads(line["beside"]).items()
                ],
                "scatter": wording.percent(line["scatter"]),
            }
            for line in found.controls.to_dict("records")
        ],
    }


def _methods(judged, machines):
    """Statistical constants for the report's text, and the ratio of bootstrap to t interval widths."""
    ends = judged[["low", "high", "bootstrap_low", "bootstrap_high"]].astype(float)
    ends = np.log(ends[(ends > 0).all(axis=1) & (ends["high"] > ends["low"])])
    widths = (ends["bootstrap_high"] - ends["bootstrap_low"]) / (ends["high"] - ends["low"])
    apart = between.components(machines.values())
    return {
        "apart": [[study or "all", f"{100 * (math.exp(one.ratio) - 1):.1f}"] for study, one in apart.items()],
        "margin_percent": f"{100 * (statistics.MARGIN - 1):.0f}",
        "confidence_percent": f"{100 * statistics.CONFIDENCE:.0f}",
        "level_percent": f"{100 * claims.LEVEL:.0f}",
        "resamples": f"{statistics.RESAMPLES:,}",
        "bootstrap": {"parts": len(widths), "width": f"{widths.median():.2f}"} if len(widths) else None,
        "rounds": inspect.signature(Study.measure).parameters["rounds"].default,
        "columns": recording.COLUMNS,
    }


def _overview(found, machines, generated, results, recordings):
    """Figures of the step costs, and of published and measured ratios of study 3, on the lead machine."""
    chosen = ["D1", "D2", "D3", "D4", "D7", "D11"]
    shutil.rmtree(generated / "overview", ignore_errors=True)
    if not machines:
        return
    judged = found.verdicts[found.verdicts["machine"] == machines[0]["name"]]
    style.use()
    with contextlib.suppress(MachineError):  # no costs are recorded
        cost = costs.of(machines[0]["name"], results, recordings)
        save(figures.ladder(cost).figure, "overview/ladder", generated)
    if judged[judged["claim"].isin(chosen)]["value"].notna().any():
        ax = figures.published(judged, chosen)
        ax.set_xlabel("serial CPU time over naive GPU time (above 1 the GPU is faster)")
        save(ax.figure, "overview/published", generated)
    plt.close("all")


def _inventory(generated, drawn):
    """{study: {figures: [...], tables: [...], numbers: bool}}: what the report may take in."""
    studies = collections.defaultdict(lambda: {"figures": [], "tables": [], "numbers": False})
    for file in sorted(drawn.glob("*/*.svg")):
        studies[file.parent.name]["figures"].append(file.stem)
    for file in sorted(generated.glob("*/*.csv")):
        if file.read_text().count("\n") < 2:  # only a header: nothing was measured
            continue
        studies[file.parent.name]["tables"].append(file.stem)
    for file in (*sorted(generated.glob("[0-9]-*.json")), *generated.glob("guide.json")):
        studies[file.stem]["numbers"] = True
    return {
        "studies": studies,
        "overview": (generated / "overview" / "published.svg").is_file(),
        "ladder": (generated / "overview" / "ladder.svg").is_file(),
    }
