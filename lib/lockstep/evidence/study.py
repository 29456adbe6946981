"""A study's evidence: measure the samples missing on this machine; `reading` reads those present."""

import contextlib
import gc
import shlex
import time
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import yaml

from lockstep import paths
from lockstep.evidence import computer, nvml, recording, seals, timing
from lockstep.evidence.reading import Reader


class Study(Reader):
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
        Folders of this machine's rows and of recorded machines.
    machine : mapping, optional
        Description of this machine; by default `describe_machine()`.

    Raises
    ------
    ValueError
        If the configuration has no block for this study, or the block has no such part.
    """

    def __init__(
        self, name, part=None, executor=None, *, config=None, results=paths.RESULTS, recordings=paths.RECORDINGS,
        machine=None,
    ):
        block = _block(config, name, part)
        here = machine or computer.describe_machine()
        super().__init__(name, here, results, recordings, block, writable=part is not None)
        self.part, self.executor = part, executor
        self._config_name = None if config is None or isinstance(config, Mapping) else Path(config).name
        self._logged = None  # the run as machine.json has it, once it measures something
        self._began, self._seconds = time.perf_counter(), {"warming": 0.0, "running": 0.0, "checking": 0.0}
        self._warmth = timing.Warmth()
        if part is not None:
            gc.freeze()  # excludes loaded libraries from the collections between cells

    def selected(self, part):
        """Whether rows of `part` are measured now."""
        return self.part is not None and self.part in ("all", part)

    def measure(
        self, part, experiment, dataset, candidates, *, parameters=None, rounds=8, seed=0, cache="warm", warmup=True,
        together=False,
    ):
        """Measure the samples of one cell that this machine's recording lacks, then return the cell's rows.

        Candidates run in a random order per round, so that drift of the machine affects all alike and ratios can be
        taken within a round. Every result is verified before its time is written.

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
            Seed of the orders, together with the cell's names.
        cache : {'warm', 'cold'}
            `cold` writes over twice the L2 cache before every run on a GPU and adds `"cache":"cold"` to the
            parameters; `warm` leaves the cache as `prepare` left it.
        warmup : bool
            Run each timed candidate once, untimed, first (compilation, allocation), and the GPU until its
            clock is steady. Switch off where one run is long and the caller has warmed up on a smaller input.
        together : bool
            If a sample is missing, measure the whole cell anew: a ratio within a round is valid only if both runs
            belong to the same measurement.

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
        candidates = list(candidates)
        names = [candidate.strategy for candidate in candidates]
        if len(set(names)) < len(names):
            raise ValueError(f"a strategy is named twice: {', '.join(names)}")
        parameters = {**(parameters or {}), **({"cache": "cold"} if cache == "cold" else {})}
        cell = self._cell(experiment, dataset, parameters)
        if self.selected(part):
            done = self._recording.keys()
            todo = [
                [c for c in candidates if self._due(c, round_index) and self._key(cell, c, round_index) not in done]
                for round_index in range(rounds)
            ]
            if together and any(todo):
                todo = [[c for c in candidates if self._due(c, round_index)] for round_index in range(rounds)]
            if any(todo):
                self._log()
                if warmup:
                    self._warm_up({id(c): c for missing in todo for c in missing if c.timed and c.warmup}.values())
                gc.collect()  # the collector is off while a run is timed
                # Each cell has orders of its own, so that what a strategy leaves to the next cancels over graphs, too.
                cell_seed = zlib.crc32("\n".join(cell.values()).encode())
                for round_index, missing in enumerate(todo):
                    order = np.random.default_rng([seed, cell_seed, round_index]).permutation(len(candidates))
                    self._round(cell, round_index, [candidates[k] for k in order if candidates[k] in missing], cache)
        return self._rows_of(cell, names)

    def lacking(self, experiment, dataset, kernels, *, parameters=None, rounds=8):
        """The strategies with missing rows in a cell; only these need to be built.

        Parameters
        ----------
        experiment, dataset : str
        kernels : mapping
            {strategy: the id of its present build}.
        parameters : mapping
        rounds : int
            Required of each timed strategy; of a counted one, a single round.

        Returns
        -------
        list of str
        """
        cell, done = tuple(self._cell(experiment, dataset, parameters).values()), self._recording.keys()

        def there(strategy, kernel):
            timed = all((*cell, strategy, round_index, kernel, "wall") in done for round_index in range(rounds))
            return timed or (*cell, strategy, 0, kernel, "runs") in done

        return [strategy for strategy, kernel in kernels.items() if not there(strategy, kernel)]

    def counted(self, experiment, dataset, strategy):
        """Whether figures of this name, which are not times of a run, are recorded."""
        cell = tuple(self._cell(experiment, dataset, None).values())
        return strategy in set(self._recording.cell(*cell)["strategy"])

    def seal(self, part):
        """If this run measured anything of a part, seal the recording and log the seconds by activity."""
        if self._logged:
            seals.seal(self.folder, self.name, part)
            whole = time.perf_counter() - self._began
            spent = {**self._seconds, "making ready": whole - sum(self._seconds.values())}
            seconds = {what: round(value, 1) for what, value in spent.items()}
            recording.log_run(self.folder, self.machine, {**self._logged, "seconds": seconds})

    @contextlib.contextmanager
    def _spending(self, on):
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[on] += time.perf_counter() - begin

    def _warm_up(self, candidates):
        with self._spending("warming"):
            for candidate in candidates:
                timing.check(candidate, timing.once(candidate)[0])
            self._warmth.up([candidate for candidate in candidates if candidate.on_gpu])

    def _round(self, cell, round_index, candidates, cache):
        for candidate in candidates:
            with self._spending("running"):
                result, times = timing.once(candidate, cold=cache == "cold")
            with self._spending("checking"):
                verified = timing.check(candidate, result)
                values = {**(candidate.counts(result) if candidate.counts else {}), **times}
            if not candidate.timed:
                values["runs"] = (1, "1")
            # The row that marks the sample complete is written last: after a kill the sample is repeated.
            values[candidate.done] = values.pop(candidate.done)
            self._append(cell, candidate.strategy, values, round_index, verified, candidate.kernel)
        if any(candidate.on_gpu for candidate in candidates):
            self._append(cell, recording.CLOCKS, timing.clocks(), round_index, "not-applicable", "")

    def count(
        self, part, experiment, dataset, strategy, values, *, kernel="", parameters=None, verified="not-applicable",
        round=0, renew=False,
    ):
        """Record figures that are not times of a run, unless they are there already.

        Parameters
        ----------
        part, experiment, dataset, strategy : str
        values : mapping
            {metric: (value, unit)}.
        kernel : str
            Id of the build that produced them.
        parameters : mapping
        verified : str
        round : int
        renew : bool
            Replace recorded values that differ: for figures derived from rows.

        Returns
        -------
        DataFrame
            The rows of this cell and strategy.
        """
        cell = self._cell(experiment, dataset, parameters)
        if self.selected(part):
            if renew:
                rows = self._rows_of(cell, [strategy])
                rows = rows[(rows["round"] == round) & (rows["kernel"] == kernel)]
                there = dict(zip(rows["metric"], rows["value"], strict=True))
                missing = {metric: value for metric, value in values.items() if there.get(metric) != float(value[0])}
            else:
                done = self._recording.keys()
                sample = (*cell.values(), strategy, round, kernel)
                missing = {metric: value for metric, value in values.items() if (*sample, metric) not in done}
            if missing:
                self._log()
                self._append(cell, strategy, missing, round, verified, kernel)
        return self._rows_of(cell, [strategy])

    def derive(self, part, experiment, dataset, strategy, metric, unit, values, *, kernel, parameters=None):
        """Record a figure derived from rows, one per round; its values in other rounds are withdrawn.

        Parameters
        ----------
        part, experiment, dataset, strategy, metric, unit : str
        values : mapping
            {round: value}: all there are now. A round that holds this value already is left as it is.
        kernel : str
            Id of the build of the rows that it follows from.
        parameters : mapping
        """
        told = {"kernel": kernel, "parameters": parameters, "verified": "invariant"}
        for round_index, value in values.items():
            self.count(part, experiment, dataset, strategy, {metric: (value, unit)}, round=round_index, renew=True,
                       **told)  # fmt: skip
        if self.selected(part):
            cell = self._cell(experiment, dataset, parameters)
            rows = self._rows_of(cell, [strategy])
            gone = rows[(rows["metric"] == metric) & (rows["kernel"] == kernel) & ~rows["round"].isin(list(values))]
            for round_index, value in zip(gone["round"].tolist(), gone["value"].tolist(), strict=True):
                self._append(cell, strategy, {metric: (value, unit)}, round_index, recording.WITHDRAWN, kernel)

    def _cell(self, experiment, dataset, parameters):
        return {
            "study": self.name,
            "experiment": experiment,
            "dataset": dataset,
            "parameters": recording.canonical(parameters),
        }

    @staticmethod
    def _due(candidate, round_index):
        """Whether a candidate runs in a round: in the first alone if it is only counted."""
        return round_index == 0 or (candidate.timed and (candidate.rounds is None or round_index < candidate.rounds))

    @staticmethod
    def _key(cell, candidate, round_index):
        return (*cell.values(), candidate.strategy, round_index, candidate.kernel, candidate.done)

    def _rows_of(self, cell, strategies):
        rows = self._recording.cell(*cell.values())
        return recording.current(rows[rows["strategy"].isin(strategies)])

    def _append(self, cell, strategy, values, round_index, verified, kernel):
        sample = {**cell, "strategy": strategy, "round": round_index, "verified": verified, "kernel": kernel}
        if hasattr(kernel, "record"):  # a new build is described in the tables before its first row
            kernel.record(self.folder, self.executor)
        self._recording.append(
            {**sample, "metric": metric, "unit": unit, "value": float(value)}
            for metric, (value, unit) in values.items()
        )

    def _log(self):
        """Log command, commit and versions in machine.json, once per run that measures something."""
        if self._logged:
            return
        command = ["papermill", f"notebooks/{self.name}.ipynb", "-", "-p", "part", self.part]
        if self._config_name:
            command += ["-p", "config", f"config/{self._config_name}"]
        if self.executor is not None:
            command += ["-p", "executor", self.executor.name]
        self._logged = {
            "date": computer.now(),
            "study": self.name,
            "part": self.part,
            "command": shlex.join(command),
            "commit": computer.commit(),
            "threads": self.machine.get("cores"),
            **{key: self.machine.get(key) for key in ("driver", "cuda", "nvrtc", "cupy", "python")},
            "clocks": nvml.gpu().sample() if nvml.gpu() else None,
        }
        anew = not self._recording.path.is_file()
        if anew:
            seals.forget(self.folder, self.name)
        recording.log_run(self.folder, self.machine, self._logged, anew)


def _block(config, name, part):
    """A study's block of a configuration; refused if it has no such study, or the study no such part."""
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        config = yaml.safe_load((paths.ROOT / config).read_text())
    studies = config.get("studies", {})
    if name not in studies:
        known = ", ".join(studies) or "none"
        raise ValueError(f"the configuration has no study {name!r}; it has {known}")
    block = studies[name] or {}
    parts = block.get("parts", {})
    if part not in (None, "all") and parts and part not in parts:
        raise ValueError(f"study {name} has no part {part!r}; it has {', '.join(parts)}")
    return block
