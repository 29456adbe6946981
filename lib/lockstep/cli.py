"""The command line: what there is to type, and what becomes of errors.

Exit status: 0 done; 1 the answer is no (the graph has a cycle, a recording is stale); 2 it could not be tried
(wrong usage, unreadable input, no GPU); 3 a cluster was lost, and the same command goes on. Results go to standard
output, everything else to standard error.
"""

import argparse
import os
import shlex
import sys
from importlib import import_module
from pathlib import Path

from lockstep import commands, output, studies

STATUS = ("exit status: 0 done; 1 the answer is no (a cycle, no path, a stale recording); 2 wrong usage or unreadable "
          "input; 3 a cluster was lost, and the same command goes on")  # fmt: skip
GRAPH = ("graph: edge list (SNAP, CSV; ids or names), DIMACS .gr, Matrix Market or METIS, also compressed; - for "
         "standard input; or a registered one's name")  # fmt: skip
IDS = ("Vertices are numbered from 0: DIMACS, Matrix Market and METIS files, which begin with 1, one less than there. "
       "Names stay names: a line is then the name, a tab and the value; of an order or a path, the name.")  # fmt: skip


EXTRAS = {  # what a command may need that `pip install lockstep` does not bring, and the extra that does
    **dict.fromkeys(("matplotlib", "seaborn", "typst", "snakemake", "papermill", "nbformat"), "compendium"),
    **dict.fromkeys(("ipywidgets", "jupyterlab"), "lab"), **dict.fromkeys(("dask", "distributed"), "cluster"),
    **dict.fromkeys(("igraph", "rustworkx"), "peers"),
}  # fmt: skip


def main(arguments=None) -> int:
    """Run the command line and return its exit status."""
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe. With /dev/null as stdout, Python's flush at exit does not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments):
    """Parse and run a command, with a line for each error that is the user's to mend."""
    args = parser().parse_args(arguments)
    args.typed = shlex.join(["lockstep", *arguments])
    try:
        output.configure_logging(args)
        output.check_writable(args)
        with output.warnings_logged():
            return args.run(args)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return 130
    except MemoryError as error:
        from lockstep.graphs import GraphError
        from lockstep.graphs.memory import SETTING

        reason = f"the memory does not suffice ({error or 'none is left'})"
        told = GraphError(f"{reason}; a lower {SETTING} refuses such graphs before they are tried")
        print(f"lockstep: {output.error_line(told, args)}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        print(f"lockstep: {library} is not installed; it comes with: pip install 'lockstep[{EXTRAS[library]}]'",
              file=sys.stderr)  # fmt: skip
        return 2
    except Exception as error:
        # The package's errors, OSError and ValueError have messages for users; any other is a defect and keeps
        # its traceback.
        if not isinstance(error, ValueError | OSError) and not type(error).__module__.startswith("lockstep"):
            raise
        print(f"lockstep: {output.error_line(error, args)}", file=sys.stderr)
        output.log.debug("as follows:", exc_info=True)
        return 1 if hasattr(error, "cycle") else getattr(error, "status", 2)


class _Listed(argparse.Action):
    """A name from a table returned by `table()`; the value `list` prints all names with a description and exits."""

    def __init__(self, *words, table, says, **options):
        about = f"`list` prints those that there are (default: {options['default']})"
        super().__init__(*words, metavar="NAME", help=about, **options)
        self.table, self.says = table, says

    def __call__(self, parser, namespace, value, option=None):
        if value != "list":
            setattr(namespace, self.dest, value)
            return
        table = self.table()
        also = {name: f" (or {term})" for term, name in getattr(table, "terms", {}).items()}
        width = max(map(len, table))
        print(
            *(f"{key:<{width}}  {getattr(entry, self.says)}{also.get(key, '')}" for key, entry in table.items()),
            sep="\n",
        )
        parser.exit()


class _Setting(argparse.Action):
    """NAME=VALUE, collected in a dict; a name may be given once."""

    def __call__(self, parser, namespace, value, option=None):
        name, equals, text = value.partition("=")
        held = getattr(namespace, self.dest)
        if not (name and equals):
            parser.error(f"argument {option}: {value!r}; expected NAME=VALUE")
        if name in held:
            parser.error(f"argument {option}: {name} is given twice, as {held[name]!r} and {text!r}")
        setattr(namespace, self.dest, {**held, name: text})


def parser() -> argparse.ArgumentParser:
    from lockstep import __doc__ as what
    from lockstep import __version__

    parser = argparse.ArgumentParser(prog="lockstep", description=what, epilog=STATUS)
    parser.add_argument("--version", action="version", version=f"lockstep {__version__}")
    known = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name, run, text, ids=False):
        about = f"{text[0].upper()}{text[1:]}.{' ' + IDS if ids else ''}"
        new = known.add_parser(name, help=text, description=about, epilog=STATUS)
        new.set_defaults(run=run)
        told = new.add_mutually_exclusive_group()
        told.add_argument("-q", "--quiet", action="store_true", help="on standard error warnings and errors alone")
        told.add_argument("-v", "--verbose", action="store_true", help="also how long each step took, and where an "
                          "error arose")  # fmt: skip
        return new

    _about_a_graph(command)
    _of_a_graph(command)
    _of_a_batch(command)
    claims = command("claims", commands.claims, "the papers' claims and their verdicts, for each recorded machine")
    claims.add_argument("--study", metavar="NAME", help="only of a study: 3-toposort-depth, or toposort")
    claims.add_argument("--claim", metavar="ID", help="only a claim, a part or a paper: D4, D4a, D")
    claims.add_argument("--machine", metavar="NAME", help="only on a machine, or those whose names begin so")
    claims.add_argument("--verdict", metavar="WORD", help="only those that hold, fail, are undecided, ...")
    claims.add_argument("--output", metavar="CSV", type=Path, help="write these verdicts to a file as well")
    claims.add_argument("--json", action="store_true", help="a record for each part, as JSON")
    _provenance(command)
    text = "what data sets are registered, present, missing, and from where"
    datasets = command("datasets", commands.datasets, text)
    text = "get this one, check it and keep it; repeatable"
    datasets.add_argument("--fetch", metavar="NAME", action="append", default=[], help=text)
    datasets.add_argument("--output", metavar="CSV", type=Path, help="write the table to a file as well")
    datasets.add_argument("--json", action="store_true", help="a record for each data set, as JSON")
    machine = command("machine", commands.machine, "what this machine is, as recordings name it")
    form = machine.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all facts as JSON")
    form.add_argument("--name", action="store_true", help="only the name of its folder of results")
    text = "a script that completes commands, options and names of strategies in a shell"
    completion = command("completion", commands.completion, text)
    completion.add_argument("shell", choices=["bash", "zsh"], help="for instance: eval \"$(lockstep completion bash)\"")
    schema = command("schema", commands.schema, "what another command writes with --json, as JSON Schema")
    schema.add_argument("command", metavar="COMMAND", help="sort, paths, color, factorize, swarm, advise, ...")
    return parser


def _provenance(command):
    """Command `provenance` and its tasks `lock`, `confirm` and `protocol`."""
    provenance = command("provenance", commands.provenance, "which recorded rows are stale, and what has changed")
    provenance.set_defaults(task="show", studies=[], why="", same=False, prove=False)
    provenance.add_argument("--json", action="store_true", help="rows, stale rows and what changed, as JSON")
    provenance.add_argument("--strict", action="store_true", help="exit with 1 if a row is stale or changed by "
                            "hand, or a study's protocol undecided")  # fmt: skip
    tasks = provenance.add_subparsers(title="tasks", metavar="TASK", dest="task")
    text = "compile kernels whose text the lock does not hold, and write the lock"
    lock = tasks.add_parser("lock", help=text, description=f"{text[0].upper()}{text[1:]}.")
    lock.add_argument("--prove", action="store_true", help="compile all kernels and compare them with the lock instead")
    text = "say that host code of another shape does the same: what a trace and its literals bear out"
    confirm = tasks.add_parser("confirm", help=text, description=f"{text[0].upper()}{text[1:]}.")
    confirm.add_argument("strategies", metavar="STRATEGY", nargs="*", help="or STUDY/STRATEGY (default: all stale)")
    confirm.add_argument("--why", required=True, metavar="TEXT", help="the reason, kept in the table")
    text = "say that how a study's runs are timed, ordered, verified or derived from has changed"
    protocol = tasks.add_parser("protocol", help=text, description=f"{text[0].upper()}{text[1:]}.")
    protocol.add_argument("studies", metavar="STUDY", nargs="+", help="as its notebook is called: 3-toposort-depth")
    protocol.add_argument("--why", required=True, metavar="TEXT", help="the reason, kept in the table")
    protocol.add_argument("--same", action="store_true", help="it means the same: the number stays, no row goes stale")


def _about_a_graph(command):
    """Commands `advise` and `compare`."""
    text = "which strategy to choose for the graph in a file, what it gains, and why"
    advise = command("advise", commands.advise, text)
    advise.add_argument("file", metavar="FILE", nargs="+", help=f"{GRAPH}; several files are a batch")
    _reading(advise)
    advise.add_argument("--ratings", action="store_true", help="the file holds ratings, as for factorize")
    advise.add_argument("--batch", action="store_true", help="the file holds a batch of graphs, as for swarm")
    advise.add_argument("--machine", metavar="NAME", help="a recorded machine, or the beginning of its name (default: "
                        "this one if it is recorded, else the GPU with the largest first recording)")  # fmt: skip
    advise.add_argument("--json", action="store_true", help="features, choices, reasons and gains as one JSON object")

    text = "all strategies of a study on the graph in a file: timed or counted, ranked"
    compare = command("compare", commands.compare, text)
    compare.add_argument("study", metavar="STUDY", help="toposort, sssp, coloring, sgd or swarm, or the study's number")
    compare.add_argument("file", metavar="FILE", help=f"{GRAPH}; for sgd ratings, for swarm a batch")
    _reading(compare)
    compare.add_argument("--strategies", metavar="A,B,...", help="only these (default: all but auto)")
    _executor(compare)
    compare.add_argument("--rounds", type=int, default=3, help="timed runs, of which the median counts (default: 3)")
    told = "longest time of a strategy, its compilation included (default: 60; 20 without a GPU)"
    compare.add_argument("--seconds", type=float, help=told)
    compare.add_argument("--source", help="of sssp (default: a vertex with most arcs)")
    compare.add_argument("--rank", type=int, help="of sgd (default: 16)")
    compare.add_argument("--measure", help="of swarm (default: betweenness)")
    compare.add_argument("--plot", metavar="FILE", type=Path, help="draw the ranking: .svg, .pdf or .png")
    compare.add_argument("--output", metavar="CSV", type=Path, help="write the table there as well")
    compare.add_argument("--json", action="store_true", help="a record for each strategy, as JSON")


def _of_a_graph(command):
    """Commands `sort`, `paths`, `color` and `factorize`."""
    sort = command("sort", commands.sort, "topological order of the graph in a file, one vertex a line", ids=True)
    sort.add_argument("file", metavar="FILE", help=GRAPH)
    _solver(sort, "toposort", "order")

    text = "shortest distances from a vertex of the graph in a file, one vertex a line"
    paths = command("paths", commands.paths, text, ids=True)
    paths.add_argument("file", metavar="FILE", help=f"{GRAPH}; without weights every arc counts 1")
    paths.add_argument("--source", required=True, metavar="VERTEX", help="where to start: a number from 0, or a name")
    paths.add_argument("--target", metavar="VERTEX", help="print the vertices of a shortest path to this one instead")
    buckets = "width of a bucket, of strategies that have buckets (default: their own)"
    paths.add_argument("--delta", type=float, help=buckets)
    paths.add_argument("--layers", type=int, help="of semaphores (default: 2)")
    _solver(paths, "sssp", "distances")

    text = "colors of the graph in a file, one vertex a line, neighbors differ"
    color = command("color", commands.color, text, ids=True)
    color.add_argument("file", metavar="FILE", help=f"{GRAPH}; directed arcs are taken as edges")
    switches = "for hybrid: an iteration, never, threshold, threshold:COUNT, auto (default)"
    color.add_argument("--switch", default="auto", help=switches)
    loops = "arcs from a vertex to itself: ignore them with a warning (default) or refuse the graph"
    color.add_argument("--loops", choices=("ignore", "refuse"), default="ignore", help=loops)
    color.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    _solver(color, "coloring", "colors")

    text = "vectors of users and items from the ratings in a file, error by sweep"
    fit = command("factorize", commands.factorize, text)
    text = "CSV user,item,rating or lists user item item ...; - for standard input; or registered ratings' name"
    fit.add_argument("file", metavar="FILE", help=text)
    fit.add_argument("--rank", type=int, default=16, help="length of a vector (default: 16)")
    fit.add_argument("--sweeps", type=int, default=10, help="over all ratings (default: 10)")
    fit.add_argument("--learning-rate", type=float, default=0.01, help="default: 0.01")
    fit.add_argument("--regularization", type=float, default=0.02, help="default: 0.02")
    fit.add_argument("--seed", type=int, default=0, help="of the first vectors and of shuffles (default: 0)")
    fit.add_argument("--nonnegative", action="store_true", help="keep all features at zero or above")
    several = "of one item by one user: trained on one after the other, added up, or an error (default: keep)"
    fit.add_argument("--duplicates", choices=["keep", "sum", "refuse"], default="keep", help=several)
    _solver(fit, "sgd", "arrays users and items, and user_ids and item_ids, what their rows are called in FILE", "NPZ")


def _of_a_batch(command):
    """Command `swarm`."""
    text = "a measure of every graph of a batch, written to a folder of Parquet files"
    batch = command("swarm", commands.swarm, text)
    batch.add_argument("input", metavar="INPUT", help="folder of shards (.arrow, .parquet) or of files with one graph "
                       "each, one such file, a TU archive, or a registered batch such as PROTEINS")  # fmt: skip
    measures = {"action": _Listed, "table": lambda: import_module("lockstep.swarm").MEASURES, "says": "title"}
    batch.add_argument("--measure", default="betweenness", **measures)
    batch.add_argument("--option", metavar="NAME=VALUE", action=_Setting, default={}, help="of the measure; repeatable")
    batch.add_argument("--out", metavar="DIR", required=True, help="folder for the results; a killed run goes on there")
    _strategy(batch, "swarm")
    _executor(batch)
    batch.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask scheduler whose workers compute")
    here = "a Dask cluster made here, one worker a GPU; with --scheduler, only so many of its workers"
    batch.add_argument("--workers", type=int, metavar="N", help=here)
    limit = "without a worker, after which a run on a cluster ends (default: 300); what is done stays"
    batch.add_argument("--worker-timeout", type=float, default=300.0, metavar="SECONDS", help=limit)
    kept = "write each graph's values (default), or a checksum of them"
    batch.add_argument("--keep", choices=["values", "checksums"], default="values", help=kept)
    bad = "graphs that cannot be used: name them and go on (default), or stop"
    batch.add_argument("--bad", choices=["skip", "refuse"], default="skip", help=bad)
    most = "a larger graph cannot be used either"
    batch.add_argument("--max-vertices", type=int, default=2**31 - 1, metavar="N", help=most)
    kind = batch.add_mutually_exclusive_group()
    edges = "a line of a graph's file is an edge, whatever its header says"
    kind.add_argument("--undirected", action="store_true", help=edges)
    arcs = "graphs of files, and of shards that do not say, are directed (an edge of an undirected file: two arcs)"
    kind.add_argument("--directed", action="store_true", help=arcs)
    batch.add_argument("--json", action="store_true", help="what was done, and what was left out, as one JSON object")
    lengths = "leave weights out, which most measures do not take (they are stored as float32: fractions are rounded)"
    batch.add_argument("--unweighted", action="store_true", help=lengths)


def _solver(parser, package, result, kind="FILE"):
    (_member if package == "sgd" else _reading)(parser)
    _strategy(parser, package)
    _executor(parser)
    parser.add_argument("--output", metavar=kind, type=Path, help=f"write the {result} there; - is standard output")
    parser.add_argument("--json", action="store_true", help="one JSON object: strategy, reason, what was found")


def _member(parser):
    parser.add_argument("--member", metavar="NAME", help="which file of an archive of several, by name or pattern")


def _reading(parser):
    """Options that control how a graph's file is read."""
    _member(parser)
    kind = parser.add_mutually_exclusive_group()
    arcs = "a line is an arc, or, where the file's header says undirected, an edge: two arcs"
    kind.add_argument("--directed", action="store_true", help=arcs)
    kind.add_argument("--undirected", action="store_true", help="a line is an edge, whatever the file's header says")
    parser.add_argument("--unweighted", action="store_true", help="leave weights out")
    parser.add_argument("--compact", action="store_true", help="number the ids that occur, which become names")
    parser.add_argument("--names", action="store_true", help="ids of an edge list are names, numbers too")
    parser.add_argument("--format", choices=["edges", "dimacs", "mtx", "metis", "nde"],
                        help="what the file is, where its content leaves a doubt")  # fmt: skip


def _strategy(parser, package):
    strategies = {"action": _Listed, "table": lambda: studies.table(package), "says": "what"}
    parser.add_argument("--strategy", default="auto", **strategies)


def _executor(parser):
    parser.add_argument("--executor", choices=["cuda", "host"],
                        help="GPU or emulator (default: a GPU if one answers)")  # fmt: skip
