"""A run as an RO-Crate: workflow, parameters, environment, recordings, verdicts and report, packed and described.

The entities follow the profile Workflow Run Crate: the workflow (the Snakefile), machine, commit, inputs and outputs.
See S. Soiland-Reyes et al., "Packaging research artefacts with RO-Crate", Data Science 5 (2022).
"""

import json
from pathlib import Path

import yaml

from lockstep import paths
from lockstep.evidence import computer
from lockstep.studies import PACKAGES
from lockstep.workflow.screen import has_typst

INPUTS = {
    "config/paper.yaml": "Parameters at the papers' sizes", "config/smoke.yaml": "Parameters without a GPU",
    "requirements.lock": "Locked environment, with hashes", "data/datasets.csv": "Registry of data sets",
    "paper/claims.yaml": "The papers' claims", "paper/protocol.yaml": "Protocol, fixed before the rows",
}  # fmt: skip
OUTPUTS = {
    "results/claims.csv": "Every part of every claim with its verdict, figure and interval, a line a machine",
    "results/datasets.csv": "Data sets: present, missing, from where",
    "paper/generated/report.pdf": "The integrated report",
    "paper/generated/report.html": "The integrated report, as a page",
}


def write(target, root=paths.ROOT):
    """Describe the last run of the workflow and pack it.

    Parameters
    ----------
    target : path
        A folder, or a file that ends in .zip.
    root : path
        The checkout.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        The workflow has not run here; names the missing file.
    """
    from rocrate.model.person import Person
    from rocrate.rocrate import ROCrate

    made = {name: about for name, about in OUTPUTS.items() if has_typst() or "/report." not in name}
    missing = [name for name in made if not (root / name).is_file()]
    if missing:
        raise ValueError(f"{missing[0]} is not there; run snakemake --cores 1 first")
    crate, cited = ROCrate(), yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    crate.name, crate.description, crate.license = cited["title"], " ".join(cited["abstract"].split()), cited["license"]
    names = [one["name"] for one in cited["authors"]]
    authors = [crate.add(Person(crate, f"#author-{k}", {"name": name})) for k, name in enumerate(names, 1)]
    crate.creator = authors
    main = crate.add_workflow(root / "Snakefile", "Snakefile", main=True, lang="snakemake", gen_cwl=False)
    inputs = [_file(crate, root, name, about) for name, about in INPUTS.items()]
    notebooks = [_file(crate, root, f"notebooks/{study}.ipynb", f"Study {study}") for study in PACKAGES]
    outputs = [_file(crate, root, name, about) for name, about in made.items()]
    outputs += [_file(crate, root, str(file.relative_to(root)), "A figure of the report")
                for file in sorted((root / "figures").glob("*/*.svg"))]  # fmt: skip
    recorded = [file for file in sorted((root / "data" / "recordings").rglob("*")) if file.suffix in (".csv", ".json")]
    inputs += [_file(crate, root, str(file.relative_to(root)), "Recorded measurements, and what they rest on")
               for file in recorded]  # fmt: skip
    here = computer.describe_machine()
    outputs += [_file(crate, root, str(file.relative_to(root)), "Measured in this run's place")
                for file in sorted((root / "results" / here["name"]).glob("*.csv"))]  # fmt: skip
    action = crate.add_action(main, identifier="#run", object=inputs + notebooks, result=outputs, properties={
        "name": f"snakemake --cores 1, on {here['name']}", "description": json.dumps(here),
        "endTime": computer.now(), "agent": [{"@id": one.id} for one in authors]})  # fmt: skip
    action["version"] = computer.commit() or "unknown"
    target = Path(target)
    crate.write_zip(target) if target.suffix == ".zip" else crate.write(target)
    return target


def _file(crate, root, name, about):
    return crate.add_file(root / name, name, properties={"name": Path(name).name, "description": about})
