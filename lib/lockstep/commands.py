"""What each command of the command line does: results go to standard output, all else to standard error."""

import contextlib
import json
import math
import re
import sys
import tempfile
from pathlib import Path


def writable(choice) -> None:
    """Refuse an output that cannot be written before anything is computed for it.

    Raises
    ------
    ValueError
        It is a folder, there is no way to make its folder, or nothing can be written there.
    """
    for name in ("output", "plot"):
        path = getattr(choice, name, None)
        if path is None:
            continue
        if path.is_dir():
            raise ValueError(f"--{name} {path}: this is a folder; name a file")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"--{name} {path}: {path.parent} cannot be made ({error.strerror})") from None
        try:
            # What is there already may be a pipe or a device, which must not be opened twice.
            if not path.exists():
                tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise ValueError(f"--{name} {path}: nothing can be written to {path.parent} ({error.strerror})") from None


def datasets(choice) -> int:
    from lockstep import graphs
    from lockstep.graphs.registry import PLACED

    table = graphs.datasets()
    _save(table, choice.output)
    if choice.json:
        lines = table.to_dict("records")
        for line in lines:
            line |= {size: int(line[size]) if str(line[size]).isdigit() else None for size in "nm"}
        print(json.dumps(lines, indent=1))
        return 0
    width = table["name"].str.len().max()
    for row in table.itertuples():
        how = row.how.replace(PLACED, "") if row.status == "missing" else row.source
        print(f"{row.name:<{width}}  {row.status:<8}  {how}")
    missing = (table["status"] == "missing").sum()
    print(f"\n{len(table)} registered, {len(table) - missing} at hand, {missing} missing")
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

    found = claims.summary(stale=stale)
    asked = {name: getattr(choice, name) for name in ("study", "claim", "machine", "verdict")}
    verdicts = telling.chosen(found.verdicts, **asked)
    _save(verdicts, choice.output)
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
    from lockstep.toposort import topological_sort

    graph = _graph(choice.file, choice.member)
    result = topological_sort(graph, strategy=choice.strategy, executor=choice.executor)
    layers = f"{_many(result.order.size, 'vertex', 'vertices')} in {_many(result.depth, 'layer')}"
    print(f"{choice.file}: {layers}, sorted by {_how(result)}", file=sys.stderr)
    if choice.json:
        _tell(choice, graph, result, layers=result.depth, order=result.order)
    else:
        _write(result.order, choice.output)
    return 0


def color(choice) -> int:
    import warnings

    from lockstep.coloring import color

    switch = int(choice.switch) if re.fullmatch(r"-?\d+", choice.switch) else choice.switch
    options = {"strategy": choice.strategy, "switch": switch, "seed": choice.seed, "executor": choice.executor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notes below say the same in one line
        graph = _graph(choice.file, choice.member)
        result = color(graph, loops=choice.loops, **options)
    found = f"{_many(result.colors.size, 'vertex', 'vertices')}, {_many(result.count, 'color')}"
    print(f"{choice.file}: {found}, colored by {_how(result)}", file=sys.stderr)
    if choice.json:
        _tell(choice, graph, result, count=result.count, colors=result.colors)
    else:
        _write(result.colors, choice.output)
    return 0


def paths(choice) -> int:
    import numpy as np

    from lockstep.sssp import STRATEGIES, shortest_paths

    graph = _graph(choice.file, choice.member)
    options = {"delta": choice.delta, "layers": choice.layers}
    result = shortest_paths(graph, choice.source, choice.strategy, choice.executor, **options)
    reached = result.distances[np.isfinite(result.distances)]
    how = f"by {_how(result)}"
    if not STRATEGIES[result.strategy].exact:
        how += "; this strategy may give wrong distances (--strategy checked does not)"
    found = f"{reached.size:,} of {_many(result.distances.size, 'vertex', 'vertices')} reached, the farthest at "
    print(f"{choice.file}: {found}{reached.max():.12g}, {how}", file=sys.stderr)
    if choice.json:
        _tell(choice, graph, result, source=choice.source, reached=reached.size, distances=result.distances)
        return 0
    whole = (reached == np.floor(reached)).all() and reached.max() < 2**53
    _write(result.distances, choice.output, whole)
    return 0


def factorize(choice) -> int:
    import numpy as np

    from lockstep.sgd import factorize

    if choice.sweeps < 1:
        raise ValueError(f"--sweeps {choice.sweeps}: one at least, or nothing is learned")
    names = ("strategy", "rank", "sweeps", "seed", "learning_rate", "regularization", "nonnegative", "executor")
    ratings, users, items = _ratings(choice.file, choice.member, choice.duplicates)
    result = factorize(ratings, **{name: getattr(choice, name) for name in names})
    sizes = f"{_many(result.users.shape[0], 'user')}, {_many(result.items.shape[0], 'item')}"
    print(f"{choice.file}: {sizes}, by {_how(result)}", file=sys.stderr)
    if choice.json:
        _tell(choice, None, result, users=result.users.shape[0], items=result.items.shape[0], rmse=result.rmse)
    else:
        print(*(f"sweep {sweep}: RMSE {error:.4f}" for sweep, error in enumerate(result.rmse, 1)), sep="\n")
    if choice.output:
        with choice.output.open("wb") as file:  # a name alone would get another ending
            np.savez_compressed(file, users=result.users, items=result.items, user_ids=users, item_ids=items)
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
        graphs = [_graph(file, choice.member) for file in choice.file]
        graph = graphs if len(graphs) > 1 else graphs[0]
    try:
        found = advise(graph, machine=choice.machine)
        print(json.dumps(_finite(found.record()), indent=1) if choice.json else found)
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
        graph = _graph(choice.file, choice.member)
    options = {key: getattr(choice, key) for key in ("source", "rank", "measure") if getattr(choice, key) is not None}
    found = compare.compare(
        package, graph, choice.strategies.split(",") if choice.strategies else None, choice.executor, choice.rounds,
        choice.seconds, lambda line: print(line, file=sys.stderr), **options,
    )  # fmt: skip
    print(found.to_json(orient="records", indent=1) if choice.json else compare.told(found))
    _save(found, choice.output)
    if choice.plot:
        import matplotlib

        matplotlib.use("Agg")
        compare.picture(found).savefig(choice.plot)
    return 0 if found["verified"].notna().any() else 1


def swarm(choice) -> int:
    from lockstep.swarm.command import main

    return main(choice)


def _graph(file, member=None):
    """The graph in a file; where there is no such file, the registered graph of that name."""
    from lockstep.graphs import GraphError, load, read
    from lockstep.graphs.registry import registered, unknown

    path = Path(file)
    if not path.exists() and registered(file):
        return load(file)
    if not path.exists() and path.name == file and not path.suffix:  # it may have been meant as either
        raise GraphError(f"{file}: no such file, and {unknown(file)}")
    return read(file, member=member)


def _tell_left_out(batch):
    """Name what a batch that has been read does without."""
    from lockstep.swarm.command import tell_left_out

    tell_left_out(batch.problems)


def _ratings(file, member, duplicates="keep"):
    """The ratings in a file, under its name, and what their users and items are called there."""
    from lockstep.graphs import read_ratings
    from lockstep.sgd import Ratings

    matrix, users, items = read_ratings(file, member, ids=True)
    found = Ratings.of(matrix, duplicates)
    found.name = Path(file).name.partition(".")[0]
    return found, users, items


def _how(result):
    """By which strategy, and what there is to say of it."""
    told = [*result.stats.get("notes", ()), *(result.stats[key] for key in ("reason",) if key in result.stats)]
    return result.strategy + (f" ({'; '.join(map(str, told))})" if told else "")


def _tell(choice, graph, result, **found):
    """One JSON object: the file, the strategy with its reason, what was found; numbers that are not finite are null.

    Arrays are in the order of the vertices, whose names are in `labels` if they have any.
    """
    import numpy as np

    told = {"file": choice.file, "strategy": result.strategy, "reason": str(result.stats.get("reason", ""))}
    told["notes"] = list(map(str, result.stats.get("notes", ())))
    if graph is not None:
        told |= {"vertices": graph.n, "arcs": graph.m}
        told |= {} if graph.labels is None else {"labels": list(map(str, graph.labels))}
    for name, value in found.items():
        told[name] = _finite(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    with choice.output.open("w", encoding="utf-8") if choice.output and graph is not None else (
        contextlib.nullcontext(sys.stdout)) as out:  # fmt: skip
        out.write(json.dumps(told, allow_nan=False) + "\n")


def _finite(value):
    """The same with null for numbers that are not finite, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _many(count, one, several=None):
    """A number with its noun: 1 layer, 2 layers."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _write(numbers, file, whole=False):
    """One number a line, to a file or to standard output, some at a time; `whole`: finite ones without a point."""
    with file.open("w", encoding="utf-8") if file else contextlib.nullcontext(sys.stdout) as out:
        for first in range(0, len(numbers), 2**16):
            some = numbers[first : first + 2**16].tolist()
            if whole:
                some = [int(number) if math.isfinite(number) else number for number in some]
            out.write("".join(f"{number}\n" for number in some))


def _save(table, output) -> None:
    """Write a table where the user asked for it; a rule's output must appear whole or not at all."""
    if not output:
        return
    if output.exists() and not output.is_file():  # a pipe or a device, which no file may replace
        table.to_csv(output, index=False, lineterminator="\n")
        return
    output = output.resolve()  # not the link to a file, but the file
    scratch = output.with_name(output.name + ".new")
    table.to_csv(scratch, index=False, lineterminator="\n")
    scratch.replace(output)


def told(error, choice) -> str:
    """An error in one line, with the file whose graph it is about."""
    from lockstep.graphs import GraphError

    line = " ".join(str(error).split()) or type(error).__name__
    files = getattr(choice, "file", [])
    files = [files] if isinstance(files, str) else files
    ours = isinstance(error, GraphError) or hasattr(error, "cycle")
    return f"{files[0]}: {line}" if ours and len(files) == 1 and files[0] not in line else line
