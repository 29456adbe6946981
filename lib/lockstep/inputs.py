"""The inputs that the command line names: graphs, batches, ratings, vertices."""

import sys
from pathlib import Path

from lockstep import output


def _refuse(args, names, what):
    """Raise ValueError if one of these options is given, which say how another kind of file is read."""
    if given := [name for name in names if getattr(args, name)]:
        raise ValueError(f"--{given[0]} says how the file of one graph is read; this is {what}")


def _registered(file, wanted, options):
    """Whether a data set of the ``wanted`` kind is registered by this name, and there is no such file.

    GraphError if it is of another kind, or if options say how it is read.
    """
    from lockstep.graphs import GraphError
    from lockstep.graphs.registry import kind, unknown

    path = Path(file)
    if file == "-" or path.exists():
        return False
    found = kind(file)
    if found not in (None, wanted):
        told = f"the data set of that name is of the kind {found}; expected {wanted}"
        raise GraphError(f"{file}: no such file, and {told}")
    if found is None and path.name == file and not path.suffix:  # it may have been meant as either
        raise GraphError(f"{file}: no such file, and {unknown(file)}")
    if found and options:
        raise GraphError(f"{file}: the registry says how it is read; --directed and the like are for files")
    return found == wanted


def batch(file, args, weights=True):
    """The batch of graphs in a file or folder."""
    from lockstep.batch import GraphBatch

    _refuse(args, ("member", "compact", "names", "format"), "a batch")
    directed = True if args.directed else False if args.undirected else None
    return GraphBatch(file, directed=directed, weights=weights and not args.unweighted)


def ratings_alone(file, args):
    _refuse(args, ("directed", "undirected", "unweighted", "compact", "names", "format"), "a file of ratings")
    return ratings(file, args.member)[0]


def graph(file, args):
    """The graph in a file, or on standard input; where there is no such file, the registered graph of that name."""
    from lockstep.graphs import load, read

    options = {name: True for name in ("directed", "compact", "names") if getattr(args, name)}
    options |= {"format": args.format} if args.format else {}
    options |= {"directed": False} if args.undirected else {}
    options |= {"weights": False} if args.unweighted else {}
    with output.timed(f"reading {output.display_name(file)}"):
        if file == "-":
            return read(sys.stdin.buffer, member=args.member, **options)
        if _registered(file, "graph", options or args.member):
            return load(file)
        return read(file, member=args.member, **options)


def vertex(graph, called):
    """A vertex as the command line names it: a label where the graph has labels, else a number."""
    if called is None:
        return None
    if graph.labels is not None and len(graph.labels) and isinstance(graph.labels[0], str):
        return called
    try:
        return int(called)
    except ValueError:
        name = graph.name or "this graph"
        raise ValueError(f"no vertex is called {called!r}: the vertices of {name} are numbers") from None


def ratings(file, member, duplicates="keep"):
    """The ratings in a file, or of a registered name, and the file's ids of users and items."""
    from lockstep.graphs import read_ratings
    from lockstep.graphs.registry import located_ratings
    from lockstep.sgd import Ratings

    with output.timed(f"reading {output.display_name(file)}"):
        name = Path(file).name.partition(".")[0]
        if _registered(file, "ratings", member):
            file, member = located_ratings(file)
        matrix, users, items = read_ratings(sys.stdin.buffer if file == "-" else file, member, ids=True)
        if duplicates == "refuse":
            _refuse_repeated(matrix, users, items)
        found = Ratings.of(matrix, duplicates)
    found.name = name
    return found, users, items


def _refuse_repeated(matrix, users, items):
    """RatingsError if a user has rated an item more than once, by their names in the file."""
    import numpy as np

    from lockstep.sgd.ratings import RatingsError

    pairs, times = np.unique(np.stack([matrix.row, matrix.col]), axis=1, return_counts=True)
    if len(many := np.flatnonzero(times > 1)):
        user, item = pairs[:, many[0]]
        raise RatingsError(
            f"{times[many[0]]} ratings of {items[item]!s} by {users[user]!s}, and {len(many) - 1} more pairs with "
            "several: --duplicates keep trains on each, --duplicates sum adds them up"
        )
