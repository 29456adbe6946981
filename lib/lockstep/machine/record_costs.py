"""Measure the costs of operations on this machine: once (`measure`), or into a recording (`record`)."""

import functools
import json
import math
import time
import typing
from statistics import median

import numpy as np

from . import bench, oneblock, stepping

STUDY = "0-machine"
DATASET = "machine"  # placeholder in the dataset column of recordings
KINDS = {bench.Bench: bench.PARTS, oneblock.OneBlock: oneblock.PARTS, stepping.Stepping: stepping.PARTS}
PARTS = tuple(part for parts in KINDS.values() for part in parts)


def _cases(executor, quick, parts):
    """All cases of these parts, lazily, in the order of the parts."""
    kinds = {part: kind for kind, its in KINDS.items() for part in its}
    made = functools.cache(lambda kind: kind(executor, quick))
    for part in parts:
        yield from made(kinds[part]).cases(part)


class Cost(typing.NamedTuple):
    """One measured figure.

    `metric` names the operation ("grid-barrier", "dependent-load"...), `parameters` the case (blocks, bytes).
    `verified` is "exact" if the run left a result with one right value and it was found, else
    "not-applicable".
    """

    metric: str
    value: float
    unit: str
    parameters: dict
    verified: str


def warm(executor, seconds=0.5):
    """Run vector additions for `seconds` so that the GPU clock ramps up; no-op on the emulator."""
    if executor.name == "host":
        return
    x = executor.zeros(1 << 24, np.float32)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            x += 1
        executor.synchronize()


def measure(executor, quick=False, parts=PARTS, samples=5):
    """Measure all costs of this machine, each the median of `samples` samples.

    Parameters
    ----------
    executor : Executor
        On "host" the same kernels run with few repeats and are checked; values are NaN.
    quick : bool
        Fewer cases: seconds instead of about a minute.
    parts : sequence of str
        Which of PARTS.
    samples : int
        Samples a figure.

    Yields
    ------
    Cost

    Raises
    ------
    VerificationFailed
        An operation left a wrong result.
    """
    host = executor.name == "host"
    warm(executor)
    for case in _cases(executor, quick, parts):
        found = [case.sample() for _ in range(1 if host else samples)]
        value = math.nan if host else median(s.value for s in found)
        yield Cost(case.experiment, value, case.unit, case.parameters, found[0].verified)


def record(study, executor, part, measures=PARTS, rounds=8, quick=False, seed=0, state=dict, *, build):
    """Append the missing samples of one part to a study's recording: every case once a round, in a random order
    per round.

    Parameters
    ----------
    study : lockstep.evidence.Study
        Where the rows go; nothing happens unless `part` is selected there.
    executor : Executor
        On "host" there is one round, and a row holds the number of verified operations ("operations").
    part : str
        The study's part that the rows belong to.
    measures : sequence of str
        Which of PARTS.
    rounds : int
        Samples of each case.
    quick : bool
        Fewer cases.
    seed : int
        Seed of the order.
    state : callable
        The device's clocks, power and throttling as {metric: (value, unit)}, recorded once a round.
    build : callable
        ``build(study, kernel, dataset)`` returns the id of the current code (`lockstep.provenance.build`).

    Returns
    -------
    int
        Samples taken now.

    Raises
    ------
    VerificationFailed
        An operation left a wrong result; nothing of that sample is written.
    """
    if not study.selected(part):
        return 0
    cases, taken = list(_cases(executor, quick, measures)), 0
    present = {name: build(STUDY, name, DATASET) for name in {case.strategy for case in cases}}
    rows = study.rows()
    columns = (rows[name] for name in ("experiment", "strategy", "parameters", "round", "kernel"))
    known = set(zip(*columns, strict=True))
    for round_index in range(1 if executor.name == "host" else rounds):
        order = np.random.default_rng([seed, round_index]).permutation(len(cases))
        missing = [
            case
            for case in (cases[k] for k in order)
            if (
                case.experiment, case.strategy, _canonical(case.parameters), round_index, present[case.strategy],
            ) not in known  # fmt: skip
        ]
        if missing and not taken:
            warm(executor)
        for case in missing:
            value, operations, verified = case.sample()
            values = {"operations": (operations, "1")} if value is None else {case.metric: (value, case.unit)}
            study.count(part, case.experiment, DATASET, case.strategy, values, kernel=present[case.strategy],
                        parameters=case.parameters, verified=verified, round=round_index)  # fmt: skip
            taken += 1
        if missing and (told := state()):
            study.count(part, "clocks", DATASET, "(clocks)", told, parameters={"part": part}, round=round_index)
    return taken


def _canonical(parameters):
    return json.dumps(parameters, sort_keys=True, separators=(",", ":"))
