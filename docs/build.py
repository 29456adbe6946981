"""Build the documentation site: python docs/build.py [FOLDER]; `make site` calls it.

The pages lie beside this file; they include texts that have their home elsewhere: README.md, CONTRIBUTING.md,
CHANGELOG.md, the notebooks, the rules of the guide. Sphinx reads one folder, so all are copied to FOLDER/source, and
FOLDER/html is built from it without network. Every warning is an error.
"""

import json
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NEEDED = ("sphinx", "myst_nb", "numpydoc", "pydata_sphinx_theme")
PAGES = ("*.md", "use/*.md", "use/*.csv", "api/*.md", "about/*.md", "notebooks/*.md", "_static/*")
TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # included by pages
LITERAL = (  # shown by pages as they are
    "paper/published/claims.txt", "profiles/slurm/config.yaml", "lib/lockstep/networkx_backend/__init__.py",
)  # fmt: skip
# Pages on which the sections of README.md stand, and other targets of its links that have a page.
PLACES = {
    "#what-was-found": "/index.md",
    "#the-papers-claims": "/claims.md",
    "#two-commands": "/use/run.md",
    "#use-it-on-your-own-graph": "/use/own-graph.md",
    "#add-to-it": "/use/adding.md",
    "#limits": "/about/limits.md",
    "#licence-and-citation": "/about/licence.md",
    "notebooks/": "/notebooks/index.md",
    "docs/use/artifact.md": "/use/artifact.md",
}
WIDGET = "application/vnd.jupyter.widget-view+json"
LINK = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")
# What the chooser asks for, by problem: figure, how it is labelled, and a first value. `near` is a share, asked in %.
ASKED = {
    "toposort": {"n": ("vertices", 1_000_000), "m": ("arcs", 4_000_000), "depth": ("layers", 1_000)},
    "sssp": {
        "n": ("vertices", 264_346), "m": ("arcs, each direction counted", 733_846), "largest": ("largest degree", 8),
        "near": ("arcs within a 128th of the ids, %", 60),
    },
    "coloring": {
        "n": ("vertices", 1_000_000), "m": ("arcs, each direction counted", 8_000_000),
        "largest": ("largest degree", 1_000),
    },
    "sgd": {
        "users": ("users", 100_000), "items": ("items", 20_000), "m": ("ratings", 10_000_000),
        "largest": ("ratings of the user or item with most", 5_000),
    },
    "swarm": {
        "graphs": ("graphs", 1_000), "n": ("vertices of all graphs", 100_000), "m": ("arcs of all graphs", 400_000),
    },
}  # fmt: skip


def gather(source):
    """Put the sources together in a folder of their own."""
    shutil.rmtree(source, ignore_errors=True)
    for pattern in PAGES:
        for file in HERE.glob(pattern):
            _copy(file, source / file.relative_to(HERE))
    for name in TEXTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        (source / "_text").mkdir(exist_ok=True)
        (source / "_text" / name).write_text(_linked(text, source), encoding="utf-8")
    for name in LITERAL:
        _copy(ROOT / name, source / name)
    for file in sorted((ROOT / "notebooks").glob("*.ipynb")):
        (source / "notebooks" / file.name).write_text(json.dumps(_shown(json.loads(file.read_text(encoding="utf-8")))))
    told = json.dumps(guide(), ensure_ascii=False)
    (source / "_static" / "rules.js").write_text(f"window.lockstepRules = {told};\n", encoding="utf-8")


def _copy(file, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _linked(text, source):
    """A text with its relative links led to pages, or to files that are copied beside them."""

    def place(match):
        target = match[1]
        if target not in PLACES and not target.startswith("#"):
            _copy(ROOT / target, source / target)
        return f"]({PLACES.get(target, f'/{target}')})"

    return LINK.sub(place, text)


def _shown(notebook):
    """A notebook without outputs that need a kernel; its figures have the heading that they stand under for a text."""
    heading = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            heading = (re.findall(r"^#+ (.*)", "".join(cell["source"]), re.MULTILINE) or [heading])[-1]
        if "outputs" in cell:
            cell["outputs"] = [one for one in cell["outputs"] if WIDGET not in one.get("data", ())]
            cell["metadata"]["mystnb"] = {"image": {"alt": f"Figure: {heading}"}}
    return notebook


def guide(rules=None):
    """What the chooser evaluates: the rules of data/rules.json with each leaf's condition and strategy in words.

    Parameters
    ----------
    rules : mapping, optional
        By default those of data/rules.json.

    Returns
    -------
    dict
        ``problems``: title, units and figures asked for; ``machines``: {machine: {problem: entry}}.
    """
    from lockstep import choose, paths
    from lockstep.choose import tree
    from lockstep.guide import PROBLEMS
    from lockstep.studies import table

    rules = rules or json.loads((paths.DATA / choose.FILE).read_text(encoding="utf-8"))

    def worded(found, problem, way=()):
        if "strategy" in found:
            what = table(problem)[found["strategy"]].what
            return {**found, "what": what, "condition": tree.condition(way, PROBLEMS[problem].units)}
        sides = {
            side: worded(found[side], problem, (*way, (found["feature"], found["threshold"], side == "high")))
            for side in ("low", "high")
        }
        return {**found, **sides}

    machines = {
        machine: {problem: {**one, "rule": worded(one["rule"], problem)} for problem, one in entries.items()}
        for machine, entries in rules.items()
    }
    problems = {
        name: {
            "title": problem.title,
            "note": problem.note,
            "units": dict(problem.units),
            "asked": [[figure, label, first] for figure, (label, first) in ASKED[name].items()],
        }
        for name, problem in PROBLEMS.items()
    }
    return {"problems": problems, "machines": machines}


def main(folder=None):
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        print(f"lockstep: the site needs {', '.join(absent)}; install them with: "
              f"{os.path.relpath(sys.executable)} -m pip install -e '.[site]'", file=sys.stderr)  # fmt: skip
        return 1
    from sphinx.cmd.build import main as sphinx

    folder = Path(folder or HERE / "_build").resolve()
    gather(folder / "source")
    shutil.rmtree(folder / "html", ignore_errors=True)
    words = ["-q", "-W", "--keep-going", "-j", "auto", "-b", "html", "-c", HERE, "-d", folder / "doctrees"]
    status = sphinx([*map(str, words), str(folder / "source"), str(folder / "html")])
    if not status:
        print(f"the site: {folder / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
