"""Number of stale rows and what has changed, for `lockstep provenance`."""

from lockstep import paths
from lockstep.evidence import reading, seals

from . import builds, protocol, staleness

NAMED = 6  # changes that a line names


def summary(recordings=paths.RECORDINGS, results=paths.RESULTS):
    """Rows and stale rows of each machine, study, strategy and build.

    Returns
    -------
    dict
        `rows` and `stale`, the totals; `unclear`, studies whose protocol code matches no number; `broken`, recordings
        changed after writing or with impossible values; `machines`:
        {machine: {study: {strategy: {id: {"rows", "stale", "commit", "changed"}}}}}, where `changed` describes the
        differences from the measured build.
    """
    folders = [folder for place in dict.fromkeys((recordings, results)) for folder in sorted(place.glob("**/"))]
    wrong = [what for folder in folders for what in seals.broken(folder)]
    total = {"rows": 0, "stale": 0, "unclear": protocol.unclear(), "broken": wrong, "machines": {}}
    known = builds.made_of()
    for machine, rows in reading.machines(recordings, results).items():
        old = staleness.stale(rows)
        keys = ["study", "strategy", "dataset", "kernel"]
        marked = rows[keys].merge(old, on=keys, how="left")
        marked["stale"] = marked["changed"].notna()
        studies = total["machines"].setdefault(machine, {})
        for (study, strategy, name), own in marked.groupby(["study", "strategy", "kernel"], sort=False):
            gone = own[own["stale"]]
            line = {"rows": len(own), "stale": len(gone)}
            if len(gone):
                line |= {"commit": gone["commit"].iloc[0], "changed": _changed(gone.iloc[0], known)}
            studies.setdefault(study, {}).setdefault(strategy, {})[name] = line
        total["rows"] += len(marked)
        total["stale"] += int(marked["stale"].sum())
    return total


def _changed(row, known):
    """Differences between a stale row's build and today's code, in words."""
    if row["changed"] == "unknown":
        return ["the build is in no table: it was recorded elsewhere, or before the table began"]
    found = []
    for owner, name in staleness.owners(row["strategy"], row["kernel"]):
        now = builds.present(row["study"], owner, row["dataset"]) if owner else None
        lines = [line for line in builds.known().get((row["study"], owner), ()) if line["id"] == name]
        if now is None or not lines:
            continue
        parts, pieces = now
        for component in builds.changed(lines[-1], parts, row["dataset"]):
            if component == "protocol":
                found.append(f"protocol: number {lines[-1]['protocol']}, now {parts.protocol}")
            elif component == "data":
                found.append("data: the generator of its graph, or the file's content")
            else:
                before = known.get(lines[-1][component])
                after = pieces.get(getattr(parts, component), {})
                found += differences(component, before, after) if before is not None else [f"{component}: history"]
    return found or ["rows that it follows from"]


def differences(component, before, after):
    """What differs between the pieces of two digests: `kernel narrow of ...`, `toposort/choice.py: SMALL: 1 -> 2`."""
    word = {"device": "kernel", "host": "code"}[component]
    if component == "device":
        before, after = ({_kernel(name): what for name, what in pieces.items()} for pieces in (before, after))
    places = {name.rpartition(": ")[2]: name for name in after if name not in before}  # of what moved to another file
    before = {name if name in after else places.get(name.rpartition(": ")[2], name): what
              for name, what in before.items()}  # fmt: skip
    found = []
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one != other:
            how = "is new" if one is None else "is gone" if other is None else f"{one} -> {other}"
            found.append(f"{word} {name}: {how}")
    return found or [f"{component}: the order or the names of what is called"]


def _kernel(name):
    """`narrow of toposort/strategies/narrow.cu -DBITS=8`, out of `toposort/strategies/narrow.cu -DBITS=8: narrow`."""
    text, _, kernel = name.rpartition(": ")
    return f"{kernel} of {text}"


def text(found):
    """Output of the command: a line per study, below it one per strategy with stale rows, and the changes."""
    lines = []
    for machine, studies in found["machines"].items():
        for study, strategies in studies.items():
            own = [line for ids in strategies.values() for line in ids.values()]
            rows, old = (sum(line[key] for line in own) for key in ("rows", "stale"))
            lines.append(f"{machine}  {study:<24}{rows:>8,} rows {old:>8,} stale {len(strategies):>4} strategies")
            for strategy, ids in strategies.items():
                alike = {}  # builds of which the same has changed
                for name, line in ids.items():
                    if line["stale"]:
                        alike.setdefault((line["commit"], *line["changed"]), {})[name] = line
                for (commit, *changes), gone in alike.items():
                    count, name = sum(line["stale"] for line in gone.values()), next(iter(gone))
                    which = f"{len(gone)} builds" if len(gone) > 1 else name
                    at = f", measured at {commit}" if commit else ""
                    lines.append(f"    {strategy} ({which}): {count:,} rows{at}")
                    lines += [f"        {change}" for change in changes[:NAMED]]
                    lines += [f"        and {len(changes) - NAMED} more"] if len(changes) > NAMED else []
    for study in found["unclear"]:
        lines.append(
            f"{study}: the code of its protocol has changed; say which it is: lockstep provenance protocol {study} "
            '--why "..." (a new number: its rows go stale), or the same with --same'
        )
    lines += [f"broken: {what}" for what in found["broken"]]
    return "\n".join([*lines, f"{found['rows']:,} rows, {found['stale']:,} stale"])
