"""A study's evidence: measure what this machine lacks, read what is there."""

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from lockstep import paths
from lockstep.evidence import computer, nvml, recording, timing
from lockstep.evidence.timing import VerificationError

CLOCKS = "(clocks)"  # the strategy column of rows that tell the GPU's state during a round


@dataclass
class Candidate:
    """One strategy as it is measured.

    Parameters
    ----------
    strategy : str
        Its name.
    run : callable
        `run()` does the work that is timed and returns its result.
    verify : callable
        `verify(result)` returns `exact`, `invariant`, `measured-wrong` or `not-applicable`; it raises
        `VerificationError` if the result is wrong. It is called on every run's result, outside the timed
        section.
    kernel : str
        Digest of all that decides the result and its time: device text, options, host function, generator.
    prepare : callable, optional
        `prepare()` runs, untimed, before each run.
    counts : callable, optional
        `counts(result)` returns {metric: (value, unit)}, recorded beside the times.
    timed : bool
        False records counts alone, from a single run. The hypothetical GPU is never timed, whatever is said
        here.
    executor : Executor, optional
        Where it runs; None is a CPU baseline, timed by the wall clock alone.
    exact : bool
        Whether a wrong result is an error. False for strategies declared racy, whose wrong results are
        recorded as `measured-wrong`.
    """

    strategy: str
    run: Callable[[], Any]
    verify: Callable[[Any], str]
    kernel: str
    prepare: Callable[[], Any] | None = None
    counts: Callable[[Any], Mapping[str, tuple[float, str]]] | None = None
    timed: bool = True
    executor: Any = None
    exact: bool = True
    done: str = field(init=False, default="wall")

    def __post_init__(self):
        if self.executor is not None and self.executor.name == "host":
            self.timed = False
        if not self.timed:
            self.done = "runs"


class Study:
    """One study on this machine.

    Parameters
    ----------
    name : str
        The study's name, `3-toposort-depth` for example.
    part : str or None
        The part to measure, `all` for every part, None to read only.
    executor : Executor or None
        Where GPU strategies run; kept as `study.executor`.
    config : path, mapping or None
        A configuration file (or its content); `study.config` is this study's block of it, `{}` without one.
    results, recordings : path
        Where this machine's rows go, and where recorded machines lie.
    machine : mapping, optional
        What this machine is; by default it is looked up.

    Raises
    ------
    ValueError
        If the configuration has no block for this study, or the block has no such part.
    """

    def __init__(self, name, part=None, executor=None, *, config=None, results=paths.RESULTS,
                 recordings=paths.RECORDINGS, machine=None):  # fmt: skip
        self.name, self.part, self.executor = name, part, executor
        self.machine = dict(machine or computer.describe())
        self.recordings = Path(recordings)
        self.folder = Path(results) / self.machine["name"]
        self._config_name = None if config is None or isinstance(config, Mapping) else str(config)
        self.config = self._block(config)
        self._file = self.folder / f"{name}.csv"
        self._recording = recording.Recording(self._file) if part is not None else None
        self._logged = False
        self._warm = timing.Warmth()

    def _block(self, config):
        if config is None:
            return {}
        if not isinstance(config, Mapping):
            path = Path(config) if Path(config).is_absolute() else paths.ROOT / config
            config = yaml.safe_load(path.read_text())
        studies = config.get("studies", {})
        if self.name not in studies:
            raise ValueError(f"the configuration has no study {self.name!r}; it has {', '.join(studies) or 'none'}")
        block = studies[self.name] or {}
        known = block.get("parts", {})
        if self.part not in (None, "all") and known and self.part not in known:
            raise ValueError(f"study {self.name} has no part {self.part!r}; it has {', '.join(known)}")
        return block

    def selected(self, part):
        """Whether rows of `part` are measured now."""
        return self.part is not None and self.part in ("all", part)

    # -- measuring
    # ------------------------------------------------------------------------------------------------------

    def measure(self, part, experiment, dataset, candidates, *, parameters=None, rounds=8, seed=0, cache="warm",
                warmup=True):  # fmt: skip
        """Measure what this machine's recording lacks of one cell, then return the cell's rows.

        Candidates take turns in an order drawn anew for each round, so that a drift of the machine hits all
        alike and ratios can be taken within a round. Every result is verified before its time is written.

        Parameters
        ----------
        part, experiment, dataset : str
            The part of the study this belongs to, and the labels of the rows.
        candidates : sequence of Candidate
        parameters : mapping
            What else identifies the cell; written as canonical JSON.
        rounds : int
            Samples of each candidate; an untimed one runs once.
        seed : int
            Seed of the order.
        cache : {'warm', 'cold'}
            `cold` writes over twice the L2 cache before every run and adds `"cache":"cold"` to the
            parameters; `warm` leaves the cache as `prepare` left it.
        warmup : bool
            Run each timed candidate once, untimed, first (compilation, allocation). Switch off where one run
            is long and the caller has warmed up on a smaller input.

        Returns
        -------
        DataFrame
            The cell's rows of this machine, also where nothing was measured.

        Raises
        ------
        VerificationError
            If a strategy that must be exact gave a wrong result. Nothing of that run is written.
        """
        if cache not in ("warm", "cold"):
            raise ValueError(f"cache is {cache!r}; it must be 'warm' or 'cold'")
        names = [candidate.strategy for candidate in candidates]
        if len(set(names)) < len(names):
            raise ValueError(f"a strategy is named twice: {', '.join(names)}")
        text = recording.canonical({**(parameters or {}), **({"cache": "cold"} if cache == "cold" else {})})
        if self.selected(part):
            self._measure(part, experiment, dataset, list(candidates), text, rounds, seed, cache, warmup)
        rows = self.rows()
        cell = (rows["experiment"] == experiment) & (rows["dataset"] == dataset) & (rows["parameters"] == text)
        return rows[cell & rows["strategy"].isin(names)].reset_index(drop=True)

    def _measure(self, part, experiment, dataset, candidates, text, rounds, seed, cache, warmup):
        done = self._done()
        todo = [
            [c for c in candidates
             if (c.timed or turn == 0)
             and (experiment, dataset, c.strategy, text, turn, c.kernel, c.done) not in done]
            for turn in range(rounds)
        ]  # fmt: skip
        if not any(todo):
            return
        self._log(part)
        timed = {c.strategy: c for turn in todo for c in turn if c.timed}
        if warmup:
            for candidate in timed.values():
                timing.check(candidate, timing.once(candidate)[0])
        self._warm.up([c for c in timed.values() if c.executor is not None])
        label = {"study": self.name, "experiment": experiment, "dataset": dataset, "parameters": text}
        for turn, missing in enumerate(todo):
            order = np.random.default_rng([seed, turn]).permutation(len(candidates))
            for candidate in (candidates[k] for k in order if candidates[k] in missing):
                scratch = candidate.executor if cache == "cold" else None
                result, times = timing.once(candidate, flush=scratch)
                verified = timing.check(candidate, result)
                counts = dict(candidate.counts(result)) if candidate.counts else {}
                # The row that marks the sample as complete comes last: a kill before it repeats the sample.
                values = {**counts, **times} if candidate.timed else {**counts, "runs": (1, "1")}
                self._append(label, candidate.strategy, values, turn, verified, candidate.kernel)
            if any(c.executor is not None and c.timed for c in missing) and nvml.gpu():
                self._append(label, CLOCKS, timing.clocks(), turn, "not-applicable", "")

    def count(self, part, experiment, dataset, strategy, values, *, kernel="", parameters=None,
              verified="not-applicable", round=0):  # fmt: skip
        """Record figures that are not times of a run, unless they are there already.

        Parameters
        ----------
        values : mapping
            {metric: (value, unit)}.
        kernel : str
            Digest of what produced them.

        Returns
        -------
        DataFrame
            The rows of this cell and strategy.
        """
        text = recording.canonical(parameters)
        if self.selected(part):
            done = self._done()
            missing = {
                metric: value
                for metric, value in values.items()
                if (experiment, dataset, strategy, text, round, kernel, metric) not in done
            }
            if missing:
                self._log(part)
                label = {"study": self.name, "experiment": experiment, "dataset": dataset, "parameters": text}
                self._append(label, strategy, missing, round, verified, kernel)
        rows = self.rows()
        cell = (rows["experiment"] == experiment) & (rows["dataset"] == dataset) & (rows["parameters"] == text)
        return rows[cell & (rows["strategy"] == strategy)].reset_index(drop=True)

    def _done(self):
        rows = self._recording.rows()
        return set(rows[[*recording.SAMPLE, "metric"]].itertuples(index=False, name=None))

    def _append(self, label, strategy, values, turn, verified, kernel):
        self._recording.append([
            {**label, "strategy": strategy, "metric": metric, "unit": unit, "round": turn, "value": float(value),
             "verified": verified, "kernel": kernel}
            for metric, (value, unit) in values.items()
        ])  # fmt: skip

    def _log(self, part):
        """Say in machine.json who measured: once per run, and only if it measures something."""
        if self._logged:
            return
        self._logged = True
        words = ["papermill", f"notebooks/{self.name}.ipynb", "-", "-p", "part", self.part]
        if self._config_name:
            words += ["-p", "config", Path(self._config_name).name]
        recording.log_run(self.folder, self.machine, {
            "date": computer.now(),
            "study": self.name,
            "part": self.part,
            "command": shlex.join(words),
            "commit": computer.commit(),
            "threads": computer.cores(),
            "driver": self.machine.get("driver"),
            "cuda": self.machine.get("cuda"),
            "cupy": self.machine.get("cupy"),
            "executor": getattr(self.executor, "name", None),
            "clocks": nvml.gpu().sample() if nvml.gpu() else None,
            "started": time.strftime("%H:%M:%S", time.gmtime()),
        })  # fmt: skip

    # -- reading
    # --------------------------------------------------------------------------------------------------------

    def rows(self, machine=None):
        """The rows that count of this machine (None) or of a recorded one, as a tidy DataFrame.

        Raises
        ------
        ValueError
            If no such machine is recorded.
        """
        if machine is None:
            return recording.current(recording.read(self._file))
        known = self.recorded()
        if machine not in known:
            raise ValueError(f"no recording of {self.name} from {machine!r}; there are {', '.join(known) or 'none'}")
        return known[machine]

    def recorded(self):
        """{machine: rows} for every recorded machine that holds this study."""
        files = sorted(self.recordings.glob(f"*/{self.name}.csv"))
        return {file.parent.name: recording.current(recording.read(file)) for file in files}


def concatenate(recordings):
    """All machines' rows in one DataFrame with a first column `machine`."""
    frames = [rows.assign(machine=machine) for machine, rows in recordings.items()]
    if not frames:
        return recording.empty().assign(machine=pd.Series(dtype=str))
    return pd.concat(frames, ignore_index=True)[["machine", *recording.COLUMNS]]


__all__ = ["Candidate", "Study", "VerificationError", "concatenate"]
