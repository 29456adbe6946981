"""The command line: data sets, this machine, the verdicts, and a user's own graph: sorted, colored, advised on.

Exit status: 0 done; 1 the answer is no (the graph has a cycle, a recording is stale); 2 it could not be tried
(wrong usage, unreadable input, no GPU). Results go to standard output, everything else to standard error.
"""

import argparse
import os
import sys
from pathlib import Path

STATUS = (
    "exit status: 0 done; 1 the answer is no (a cycle, a stale recording); 2 wrong usage or unreadable input"
)


def main(arguments=None) -> int:
    """Run the command line and return its exit status."""
    choice = _parser().parse_args(arguments)
    try:
        status = choice.run(choice)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of our output has seen enough. Python would complain once more when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        # Our own errors and those of files and values are written for people; another one is a defect, whose
        # place in the code matters.
        if not isinstance(error, ValueError | OSError) and not type(error).__module__.startswith("lockstep"):
            raise
        print(f"lockstep: {_one_line(error)}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    from lockstep import __doc__ as what
    from lockstep import __version__

    parser = argparse.ArgumentParser(prog="lockstep", description=what, epilog=STATUS)
    parser.add_argument("--version", action="version", version=f"lockstep {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name, run, text):
        new = commands.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + ".", epilog=STATUS
        )
        new.set_defaults(run=run)
        return new

    datasets = command(
        "datasets", _datasets, "what data sets are registered, present, missing, and from where"
    )
    datasets.add_argument("--output", metavar="CSV", type=Path, help="write the table to a file as well")
    machine = command("machine", _machine, "what this machine is, as recordings name it")
    machine.add_argument("--json", action="store_true", help="all facts as JSON")
    machine.add_argument("--name", action="store_true", help="only the name of its folder of results")
    claims = command("claims", _claims, "the papers' claims and their verdicts, for each recorded machine")
    claims.add_argument("--output", metavar="CSV", type=Path, help="write all verdicts to a file as well")
    sort = command("sort", _sort, "topological order of the graph in a file, one vertex a line")
    sort.add_argument("file", metavar="FILE", help="SNAP edge list, DIMACS .gr, Matrix Market or METIS, "
                      "also compressed")  # fmt: skip
    sort.add_argument("--strategy", default="auto", help="see lockstep.toposort.STRATEGIES (default: auto)")
    sort.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU (default: a GPU "
                      "if one answers)")  # fmt: skip
    sort.add_argument(
        "--output", metavar="FILE", type=Path, help="write the order there, not to standard output"
    )
    color = command("color", _color, "colors of the graph in a file, one vertex a line, neighbors differ")
    color.add_argument("file", metavar="FILE", help="as for sort; directed arcs are taken as edges")
    color.add_argument("--strategy", default="auto", help="see lockstep.coloring.STRATEGIES (default: auto)")
    color.add_argument("--switch", default="auto", help="for hybrid: an iteration, never, threshold, auto")
    color.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    color.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU")
    color.add_argument("--output", metavar="FILE", type=Path, help="write the colors there")
    paths = command("paths", _paths, "shortest distances from a vertex of the graph in a file, one vertex a line")
    paths.add_argument("file", metavar="FILE", help="as for sort; without weights every arc counts 1")
    paths.add_argument("--source", type=int, required=True, help="the vertex to start from, numbered from 0")
    paths.add_argument("--strategy", default="auto", help="see lockstep.sssp.STRATEGIES (default: auto)")
    paths.add_argument("--delta", type=float, help="width of a bucket (default: the strategy's choice)")
    paths.add_argument("--layers", type=int, default=2, help="of semaphores (default: 2)")
    paths.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU")
    paths.add_argument("--output", metavar="FILE", type=Path, help="write the distances there")
    fit = command("factorize", _factorize, "vectors of users and items from the ratings in a file, error by sweep")
    fit.add_argument("file", metavar="FILE", help="CSV user,item,rating or lists user item item ...")
    fit.add_argument("--strategy", default="auto", help="see lockstep.sgd.STRATEGIES (default: auto)")
    fit.add_argument("--rank", type=int, default=16, help="length of a vector (default: 16)")
    fit.add_argument("--sweeps", type=int, default=10, help="over all ratings (default: 10)")
    fit.add_argument("--learning-rate", type=float, default=0.01, help="default: 0.01")
    fit.add_argument("--regularization", type=float, default=0.02, help="default: 0.02")
    fit.add_argument("--seed", type=int, default=0, help="of the first vectors and of shuffles (default: 0)")
    fit.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU")
    fit.add_argument("--output", metavar="NPZ", type=Path, help="write the arrays users and items there")
    guide = command("advise", _advise, "which strategy to choose for the graph in a file, what it gains, and why")
    guide.add_argument("file", metavar="FILE", nargs="+", help="as for sort; several files are a batch of graphs")
    guide.add_argument("--ratings", action="store_true", help="the file holds ratings, as for factorize")
    guide.add_argument("--batch", action="store_true", help="the file holds a batch of graphs, as for swarm")
    guide.add_argument("--machine", metavar="NAME", help="a recorded machine, or the beginning of its name (default: "
                       "this one if it is recorded, else the recorded one)")  # fmt: skip
    rank = command("compare", _compare, "all strategies of a study on the graph in a file: timed or counted, ranked")
    rank.add_argument("study", metavar="STUDY", help="toposort, sssp, coloring, sgd or swarm, or the study's number")
    rank.add_argument("file", metavar="FILE", help="as for sort; for sgd ratings, for swarm a batch")
    rank.add_argument("--strategies", metavar="A,B,...", help="only these (default: all but auto)")
    rank.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU")
    rank.add_argument("--rounds", type=int, default=3, help="timed runs, of which the median counts (default: 3)")
    rank.add_argument("--seconds", type=float, help="longest time of a strategy (default: 60; 20 without a GPU)")
    rank.add_argument("--source", type=int, help="of sssp (default: a vertex with most arcs)")
    rank.add_argument("--rank", type=int, help="of sgd (default: 16)")
    rank.add_argument("--measure", help="of swarm (default: betweenness)")
    rank.add_argument("--plot", metavar="FILE", type=Path, help="draw the ranking: .svg, .pdf or .png")
    rank.add_argument("--output", metavar="CSV", type=Path, help="write the table there as well")
    batch = command("swarm", _swarm, "a measure of every graph of a batch, written to a folder of Parquet files")
    batch.add_argument("input", metavar="INPUT", help="folder of shards (.arrow, .parquet) or of files with one graph "
                       "each, one such file, a TU archive, or a registered batch such as PROTEINS")  # fmt: skip
    batch.add_argument("--measure", default="betweenness", help="see lockstep.swarm.MEASURES (default: betweenness)")
    batch.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help="of the measure; repeatable")
    batch.add_argument("--out", metavar="DIR", required=True, help="folder for the results; a killed run goes on there")
    batch.add_argument("--strategy", default="auto", help="see lockstep.swarm.STRATEGIES (default: auto)")
    batch.add_argument("--executor", choices=["cuda", "host"], help="GPU or hypothetical GPU")
    batch.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler whose workers compute")
    batch.add_argument("--workers", type=int, metavar="N", help="a Dask cluster made here, one worker a GPU")
    batch.add_argument("--keep", choices=["values", "checksums"], default="values", help="what is written of a graph")
    batch.add_argument("--bad", choices=["skip", "refuse"], default="skip", help="graphs that cannot be used")
    batch.add_argument("--max-vertices", type=int, default=2**31 - 1, metavar="N", help="a larger graph is among those")
    batch.add_argument("--undirected", action="store_true", help="a line of a graph's file is an edge, not an arc")
    return parser


def _datasets(choice) -> int:
    from lockstep.graphs import datasets
    from lockstep.graphs.registry import PLACED

    table = datasets()
    _save(table, choice.output)
    width = table["name"].str.len().max()
    for row in table.itertuples():
        how = row.how.replace(PLACED, "") if row.status == "missing" else row.source
        print(f"{row.name:<{width}}  {row.status:<8}  {how}")
    missing = (table["status"] == "missing").sum()
    print(f"\n{len(table)} registered, {len(table) - missing} at hand, {missing} missing")
    if missing:
        print(f"A file is fetched when it is asked for and the network is there; by hand: fetch it{PLACED}.")
    return 0


def _machine(choice) -> int:
    from lockstep.evidence import describe_machine
    from lockstep.machine import why_no_gpu

    facts = describe_machine()
    if choice.name:
        print(facts["name"])
        return 0
    if choice.json:
        import json

        print(json.dumps(facts, indent=1))
        return 0
    reason = why_no_gpu()
    facts = {**facts, "executor": "cuda" if reason is None else f"host ({reason})"}
    for name, value in facts.items():
        print(f"{name:<12}{'none' if value is None else value}")
    return 0


def _claims(choice) -> int:
    from lockstep.evidence import claims
    from lockstep.studies import PACKAGES, digests

    present = {study: digests(study) for study in PACKAGES}
    found = claims.summary(digests={study: digest for study, digest in present.items() if digest})
    _save(found.verdicts, choice.output)
    print(found.text)
    return found.code


def _sort(choice) -> int:
    from lockstep.graphs import read
    from lockstep.toposort import CycleError, topological_sort

    try:
        result = topological_sort(read(choice.file), strategy=choice.strategy, executor=choice.executor)
    except CycleError as error:
        print(f"lockstep: {choice.file}: {_one_line(error)}", file=sys.stderr)
        return 1
    reason = result.stats.get("reason")
    how = f"sorted by {result.strategy}" + (f" ({reason})" if reason else "")
    layers = f"{result.order.size:,} vertices in {result.depth:,} layers"
    print(f"{choice.file}: {layers}, {how}", file=sys.stderr)
    _write(result.order, choice.output)
    return 0


def _color(choice) -> int:
    import warnings

    from lockstep.coloring import color
    from lockstep.graphs import read

    switch = int(choice.switch) if choice.switch.lstrip("-").isdigit() else choice.switch
    options = {"strategy": choice.strategy, "switch": switch, "seed": choice.seed, "executor": choice.executor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes below say the same in one line
        result = color(read(choice.file), **options)
    told = [*result.stats.get("notes", ()), *([result.stats["reason"]] if "reason" in result.stats else ())]
    how = f"colored by {result.strategy}" + (f" ({'; '.join(told)})" if told else "")
    print(f"{choice.file}: {result.colors.size:,} vertices, {result.count:,} colors, {how}", file=sys.stderr)
    _write(result.colors, choice.output)
    return 0


def _paths(choice) -> int:
    import numpy as np

    from lockstep.graphs import read
    from lockstep.sssp import STRATEGIES, shortest_paths

    options = {"strategy": choice.strategy, "delta": choice.delta, "layers": choice.layers}
    result = shortest_paths(read(choice.file), choice.source, executor=choice.executor, **options)
    reached = result.distances[np.isfinite(result.distances)]
    reason = result.stats.get("reason")
    how = f"by {result.strategy}" + (f" ({reason})" if reason else "")
    if not STRATEGIES[result.strategy].exact:
        how += "; this strategy may give wrong distances, checked does not"
    found = f"{reached.size:,} of {result.distances.size:,} vertices reached, the farthest at {reached.max():g}"
    print(f"{choice.file}: {found}, {how}", file=sys.stderr)
    whole = (reached == np.floor(reached)).all() and reached.max() < 2**53
    lines = [int(d) if whole and np.isfinite(d) else d for d in result.distances.tolist()]
    _write(np.array(lines, object), choice.output)
    return 0


def _factorize(choice) -> int:
    import numpy as np

    from lockstep.graphs import read_ratings
    from lockstep.sgd import factorize

    names = ("strategy", "rank", "sweeps", "seed", "learning_rate", "regularization", "executor")
    result = factorize(read_ratings(choice.file), **{name: getattr(choice, name) for name in names})
    reason = result.stats.get("reason")
    how = f"by {result.strategy}" + (f" ({reason})" if reason else "")
    print(f"{choice.file}: {result.users.shape[0]:,} users, {result.items.shape[0]:,} items, {how}", file=sys.stderr)
    for sweep, error in enumerate(result.rmse, 1):
        print(f"sweep {sweep}: RMSE {error:.4f}")
    if choice.output:
        np.savez_compressed(choice.output, users=result.users, items=result.items)
    return 0


def _advise(choice) -> int:
    from lockstep.graphs import read, read_ratings
    from lockstep.guide import advise

    if choice.ratings:
        from lockstep.sgd import Ratings

        graphs = [Ratings.of(read_ratings(file)) for file in choice.file]
    elif choice.batch:
        from lockstep.swarm import GraphBatch

        graphs = [GraphBatch(file) for file in choice.file]
    else:
        graphs = [read(file) for file in choice.file]
    if len(graphs) > 1 and (choice.ratings or choice.batch):
        raise ValueError("--ratings and --batch take one file")
    print(advise(graphs if len(graphs) > 1 else graphs[0], machine=choice.machine))
    return 0


def _compare(choice) -> int:
    from lockstep import compare
    from lockstep.graphs import read, read_ratings

    package = compare.study_of(choice.study)
    if choice.plot and choice.plot.suffix not in (".svg", ".pdf", ".png"):
        raise ValueError(f"--plot {choice.plot}: name a file that ends in .svg, .pdf or .png")
    if package == "sgd":
        from lockstep.sgd import Ratings

        graph = Ratings.of(read_ratings(choice.file))
    elif package == "swarm":
        from lockstep.swarm import GraphBatch
        from lockstep.swarm.pack import join

        graph = join(list(GraphBatch(choice.file)))
    else:
        graph = read(choice.file)
    options = {key: getattr(choice, key) for key in ("source", "rank", "measure") if getattr(choice, key) is not None}
    found = compare.compare(
        package, graph, choice.strategies.split(",") if choice.strategies else None, choice.executor, choice.rounds,
        choice.seconds, lambda line: print(line, file=sys.stderr), **options,
    )  # fmt: skip
    print(compare.told(found))
    _save(found, choice.output)
    if choice.plot:
        import matplotlib

        matplotlib.use("Agg")
        choice.plot.parent.mkdir(parents=True, exist_ok=True)
        compare.picture(found).savefig(choice.plot)
    return 0 if found["verified"].notna().any() else 1


def _swarm(choice) -> int:
    from lockstep.swarm.command import main

    return main(choice)


def _write(numbers, file):
    """One number a line, to a file or to standard output."""
    text = "".join(f"{number}\n" for number in numbers.tolist())
    if file:
        file.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def _save(table, output) -> None:
    """Write a table where the user asked for it; a rule's output must appear whole or not at all."""
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        scratch = output.with_name(output.name + ".new")
        table.to_csv(scratch, index=False, lineterminator="\n")
        scratch.replace(output)


def _one_line(error) -> str:
    return " ".join(str(error).split()) or type(error).__name__
