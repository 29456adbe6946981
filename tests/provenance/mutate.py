"""Mutations of the library, one at a time in a copy: which strategies go stale, and do no others?

python tests/provenance/mutate.py            all of them, some five minutes
python tests/provenance/mutate.py chaotic    those whose file or text holds a word
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What today's code of each study comes to: digests of device, host and protocol by label, of data by data set.
PROBE = """
import json, sys
from lockstep import paths
from lockstep.provenance import builds, protocol
builds._folders = lambda: [paths.RECORDINGS]  # not what was measured here
found = {}
for study, package in builds.PACKAGES.items():
    for strategy in dict.fromkeys(who for where, who in builds.known() if where == study):
        now = builds.present(study, strategy, DATA[package])
        if now:
            found[f"{package}/{strategy}"] = [now[0].device, now[0].host]
    found[f"{package}/protocol"] = protocol.trees(study)
for package, dataset in SETS:
    study = next(name for name, one in builds.PACKAGES.items() if one == package)
    label = {"toposort": "serial", "sssp": "dijkstra", "coloring": "greedy", "sgd": "serial", "swarm": "cpu"}[package]
    found[f"data {package}/{dataset}"] = builds.present(study, label, dataset)[0].data
print(json.dumps(found))
"""
DATA = {"machine": "machine", "sgd": "twin-CAL", "sssp": "road-like-4096", "toposort": "layered-1e3-10-random",
        "coloring": "rmat-12", "swarm": "benchmark-10"}  # fmt: skip
SETS = [("toposort", "layered-1e3-10-random"), ("toposort", "erdos-renyi-1e3-1e5-0"),
        ("toposort", "wavefront-9-9-random"),
        ("toposort", "ego-Facebook"), ("sssp", "road-like-4096"), ("sssp", "rmat-9"), ("sssp", "ego-Facebook"),
        ("coloring", "rmat-12"), ("coloring", "erdos-renyi-2e4"), ("coloring", "road-like-1e5"), ("sgd", "twin-CAL"),
        ("sgd", "star-4"), ("sgd", "gowalla"), ("swarm", "benchmark-10"), ("swarm", "rmat-14")]  # fmt: skip


# [file, old text, new text, what goes stale]: labels of strategies (`every`: all that launch kernels; `sgd/every`: of
# that study), `data ...` of a data set, `sgd/protocol`: the study's rows, once a person raises the number asked for.
MUTATIONS = json.loads(Path(__file__).with_name("mutations.json").read_text(encoding="utf-8"))


def probe(lib):
    """What the library in a folder comes to."""
    code = f"DATA = {DATA!r}\nSETS = {SETS!r}\n{PROBE}"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(lib), "LOCKSTEP_ROOT": str(ROOT),
                               "PYTHONDONTWRITEBYTECODE": "1"})  # fmt: skip
    if told.returncode:
        raise RuntimeError(told.stderr[-2000:])
    return json.loads(told.stdout)


def copy(folder):
    """A copy of the library that mutations may be made in."""
    shutil.copytree(ROOT / "lib", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def changed(lib, before, *replaced):
    """What goes stale when texts are replaced: (file, old, new) each."""
    kept = {lib / "lockstep" / file: (lib / "lockstep" / file).read_text(encoding="utf-8") for file, _, _ in replaced}
    try:
        for file, old, new in replaced:
            path = lib / "lockstep" / file
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                times = text.count(old)
                raise ValueError(f"{file} holds {times} times {old!r}; a mutation needs a text that is there once")
            path.write_text(text.replace(old, new), encoding="utf-8")
        after = probe(lib)
    finally:
        for path, text in kept.items():
            path.write_text(text, encoding="utf-8")
    return {name for name in before if before[name] != after[name]}


def meant(expected, before):
    """The labels that a list of expected ones stands for: a tuned one, `near-far@threads=64`, goes with its default."""
    launched = {name for name, what in before.items() if isinstance(what, list) and what[0]}
    every = {f"{package}/every": {name for name in launched if name.startswith(f"{package}/")} for package in DATA}
    found = set(expected) - {"every", *every}
    found |= {name for name in before if name != (default := _default(name)) and default in found}
    return found.union(*(every[name] for name in expected if name in every), launched if "every" in expected else ())


def _default(label):
    """A label without its threads; `semaphores@layers=2` is recorded as `semaphores-2`."""
    return re.sub(r"@layers=(\d+)$", r"-\1", re.sub(r"[@,]threads=\d+", "", label))


def run(mutations, say=print):
    """Make each mutation in a copy; the number of those that made others stale than they should."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        lib = copy(Path(folder, "lib"))
        before = probe(lib)
        for file, old, new, expected in mutations:
            found = changed(lib, before, (file, old, new))
            expected = meant(expected, before)
            right = found == expected
            wrong += not right
            say(f"{'right' if right else 'WRONG'}  {file}: {old!r} -> {new!r}: {len(found)} stale")
            if not right:
                say(f"    missing: {sorted(expected - found)}\n    too many: {sorted(found - expected)}")
    return wrong


def main(run, mutations):
    """Run the mutations whose file or text holds a word of the command line, or all; exit with 1 if one is wrong."""
    words = sys.argv[1:]
    sys.exit(bool(run([one for one in mutations if not words or any(w in part for w in words for part in one[:3])])))


if __name__ == "__main__":
    main(run, MUTATIONS)
