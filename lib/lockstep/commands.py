"""What each command of the command line does: results go to standard output, all else to standard error."""

import io
import json
import re
import sys
from pathlib import Path

from lockstep.output import column, finite, log, many, opened, record, shown, table, timed


def datasets(choice) -> int:
    from lockstep import graphs
    from lockstep.graphs.registry import PLACED

    for name in choice.fetch:
        with timed(f"fetching {name}"):
            log.info(f"{name}: {graphs.registry.fetched(name)}")
    found = graphs.datasets()
    table(found, choice.output)
    if str(choice.output) == "-":
        return 0
    if choice.json:
        lines = found.to_dict("records")
        for line in lines:
            line |= {size: int(line[size]) if str(line[size]).isdigit() else None for size in "nm"}
        print(json.dumps(lines, indent=1))
        return 0
    width = found["name"].str.len().max()
    for row in found.itertuples():
        how = row.how.replace(PLACED, "") if row.status == "missing" else row.source
        print(f"{row.name:<{width}}  {row.status:<8}  {how}")
    missing = (found["status"] == "missing").sum()
    print(f"\n{len(found)} registered, {len(found) - missing} at hand, {missing} missing")
    if missing:
        print(f"A file is fetched when it is asked for and the network is there; by hand: fetch it{PLACED}.")
    return 0


def schema(choice) -> int:
    import yaml

    known = yaml.safe_load((Path(__file__).parent / "schemas.yaml").read_text(encoding="utf-8"))["commands"]
    if choice.command not in known:
        raise ValueError(f"no command {choice.command!r} writes JSON; there are {', '.join(known)}")
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"lockstep {choice.command} --json"}
    print(json.dumps({**about, **known[choice.command]}, indent=1))
    return 0


def completion(choice) -> int:
    import shtab

    from lockstep.cli import parser

    print(shtab.complete(parser(), choice.shell))
    return 0


def machine(choice) -> int:
    from lockstep.evidence import describe_machine
    from lockstep.machine import why_no_gpu

    facts = describe_machine()
    if choice.name:
        print(facts["name"])
        return 0
    if choice.json:
        print(json.dumps(facts, indent=1))
        return 0
    reason = why_no_gpu()
    facts = {**facts, "executor": "cuda" if reason is None else f"host ({reason})"}
    for name, value in facts.items():
        print(f"{name:<12}{'none' if value is None else value}")
    return 0


def claims(choice) -> int:
    from lockstep.evidence import claims, telling
    from lockstep.provenance import stale

    with timed("judging recorded rows"):
        found = claims.summary(stale=stale)
    asked = {name: getattr(choice, name) for name in ("study", "claim", "machine", "verdict")}
    verdicts = telling.chosen(found.verdicts, **asked)
    table(verdicts, choice.output)
    if str(choice.output) == "-":
        return 0
    if choice.json:
        print(telling.records(verdicts))
        return 0
    print("\n".join(telling.listed(verdicts)) if any(asked.values()) else found.text)
    return 0


def provenance(choice) -> int:
    from lockstep.provenance import confirm, device, protocol, summary
    from lockstep.studies import PACKAGES

    if choice.task == "lock":
        if not choice.prove:
            changed = device.renew()
            print(f"{len(device.lock())} texts in the lock, {len(changed)} of them new")
            return 0
        wrong = device.prove()
        print("\n".join([*wrong, f"{len(device.lock())} texts compiled, {len(wrong)} unlike the lock"]))
        return int(bool(wrong))
    if choice.task == "confirm":
        told = confirm.confirm(choice.strategies, choice.why)
        print("\n".join(told) or "no recorded row is stale")
        return int(any(line.startswith("refused") for line in told))
    if choice.task == "protocol":
        for study in choice.studies:
            if study not in PACKAGES:
                raise ValueError(f"there is no study {study!r}; there are {', '.join(PACKAGES)}")
        for study in choice.studies:
            print(f"{study}: protocol {protocol.write(study, choice.why, choice.same)}")
        return 0
    found = summary.summary()
    if choice.json:
        print(json.dumps(found, indent=1))
    else:
        print(summary.text(found))
    return int(choice.strict and bool(found["stale"] or found["unclear"] or found["broken"]))


def sort(choice) -> int:
    import numpy as np

    from lockstep.toposort import topological_sort

    graph = _graph(choice.file, choice)
    with timed("sorting"):
        result = topological_sort(graph, strategy=choice.strategy, executor=choice.executor)
    layers = f"{many(result.order.size, 'vertex', 'vertices')} in {many(result.depth, 'layer')}"
    log.info(f"{shown(choice.file)}: {layers}, sorted by {_how(result)}")
    if choice.json:
        record(choice, graph, result, layers=result.depth, order=result.order)
    else:
        names = result.order if graph.labels is None else np.asarray(graph.labels, object)[result.order]
        column(names, choice.output)
    return 0


def color(choice) -> int:
    import warnings

    from lockstep.coloring import color

    switch = int(choice.switch) if re.fullmatch(r"-?\d+", choice.switch) else choice.switch
    options = {"strategy": choice.strategy, "switch": switch, "seed": choice.seed, "executor": choice.executor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes below say the same in one line
        graph = _graph(choice.file, choice)
        with timed("coloring"):
            result = color(graph, loops=choice.loops, **options)
    found = f"{many(result.colors.size, 'vertex', 'vertices')}, {many(result.count, 'color')}"
    log.info(f"{shown(choice.file)}: {found}, colored by {_how(result)}")
    if choice.json:
        record(choice, graph, result, count=result.count, colors=result.colors)
    else:
        column(result.colors, choice.output, graph.labels)
    return 0


def paths(choice) -> int:
    import numpy as np

    from lockstep.sssp import STRATEGIES, shortest_paths

    graph = _graph(choice.file, choice)
    options = {"delta": choice.delta, "layers": choice.layers}
    source, target = (_vertex(graph, name) for name in (choice.source, choice.target))
    with timed("shortest paths"):
        result = shortest_paths(graph, source, choice.strategy, choice.executor, **options)
    reached = result.distances[np.isfinite(result.distances)]
    how = f"by {_how(result)}"
    if not STRATEGIES[result.strategy].exact:
        how += "; this strategy may give wrong distances (--strategy checked does not)"
    found = f"{reached.size:,} of {many(result.distances.size, 'vertex', 'vertices')} reached, the farthest at "
    log.info(f"{shown(choice.file)}: {found}{reached.max():.12g}, {how}")
    told, path = {"source": source, "reached": reached.size, "distances": result.distances}, None
    if target is not None:
        path = result.path_to(target)
        there = f"{many(len(path) - 1, 'arc')}, length {result.distances[graph.index_of(target)]:.12g}"
        log.info(f"{shown(choice.file)}: a shortest path to {target}: {there}")
        told["path"] = [int(one) if isinstance(one, int | np.integer) else str(one) for one in path]
    if choice.json:
        record(choice, graph, result, **told)
    elif path is not None:
        column(np.array(path, object), choice.output)
    else:
        whole = (reached == np.floor(reached)).all() and reached.max() < 2**53
        column(result.distances, choice.output, graph.labels, whole)
    return 0


def factorize(choice) -> int:
    import numpy as np

    from lockstep.sgd import factorize

    if choice.json and str(choice.output) == "-":
        raise ValueError("--json and --output - both write to standard output; name a file for the vectors")
    if choice.sweeps < 1:
        raise ValueError(f"--sweeps {choice.sweeps}: one at least, or nothing is learned")
    names = ("strategy", "rank", "sweeps", "seed", "learning_rate", "regularization", "nonnegative", "executor")
    ratings, users, items = _ratings(choice.file, choice.member, choice.duplicates)
    with timed("all sweeps"):
        result = factorize(ratings, **{name: getattr(choice, name) for name in names})
    sizes = f"{many(result.users.shape[0], 'user')}, {many(result.items.shape[0], 'item')}"
    log.info(f"{shown(choice.file)}: {sizes}, by {_how(result)}")
    if choice.json:
        record(choice, None, result, users=result.users.shape[0], items=result.items.shape[0], rmse=result.rmse)
    else:
        errors = [f"sweep {sweep}: RMSE {error:.4f}" for sweep, error in enumerate(result.rmse, 1)]
        print(*errors, sep="\n", file=sys.stderr if str(choice.output) == "-" else sys.stdout)
    if choice.output:
        packed = io.BytesIO()  # written at once, for standard output cannot be wound back
        np.savez_compressed(packed, users=result.users, items=result.items, user_ids=users, item_ids=items)
        with opened(choice.output, "wb") as file:
            file.write(packed.getbuffer())
    return 0


def advise(choice) -> int:
    from lockstep.guide import advise

    if len(choice.file) > 1 and (choice.ratings or choice.batch):
        raise ValueError("--ratings and --batch take one file")
    if choice.ratings:
        graph = _ratings(choice.file[0], choice.member)[0]
    elif choice.batch:
        from lockstep.swarm import GraphBatch

        graph = GraphBatch(choice.file[0])
    else:
        graphs = [_graph(file, choice) for file in choice.file]
        graph = graphs if len(graphs) > 1 else graphs[0]
    try:
        with timed("features of the graph, and rules"):
            found = advise(graph, machine=choice.machine)
        print(json.dumps(finite(found.record()), indent=1) if choice.json else found)
    finally:
        if choice.batch:
            _tell_left_out(graph)
    return 0


def compare(choice) -> int:
    from lockstep import compare

    package = compare.study_of(choice.study)
    if choice.plot and choice.plot.suffix not in (".svg", ".pdf", ".png"):
        raise ValueError(f"--plot {choice.plot}: name a file that ends in .svg, .pdf or .png")
    if package == "sgd":
        graph = _ratings(choice.file, choice.member)[0]
    elif package == "swarm":
        from lockstep.batch import GraphBatch
        from lockstep.batch.pack import join
        from lockstep.swarm import MEASURES

        measure = MEASURES.get(choice.measure or "betweenness")  # of which most take no weights
        batch = GraphBatch(choice.file, weights=measure is None or measure.weights)
        graph = join(list(batch))
        _tell_left_out(batch)
    else:
        graph = _graph(choice.file, choice)
        choice.source = _vertex(graph, choice.source)
    options = {key: getattr(choice, key) for key in ("source", "rank", "measure") if getattr(choice, key) is not None}
    found = compare.compare(
        package, graph, choice.strategies.split(",") if choice.strategies else None, choice.executor, choice.rounds,
        choice.seconds, log.info, **options,
    )  # fmt: skip
    if str(choice.output) != "-":
        print(found.to_json(orient="records", indent=1) if choice.json else compare.told(found))
    table(found, choice.output)
    if choice.plot:
        import matplotlib

        matplotlib.use("Agg")
        compare.picture(found).savefig(choice.plot)
    return 0 if found["verified"].notna().any() else 1


def swarm(choice) -> int:
    from lockstep.swarm.command import main

    return main(choice)


def _graph(file, choice):
    """The graph in a file, or on standard input; where there is no such file, the registered graph of that name."""
    from lockstep.graphs import GraphError, load, read
    from lockstep.graphs.registry import registered, unknown

    path = Path(file)
    options = {name: True for name in ("directed", "compact", "names") if getattr(choice, name)}
    options |= {"format": choice.format} if choice.format else {}
    options |= {"directed": False} if choice.undirected else {}
    options |= {"weights": False} if choice.unweighted else {}
    with timed(f"reading {shown(file)}"):
        if file == "-":
            return read(sys.stdin.buffer, member=choice.member, **options)
        if not path.exists() and registered(file):
            if options:
                raise GraphError(f"{file}: the registry says how it is read; --directed and the like are for files")
            return load(file)
        if not path.exists() and path.name == file and not path.suffix:  # it may have been meant as either
            raise GraphError(f"{file}: no such file, and {unknown(file)}")
        return read(path, member=choice.member, **options)


def _vertex(graph, called):
    """A vertex as the command line names it: a label where the graph has labels, else a number."""
    if called is None:
        return None
    if graph.labels is not None and len(graph.labels) and isinstance(graph.labels[0], str):
        return called
    try:
        return int(called)
    except ValueError:
        raise ValueError(f"no vertex is called {called!r}: the vertices of this graph are numbers") from None


def _tell_left_out(batch):
    """Name what a batch that has been read does without."""
    from lockstep.swarm.command import tell_left_out

    tell_left_out(batch.problems)


def _ratings(file, member, duplicates="keep"):
    """The ratings in a file, under its name, and what their users and items are called there."""
    from lockstep.graphs import read_ratings
    from lockstep.sgd import Ratings

    with timed(f"reading {shown(file)}"):
        matrix, users, items = read_ratings(sys.stdin.buffer if file == "-" else file, member, ids=True)
        found = Ratings.of(matrix, duplicates)
    found.name = Path(file).name.partition(".")[0]
    return found, users, items


def _how(result):
    """By which strategy, and what there is to say of it."""
    told = [*result.stats.get("notes", ()), *(result.stats[key] for key in ("reason",) if key in result.stats)]
    return result.strategy + (f" ({'; '.join(map(str, told))})" if told else "")


