"""The workflow's first and last screen: the machine, the parts to run and their predicted time, the verdicts."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from lockstep import paths
from lockstep.evidence import seals
from lockstep.evidence.ledger import KINDS

SUMS = tuple(f"  {kind}: " for kind in (*KINDS, "not judged"))  # lines of claims.txt below a machine's name


class Machine(NamedTuple):
    """This machine: the name of its folder, a description in one line, and its executor."""

    name: str
    line: str
    executor: str


def this_machine() -> Machine:
    """This machine; the executor is ``cuda`` if CuPy can use a GPU, else ``host``."""
    from lockstep.evidence import describe_machine, gpu_words
    from lockstep.machine import gpu_available

    facts = describe_machine()
    answers = bool(gpu_available())
    host = f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB"
    if answers:
        line = f"{gpu_words(facts)} (driver {facts['driver']}) on {host}"
    elif facts["gpu"]:
        line = f"{host}; its {gpu_words(facts)} does not answer CuPy, so it is left out"
    else:
        line = f"{host}; no GPU"
    return Machine(facts["name"], line, "cuda" if answers else "host")


def has_typst() -> bool:
    """Whether the report can be typeset here."""
    return importlib.util.find_spec("typst") is not None


def data_sources() -> str:
    """The settings that decide where data sets come from, as text that changes with them."""
    return " ".join(f"{name}={os.environ.get(name, '')}" for name in ("LOCKSTEP_MIRROR", "LOCKSTEP_OFFLINE"))


def captions(studies, generated) -> dict:
    """{study: {figure: caption}} from the notebooks' generated numbers, for Snakemake's own report."""
    found = {}
    for study in studies:
        file = Path(generated) / f"{study}.json"
        if file.is_file():
            found[study] = json.loads(file.read_text(encoding="utf-8")).get("captions", {})
    return found


def greet(machine: Machine, size: str, studies: dict, results: str, *, report: bool, file=None) -> None:
    """Print the plan: machine, kind of measurements, parts, and predicted time.

    Parameters
    ----------
    machine : Machine
    size : str
        Name of the parameter file, ``smoke`` or ``paper``.
    studies : dict
        What `plan.load` returned.
    results : str
        Folder of this machine's results; parts with a ``.done`` file there are measured. Of a part without one but with
        a seal, only missing samples will be measured.
    report : bool
        Whether the report can be typeset.
    """
    file = file or sys.stderr
    recorded = sorted(p.name for p in paths.RECORDINGS.glob("*/") if p.is_dir())
    if machine.executor == "cuda":
        measured = "this GPU is measured and put beside the recorded machines"
    else:
        measured = (
            "no GPU: results and counts come from the emulator, times from the CPU baselines; "
            "verdicts on GPUs come from the recorded machines"
        )
    lines = [
        ("machine", machine.line),
        ("folder", results),
        ("measured", measured),
        ("size", f"{size} (config/{size}.yaml)"),
        ("recorded", ", ".join(recorded) or "no machine yet"),
    ]
    waiting = 0
    for study, block in studies.items():
        todo = {
            part: sizes["seconds"]
            for part, sizes in block["parts"].items()
            if not Path(results, study, f"{part}.done").is_file()
        }
        there = [part for part in todo if part in seals.parts(results, study)]
        todo = {part: seconds for part, seconds in todo.items() if part not in there}
        waiting += sum(todo.values())
        told = [
            f"{what}: {', '.join(names)}"
            for what, names in {
                "to measure": [f"{part} {_duration(seconds)}" for part, seconds in todo.items()],
                "to complete (rows are there)": there,
            }.items()
            if names
        ]
        lines.append((study, "; ".join(told) or "measured"))
    rest = "then some minutes for figures and report (6 on two cores)"
    lines.append(("predicted", f"about {_duration(waiting)} to measure, {rest}"))
    if not report:
        lines.append(("report", "skipped: typst is not installed (figures, tables and verdicts are made all the same)"))
    found = _found(Path(results).parent / "claims.txt")
    lines += zip(("found", *("" for _ in found[1:])), found, strict=True)
    print("Lockstep", *(f"  {name:<25}{text}" for name, text in lines), sep="\n", file=file, flush=True)


def _found(told, published=paths.PAPER / "published" / "claims.txt") -> list[str]:
    """Verdict summaries of an earlier run for machines with tested claims; before the first run, the published ones."""
    earlier = told.is_file()
    lines = [line for line in verdict_lines(told if earlier else published) if _sums_up(line)]
    lines = [line for line in lines if "no claim is tested" not in line] or lines
    return lines if earlier else [*lines, "(as published; each claim: README.md, paper/published/)"]


def _sums_up(line) -> bool:
    return line.startswith(SUMS) or not line.startswith(" ")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def conclude(*, report: bool, file=None) -> None:
    """Print the verdicts for each machine, and the paths of the report."""
    built = (paths.GENERATED / "report.pdf").is_file() if report else None
    print("", *last_lines(paths.RESULTS / "claims.txt", built), sep="\n", file=file or sys.stderr, flush=True)


def last_lines(told, built) -> list[str]:
    """Lines of the last screen.

    Parameters
    ----------
    told : path
        File with the output of `lockstep claims`.
    built : bool or None
        Whether the report is there; None: it cannot be typeset here.
    """
    lines = verdict_lines(told)
    if built:
        lines.append("report: paper/generated/report.pdf and paper/generated/report.html")
    elif built is None:
        lines.append("report: not built, typst is missing here; the figures are in figures/")
    return ["Lockstep: what was found", *(f"  {line}" for line in [*lines, "all verdicts: lockstep claims"])]


def verdict_lines(told) -> list[str]:
    """The lines of results/claims.txt that summarize a machine, and warnings; not the single claims."""
    told = Path(told)
    if not told.is_file():
        return ["no verdicts yet"]
    warnings = ("stale:", "renew with:", "does not pass")
    lines = told.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if _sums_up(line) or any(word in line for word in warnings)]
