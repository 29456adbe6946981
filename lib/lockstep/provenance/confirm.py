"""Confirm a refactoring: changed host code with unchanged behavior.

A confirmation is refused if device code, protocol or data differ (measure again), if the strategy's trace on the
emulator differs (`trace`), or if the multiset of literals and operators of its reachable code differs. Otherwise a
line records that rows of the earlier build remain valid for today's code, with a reason given by the user.
"""

from lockstep import paths
from lockstep.evidence import computer, reading

from . import builds, staleness, trace
from .tables import append, read

TRACES = "traces.csv"
COLUMNS = ["study", "strategy", "before", "after", "commit", "date", "why"]


def traces():
    """{(study, strategy, host digest): (digest of the trace, digest of literals and operators)}."""
    found = {}
    for folder in builds._folders():
        for line in read(folder / TRACES):
            found[line["study"], line["strategy"], line["host"]] = line["trace"], line["words"]
    return found


def keep_traces(folder, keys):
    """Add traces of today's code, for each (study, strategy) without one for today's host digest; their number."""
    known, new = traces(), []
    for study, strategy in keys:
        found = builds.origin(study, strategy, "")
        if found is not None:
            plan = builds.code(found.roots, found.given, found.entry)
            if (study, strategy, plan.digest) not in known:
                new.append([study, strategy, plan.digest, trace.trace(study, strategy), plan.words])
    append(folder / TRACES, ["study", "strategy", "host", "trace", "words"], new)
    return len(new)


def confirm(strategies, why, folder=None):
    """Confirm strategies that differ from a recorded build only in host code.

    Parameters
    ----------
    strategies : sequence of str
        Names, or `study/strategy`; all that are stale, of a known build, if empty.
    why : str
        The reason.
    folder : path, optional
        Where the tables are; by default the project's recordings.

    Returns
    -------
    list of str
        Confirmed and refused, a line each; refused ones begin with `refused`.

    Raises
    ------
    ValueError
        Without a reason, or for a strategy that is not stale.
    """
    if not why.strip():
        raise ValueError("say why the code does the same: --why")
    folder, known = folder or paths.RECORDINGS, traces()
    found, told, lines = _stale(), [], []
    wanted = {name: [key for key in found if name in (key[1], "/".join(key))] for name in strategies}
    if missing := [name for name, keys in wanted.items() if not keys]:
        told = ", ".join(missing)
        raise ValueError(f"{told}: no recorded row of a known build of that is stale; see lockstep provenance")
    for key in [key for keys in wanted.values() for key in keys] if strategies else found:
        study, strategy = key
        for changed, before, after in sorted(found[key]):
            if changed != "host":
                told.append(f"refused {study}/{strategy}: {changed} differ; measure again")
                continue
            reason = _refused(known.get((*key, before)), study, strategy)
            if reason:
                told.append(f"refused {study}/{strategy}: {reason}")
            else:
                lines.append([*key, before, after, computer.commit() or "", computer.now(), why.strip()])
                told.append(f"confirmed {study}/{strategy}: {before} -> {after}")
    append(folder / builds.CONFIRMED, COLUMNS, lines)
    keep_traces(folder, dict.fromkeys((line[0], line[1]) for line in lines))
    return told


def _stale():
    """{(study, strategy): {(changed components, host digest before, host digest now)}} of all recorded rows."""
    found = {}
    for rows in reading.machines(paths.RECORDINGS, paths.RESULTS).values():
        for line in staleness.stale(rows).itertuples():
            for owner, name in staleness.owners(line.strategy, line.kernel):
                now = builds.present(line.study, owner, line.dataset) if owner else None
                lines = [one for one in builds.known().get((line.study, owner), ()) if one["id"] == name]
                if now and lines and line.changed != "unknown":
                    told = (line.changed, lines[-1]["host"], now[0].host)
                    found.setdefault((line.study, owner), set()).add(told)
    return found


def _refused(before, study, strategy):
    """Reason for a refusal, or ""."""
    if before is None:
        return "its earlier trace is in no table; measure again"
    origin = builds.origin(study, strategy, "")
    words = builds.code(origin.roots, origin.given, origin.entry).words
    if words != before[1]:
        return "its code has other literals or operators; measure again"
    if trace.trace(study, strategy) != before[0]:
        return "it leaves another trace of launches on the emulator; measure again"
    return ""
