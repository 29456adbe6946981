"""What each command of the command line does: results go to standard output, all else to standard error."""

import io
import json
import re
import sys
from pathlib import Path

from lockstep import inputs, output
from lockstep.output import log, plural


def datasets(args) -> int:
    from lockstep import graphs
    from lockstep.graphs.registry import PLACED

    _one_to_stdout(args, "table")
    for name in args.fetch:
        with output.timed(f"fetching {name}"):
            log.info(f"{name}: {graphs.registry.fetched(name)}")
    found = graphs.datasets()
    output.write_table(found, args.output)
    if str(args.output) == "-":
        return 0
    if args.json:
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


def schema(args) -> int:
    import yaml

    known = yaml.safe_load((Path(__file__).parent / "schemas.yaml").read_text(encoding="utf-8"))["commands"]
    if args.command not in known:
        raise ValueError(f"no command {args.command!r} writes JSON; there are {', '.join(known)}")
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"lockstep {args.command} --json"}
    print(json.dumps({**about, **known[args.command]}, indent=1))
    return 0


def completion(args) -> int:
    import shtab

    from lockstep.cli import parser

    print(shtab.complete(parser(), args.shell))
    return 0


def machine(args) -> int:
    from lockstep.evidence import describe_machine
    from lockstep.machine import why_no_gpu

    facts = describe_machine()
    if args.name:
        print(facts["name"])
        return 0
    if args.json:
        print(json.dumps(facts, indent=1))
        return 0
    reason = why_no_gpu()
    facts = {**facts, "executor": "cuda" if reason is None else f"host ({reason})"}
    for name, value in facts.items():
        print(f"{name:<12}{'none' if value is None else value}")
    return 0


def claims(args) -> int:
    from lockstep.evidence import claims, ledger, telling
    from lockstep.provenance import stale

    _one_to_stdout(args, "table")
    asked = {name: getattr(args, name) for name in ("study", "claim", "machine", "verdict")}
    # a wrong name is refused before all rows are judged, which may take a minute
    telling.chosen(telling.possible(ledger.load()), **asked | {"machine": None})
    with output.timed("judging recorded rows"):
        found = claims.summary(stale=stale)
    verdicts = telling.chosen(found.verdicts, **asked)
    output.write_table(verdicts, args.output)
    if str(args.output) == "-":
        return 0
    if args.json:
        print(telling.records(verdicts))
        return 0
    print("\n".join(telling.listed(verdicts)) if any(asked.values()) else found.text)
    return 0


def provenance(args) -> int:
    from lockstep.provenance import confirm, device, protocol, summary
    from lockstep.studies import PACKAGES

    if args.task == "lock":
        if not args.prove:
            changed = device.renew()
            print(f"{len(device.lock())} texts in the lock, {len(changed)} of them new")
            return 0
        wrong = device.prove()
        print("\n".join([*wrong, f"{len(device.lock())} texts compiled, {len(wrong)} unlike the lock"]))
        return int(bool(wrong))
    if args.task == "confirm":
        told = confirm.confirm(args.strategies, args.why)
        print("\n".join(told) or "no recorded row is stale")
        return int(any(line.startswith("refused") for line in told))
    if args.task == "protocol":
        for study in args.studies:
            if study not in PACKAGES:
                raise ValueError(f"there is no study {study!r}; there are {', '.join(PACKAGES)}")
        for study in args.studies:
            print(f"{study}: protocol {protocol.write(study, args.why, args.same)}")
        return 0
    found = summary.summary()
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        print(summary.text(found))
    return int(args.strict and bool(found["stale"] or found["unclear"] or found["broken"]))


def sort(args) -> int:
    import numpy as np

    from lockstep.toposort import topological_sort

    graph = inputs.graph(args.file, args)
    with output.timed("sorting"):
        result = topological_sort(graph, strategy=args.strategy, executor=args.executor)
    layers = f"{plural(result.order.size, 'vertex', 'vertices')} in {plural(result.depth, 'layer')}"
    log.info(f"{output.display_name(args.file)}: {layers}, sorted by {_how(result)}")
    if args.json:
        output.write_json(args, graph, result, layers=result.depth, order=result.order)
    else:
        names = result.order if graph.labels is None else np.asarray(graph.labels, object)[result.order]
        output.write_column(names, args.output)
    return 0


def color(args) -> int:
    import warnings

    from lockstep.coloring import color

    switch = int(args.switch) if re.fullmatch(r"-?\d+", args.switch) else args.switch
    options = {"strategy": args.strategy, "switch": switch, "seed": args.seed, "executor": args.executor}
    graph = inputs.graph(args.file, args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes below say the same in one line
        with output.timed("coloring"):
            result = color(graph, loops=args.loops, **options)
    found = f"{plural(result.colors.size, 'vertex', 'vertices')}, {plural(result.count, 'color')}"
    log.info(f"{output.display_name(args.file)}: {found}, colored by {_how(result)}")
    if args.json:
        output.write_json(args, graph, result, count=result.count, colors=result.colors)
    else:
        output.write_column(result.colors, args.output, graph.labels)
    return 0


def paths(args) -> int:
    import numpy as np

    from lockstep.sssp import STRATEGIES, shortest_paths

    graph = inputs.graph(args.file, args)
    options = {"delta": args.delta, "layers": args.layers}
    source, target = (inputs.vertex(graph, name) for name in (args.source, args.target))
    if target is not None:
        graph.index_of(target)  # refused before anything is computed
    with output.timed("shortest paths"):
        result = shortest_paths(graph, source, args.strategy, args.executor, **options)
    reached = result.distances[np.isfinite(result.distances)]
    if reached.max() >= 2**53:
        rounded = "distances of 2^53 and more are rounded to float64"
        result.stats["notes"] = [*result.stats.get("notes", ()), rounded]
    how = f"by {_how(result)}"
    if not STRATEGIES[result.strategy].exact:
        how += "; this strategy may give wrong distances (--strategy checked does not)"
    found = f"{reached.size:,} of {plural(result.distances.size, 'vertex', 'vertices')} reached, the farthest at "
    log.info(f"{output.display_name(args.file)}: {found}{reached.max():.12g}, {how}")
    told, path = {"source": source, "reached": reached.size, "distances": result.distances}, None
    if target is not None:
        path = result.path_to(target)
        there = f"{plural(len(path) - 1, 'arc')}, length {result.distances[graph.index_of(target)]:.12g}"
        log.info(f"{output.display_name(args.file)}: a shortest path to {target}: {there}")
        told["path"] = [output.as_written(one) for one in path]
    if args.json:
        output.write_json(args, graph, result, **told)
    elif path is not None:
        output.write_column(np.array(path, object), args.output)
    else:
        whole = (reached == np.floor(reached)).all() and reached.max() < 2**53
        output.write_column(result.distances, args.output, graph.labels, whole)
    return 0


def factorize(args) -> int:
    import numpy as np

    from lockstep.sgd import factorize

    _one_to_stdout(args, "vectors")
    if args.sweeps < 1:
        raise ValueError(f"--sweeps {args.sweeps}: one at least, or nothing is learned")
    names = ("strategy", "rank", "sweeps", "seed", "learning_rate", "regularization", "nonnegative", "executor")
    ratings, users, items = inputs.ratings(args.file, args.member, args.duplicates)
    with output.timed("all sweeps"):
        result = factorize(ratings, **{name: getattr(args, name) for name in names})
    sizes = f"{plural(result.users.shape[0], 'user')}, {plural(result.items.shape[0], 'item')}"
    log.info(f"{output.display_name(args.file)}: {sizes}, by {_how(result)}")
    if args.json:
        counts = {"users": result.users.shape[0], "items": result.items.shape[0]}
        output.write_json(args, None, result, **counts, rmse=result.rmse)
    else:
        errors = [f"sweep {sweep}: RMSE {error:.4f}" for sweep, error in enumerate(result.rmse, 1)]
        print(*errors, sep="\n", file=sys.stderr if str(args.output) == "-" else sys.stdout)
    if args.output:
        packed = io.BytesIO()  # a zip writer seeks, which standard output may not support
        np.savez_compressed(packed, users=result.users, items=result.items, user_ids=users, item_ids=items)
        with output.open_output(args.output, "wb") as file:
            file.write(packed.getbuffer())
    return 0


def advise(args) -> int:
    from lockstep.guide import advise

    if args.ratings and args.batch:
        raise ValueError("--ratings and --batch: a file holds one or the other")
    if len(args.file) > 1 and (args.ratings or args.batch):
        raise ValueError("--ratings and --batch take one file")
    if args.ratings:
        graph = inputs.ratings_alone(args.file[0], args)
    elif args.batch:
        from lockstep.swarm.command import tell_left_out

        graph = inputs.batch(args.file[0], args)
    else:
        graphs = [inputs.graph(file, args) for file in args.file]
        graph = graphs if len(graphs) > 1 else graphs[0]
    try:
        with output.timed("features of the graph, and rules"):
            found = advise(graph, machine=args.machine)
        print(json.dumps(output.finite(found.record()), indent=1) if args.json else found)
    finally:
        if args.batch:
            tell_left_out(graph.problems)
    return 0


def compare(args) -> int:
    from lockstep import compare

    package = compare.study_of(args.study)
    _one_to_stdout(args, "table")
    if args.plot and args.plot.suffix not in (".svg", ".pdf", ".png"):
        raise ValueError(f"--plot {args.plot}: name a file that ends in .svg, .pdf or .png")
    if package == "sgd":
        graph = inputs.ratings_alone(args.file, args)
    elif package == "swarm":
        from lockstep.batch.pack import join
        from lockstep.swarm import MEASURES
        from lockstep.swarm.command import tell_left_out

        measure = MEASURES.get(args.measure or "betweenness")  # of which most take no weights
        batch = inputs.batch(args.file, args, weights=measure is None or measure.weights)
        graph = join(list(batch))
        tell_left_out(batch.problems)
    else:
        graph = inputs.graph(args.file, args)
        args.source = inputs.vertex(graph, args.source)
    options = {key: getattr(args, key) for key in ("source", "rank", "measure") if getattr(args, key) is not None}
    found = compare.compare(
        package, graph, args.strategies.split(",") if args.strategies is not None else None, args.executor, args.rounds,
        args.seconds, log.info, **options,
    )  # fmt: skip
    if str(args.output) != "-":
        print(found.to_json(orient="records", indent=1) if args.json else compare.told(found))
    output.write_table(found, args.output)
    if args.plot:
        import matplotlib

        matplotlib.use("Agg")
        compare.picture(found).savefig(args.plot)
    return 0 if found["verified"].notna().any() else 1


def swarm(args) -> int:
    from lockstep.swarm.command import main

    return main(args)


def _one_to_stdout(args, what):
    """Raise ValueError if JSON and a file's content would both go to standard output."""
    if args.json and str(args.output) == "-":
        raise ValueError(f"--json and --output - both write to standard output; name a file for the {what}")


def _how(result):
    """The strategy's name, with its notes and the reason for its choice in parentheses."""
    told = [*result.stats.get("notes", ()), *(result.stats[key] for key in ("reason",) if key in result.stats)]
    return result.strategy + (f" ({'; '.join(map(str, told))})" if told else "")

