"""What orders the threads of each kernel, taken away word by word: is it missed?

python tests/studies/orders.py             every word of every kernel, some twenty minutes
python tests/studies/orders.py chaotic     of the kernel files whose name holds a word

A word is a barrier, a fence, a release or an acquire; a mutant has it weakened or left out. All strategies that load
the file run on small inputs with races looked for, and their results are checked. A mutant that nothing stops is
printed as living: the word is not needed there, or not by these inputs, or the kernel may race by design (`KNOWN`).
"""

import collections
import functools
import itertools
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np

from lockstep import plan
from lockstep.graphs import generators
from lockstep.machine import KernelError, get_executor, source
from lockstep.sgd.strategies import offline
from lockstep.studies import table

BUDGET = 200_000  # turns after which a mutant counts as stopped by a livelock
SECONDS = 120  # and after which it counts as stopped in any case
STUDIES = ("toposort", "sssp", "coloring", "sgd", "swarm")
WEAKER = {
    r"\bload_acquire\(": "load_relaxed(", r"\bstore_release\(": "store_relaxed(", r"__threadfence(_block)?\(\);": ";",
    r"\bfence_(gpu|block)\(\);": ";", r"__syncwarp\(\);": ";", r"__syncthreads\(\);": ";",
    r"\bgrid_barrier\(\w+\);": "__syncthreads();",
}  # fmt: skip
READS = "plain reads of words that atomics of others lower: a larger value is looked at again"
ROUND = "plain reads of the round in which a neighbor was colored: a later one is none yet"
VOTE = "a place of a warp's list is written after a vote that took what was read there: by data, not by a barrier"
SAME = "threads that find a vertex write the same 1"
KNOWN = {  # {study/strategy: (races that are looked for, why not all; where those that remain are)}
    **dict.fromkeys(("sssp/near-far", "sssp/cluster", "sssp/asynchronous"), ("plain", READS, None)),
    **dict.fromkeys([f"coloring/{name}" for name in ("randomized", "stealing", "hybrid", "degree", "staying", "queues",
                                                     "smallest", "largest")], ("plain", ROUND, None)),
    **dict.fromkeys([f"coloring/{name}" for name in ("waiting", "early", "emptying")],
                    ("plain", VOTE, "shared|control")),
    "sgd/hogwild": ("plain", "it races by design", "vectors"),
    **dict.fromkeys(("swarm/level", "swarm/packed"), ("plain", SAME, "found")),
    "swarm/alone": ("plain", "the last block puts a counter back that the others have counted up", "arrived"),
}  # fmt: skip

# Further options, of a study or a strategy: several threads an edge, as on a GPU; a kernel that is not chosen; two
# warps that take locks, where the first one moves the users.
OTHERWISE = {
    "sgd": [{"lanes": 2}],
    "sgd/tiles": [{"users": "fetched", "threads": 64, "lanes": 2, "each": 2},
                  {"users": "resident", "threads": 96, "lanes": 2}],
}  # fmt: skip


@functools.cache
def problems(study):
    """Small inputs, of one block and of several."""
    of = import_module(f"lockstep.{study}").Problem.of
    if study == "toposort":
        return [of(generators.random_dag(60, 150, seed=1)), of(generators.disjoint_paths(60, 12, seed=1)),
                of(generators.random_dag(900, 2700, seed=1)), of(generators.layered(900, 9, seed=2))]  # fmt: skip
    if study == "sssp":
        graphs = [generators.erdos_renyi(n, 3 * n, seed=1) for n in (60, 900)] + [generators.road_like(900)]
        return [of(generators.with_weights(graph), source=0) for graph in graphs]
    if study == "coloring":
        return [of(generators.rmat(6, 200, seed=1)), of(generators.erdos_renyi(700, 2100, seed=1)),
                of(generators.rmat(9, 1500, seed=1))]  # fmt: skip
    if study == "sgd":
        from lockstep.sgd import Ratings

        random, made = np.random.default_rng(1), []
        for users, items in ((60, 40), (150, 5)):  # items of few ratings, and of more than first-fit gives one thread
            places = random.permutation(users * items)[:500]
            rated = Ratings(places // items, places % items, random.random(500) + 1, (users, items))
            made.append(of(rated, rank=8))
        return made
    batch = [nx.path_graph(5), nx.Graph(nx.karate_club_graph().edges), nx.star_graph(4)]
    weighted = [generators.with_weights(generators.erdos_renyi(20, 60, seed=1))]
    directed = [nx.gnp_random_graph(12, 0.2, directed=True, seed=1)]
    measures = ("betweenness", "closeness", "apsp", "components", "triangles", "pagerank", "walks")
    return [*(of(batch, measure=name) for name in measures), *(of(weighted, measure=name) for name in measures[1:3]),
            *(of(directed, measure=name) for name in ("strong", "pagerank"))]  # fmt: skip


def folder(study):
    """Where its kernels are."""
    return Path(import_module(f"lockstep.{study}").__file__).parent / "strategies"


def strategies(study):
    return [name for name, one in table(study).items() if one.gpu and one.family != plan.CHOICE]


def run(study, name, seeds=(1, 2)):
    """Run a strategy on all of a study's inputs with races looked for; returns the kernel files that it loaded.

    Raises
    ------
    KernelError, WrongResult
        What is wrong.
    """
    races, loaded, strategy = KNOWN.get(f"{study}/{name}", ("all",))[0], set(), table(study)[name]
    paste = source.paste
    ways = [{}, *OTHERWISE.get(study, []), *OTHERWISE.get(f"{study}/{name}", [])]

    def noted(path, marks=True):
        loaded.add(Path(path).name)
        return paste(path, marks)

    first_fit_on_device = mock.patch.object(offline.Offline, "on_device", lambda made: True)  # as on a GPU
    with mock.patch.object(source, "paste", noted), first_fit_on_device, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for problem, seed, options in itertools.product(problems(study), seeds, ways):
            how = {"fuzz": "memory", "multiprocessors": 2, "races": races, "budget": BUDGET}
            executor = get_executor("host", seed=seed, **how)
            try:
                made = strategy.plan_for(problem, executor, **options)
            except ValueError as error:
                if isinstance(error, plan.Skip) or "takes no weights" in str(error):
                    continue
                raise
            made.reset()
            made.verify(made.run())
            if study == "sgd":
                made.rmse()
    return loaded


def mutants():
    """(study, file, what, mutated text by path) of every word that orders something, in kernels' own text."""
    for study in STUDIES:
        for path in sorted(folder(study).glob("*.cu*")):
            text = path.read_text(encoding="utf-8")
            code = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), text)  # words in comments order nothing
            for pattern, weaker in WEAKER.items():
                for found in re.finditer(pattern, code):
                    line = text.count("\n", 0, found.start()) + 1
                    other = text[: found.start()] + weaker + text[found.end() :]
                    yield study, path, f"{path.name}:{line}: {found[0]}", other


def stopped(study, path, text, names):
    """By what a strategy notices that a kernel file's text is another one; an empty text if none does."""
    read = Path.read_text

    def replaced(self, *args, **kwargs):
        return text if self == path else read(self, *args, **kwargs)

    with mock.patch.object(Path, "read_text", replaced):
        for name in names:
            try:
                run(study, name)
            except (KernelError, AssertionError, ValueError) as error:
                return f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:110]}"
    return ""


def apart(number, names):
    """The same of a mutant by its number, in a process of its own, which it may take down."""
    command = [sys.executable, __file__, "--only", str(number), *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS} s"
    if done.returncode > 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip() if done.returncode == 0 else f"process ended by signal {-done.returncode}"


def users():
    """{(study, kernel file): strategies that load it}, of those without a known race of plain writes."""
    found = {}
    for study in STUDIES:
        for name in strategies(study):
            if KNOWN.get(f"{study}/{name}", ("", "", None))[2] is None:
                for file in run(study, name):
                    found.setdefault((study, file), []).append(name)
    return found


def main(word=""):
    known, every = users(), list(mutants())

    def judged(number):
        study, path, what, _ = every[number]
        names = known.get((study, path.name), [])
        if path.suffix == ".cuh":  # whoever includes it
            names = sorted({name for (where, _), some in known.items() if where == study for name in some})
        return what, apart(number, names) if names else None

    with ThreadPoolExecutor(2) as pool:
        chosen = [number for number, (_, path, _, _) in enumerate(every) if word in path.name]
        count = collections.Counter()
        for what, by in pool.map(judged, chosen):
            verdict = "not run" if by is None else "stopped" if by else "LIVES"
            count[verdict] += 1
            print(f"{verdict:<8}{what}  {by or ''}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in count.items()))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--only"]:
        mutated = list(mutants())[int(sys.argv[2])]
        print(stopped(mutated[0], mutated[1], mutated[3], sys.argv[3:]))
    else:
        main(*sys.argv[1:])
