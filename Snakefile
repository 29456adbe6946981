"""Lockstep's workflow: data sets -> measurements -> studies -> verdicts -> report.

    snakemake --cores 1                         everything, at the size that this machine is good for
    snakemake --cores 1 --config size=smoke     small sizes, also with a GPU
    snakemake --cores 1 -n                      what would run
    snakemake --report results/workflow.html    what was made, with captions, in one file

Measuring and drawing are apart. A `measure` job appends rows to results/<machine>/<study>.csv, a journal that no
rule declares as output: Snakemake deletes the outputs of a job before it starts, and measurements must survive that.
"""

import os
import sys

os.environ["LOCKSTEP_ROOT"] = workflow.basedir  # this file's folder, wherever the package was installed from

from lockstep import paths
from lockstep.studies import PACKAGES
from lockstep.workflow import notebooks, plan, screen

HERE = screen.this_machine()
SIZE = config.get("size", "paper" if HERE.executor == "cuda" else "smoke")
CONFIG = f"config/{SIZE}.yaml"
try:
    STUDIES = plan.load(paths.ROOT / CONFIG)
    for study in STUDIES:
        notebooks.check(f"notebooks/{study}.ipynb")
        notebooks.write_code(study, "results/config")
except (plan.ConfigError, notebooks.NotebookError) as error:
    sys.exit(f"lockstep: {error}")
plan.write_blocks(STUDIES, "results/config")

RESULTS = f"results/{HERE.name}"
TYPST = screen.has_typst()
if workflow.is_main_process:
    screen.greet(HERE, SIZE, STUDIES, RESULTS, report=TYPST)


def package(*names):
    """All files of some of the library's packages and modules, as Snakemake cannot track a notebook's imports."""
    named = [paths.ROOT / "lib/lockstep" / name for name in names]
    found = [p for one in named for p in ([one] if one.is_file() else sorted(one.rglob("*.*")))]
    return [str(p.relative_to(paths.ROOT)) for p in found if p.suffix in {".py", ".cu", ".cuh", ".hpp", ".cpp", ".h", ".typ"}]


def recorded(*patterns):
    """Files of published recordings, relative to the root; a machine's further recordings are a folder deeper."""
    found = [p for pattern in patterns for deep in ("*", "*/*") for p in paths.RECORDINGS.glob(f"{deep}/{pattern}")]
    return sorted(str(p.relative_to(paths.ROOT)) for p in found if p.is_file())


TABLES = sorted(str(p.relative_to(paths.ROOT)) for p in paths.RECORDINGS.glob("*.csv"))


RULES = [str(p.relative_to(paths.ROOT)) for p in paths.DATA.glob("rules.json")]  # what `auto` follows


def parts(study):
    return [f"{RESULTS}/{study}/{part}.done" for part in STUDIES[study]["parts"]]


def drawn(study):
    return f"paper/generated/{study}.json"


# Captions for `snakemake --report`, as written by the notebooks for the paper.
config["captions"] = screen.captions(STUDIES, "paper/generated")


report: "paper/captions/workflow.rst"


JOB = f"exec {sys.executable} -m lockstep.workflow run"


wildcard_constraints:
    study="|".join(STUDIES),
    part="[a-z0-9-]+",


rule all:
    message: "everything is up to date"
    input:
        "results/datasets.csv",
        [part for study in STUDIES for part in parts(study)],  # so that a deleted .done file triggers its job
        [drawn(study) for study in STUDIES],
        "results/claims.csv",
        ["paper/generated/report.pdf", "paper/generated/report.html"] if TYPST else [],


rule datasets:
    message: "data sets: what is here, what can be had"
    input:
        "data/datasets.csv",
        package("graphs"),
    output: report("results/datasets.csv", caption="paper/captions/datasets.rst", category="Ledger and data"),
    params: sources=screen.data_sources(),  # a change of mirror or offline mode re-runs the rule
    shell: f"{sys.executable} -m lockstep datasets --output {{output}} > /dev/null"


rule measure:
    message: "measure {wildcards.study}, part {wildcards.part}"
    input:
        "results/datasets.csv",
        "results/config/{study}/{part}.json",
        "results/config/{study}/measuring.py",
        lambda wildcards: package("graphs", "machine", "batch", "plan.py", "solving.py", "choose", "evidence", "provenance",
                                  PACKAGES[wildcards.study]),
        RULES,
    output: f"{RESULTS}/{{study}}/{{part}}.done",
    log: f"{RESULTS}/{{study}}/{{part}}.ipynb",
    params: executor=HERE.executor,
    resources: gpu=1,
    shell:
        f"{JOB} notebooks/{{wildcards.study}}.ipynb {{log}} --journal {RESULTS}/{{wildcards.study}}.csv --done {{output}}"
        f" -p config {CONFIG} -p part {{wildcards.part}} -p executor {{params.executor}}"


rule study:
    message: "figures, tables and numbers of {wildcards.study}"
    input:
        lambda wildcards: parts(wildcards.study) + parts("0-machine"),
        lambda wildcards: package("graphs", "machine", "batch", "plan.py", "solving.py", "choose", "evidence", "digits.py",
                                  "report", PACKAGES[wildcards.study]),
        RULES,
        lambda wildcards: recorded(f"{wildcards.study}.csv"),
        "results/config/{study}/drawing.py",
    output:
        "paper/generated/{study}.json",
        directory("paper/generated/{study}"),
        report(
            directory("figures/{study}"),
            patterns=["{name}.svg"],
            caption="paper/captions/figure.rst",
            category="{study}",
            labels={"figure": "{name}"},
        ),
    log: f"{RESULTS}/{{study}}/study.ipynb",
    shell:
        "mkdir -p {output[1]} {output[2]} && "  # a study may have no tables or figures
        f"{JOB} notebooks/{{wildcards.study}}.ipynb {{log}} -p config {CONFIG} -p part None -p executor None"


rule claims:
    message: "verdicts"
    input:
        "paper/claims.yaml",
        [drawn(study) for study in STUDIES],
        package("digits.py", "evidence", "graphs", "provenance", *PACKAGES.values()),  # code that decides whether rows are stale
        recorded("*"),
        TABLES,
    output:
        report("results/claims.csv", caption="paper/captions/claims.rst", category="Ledger and data"),
        "results/claims.txt",
    shell: f"{sys.executable} -m lockstep claims --output {{output[0]}} > {{output[1]}}"


rule guide:
    message: "the guide: what to choose, and what it loses when it is wrong"
    input:
        [drawn(study) for study in STUDIES],
        package("guide", "choose", "digits.py", "evidence", "report"),
        recorded("*"),
    output:
        "paper/generated/guide.json",
        directory("paper/generated/guide"),
        report(
            directory("figures/guide"),
            patterns=["{name}.svg"],
            caption="paper/captions/guide.rst",
            category="The report",
            labels={"figure": "{name}"},
        ),
    shell: f"mkdir -p {{output[1]}} {{output[2]}} && {sys.executable} -m lockstep.guide > /dev/null"


rule report:
    message: "report"
    input:
        "results/claims.csv",
        "paper/generated/guide.json",
        "results/datasets.csv",
        [drawn(study) for study in STUDIES],
        [str(p.relative_to(paths.ROOT)) for name in ("*.typ", "*.bib") for p in sorted(paths.PAPER.glob(name))],
        package("digits.py", "evidence", "report", "provenance"),
        TABLES,
    output:
        report("paper/generated/report.pdf", caption="paper/captions/report.rst", category="The report"),
        "paper/generated/report.html",
    shell: f"{sys.executable} -m lockstep.report > /dev/null"


onsuccess:
    screen.conclude(report=TYPST)


onerror:
    print("lockstep: a job failed; what was measured stays, and the same command goes on from there", file=sys.stderr)
