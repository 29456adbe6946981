"""Timing of one run, the same for every strategy.

Before: the input is prepared, the L2 cache overwritten if requested, Python's garbage collector disabled. Timed: the
run alone, by the wall clock with the device synchronized on both sides, and by device events as well where it runs on
a GPU. After: the result is verified before its time is recorded.
"""

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.evidence import nvml
from lockstep.evidence.recording import VERIFIED
from lockstep.plan import WrongResult

UNITS = {"sm_clock": "MHz", "memory_clock": "MHz", "power": "W", "temperature": "degC", "throttle": "1", "host": "us"}
PROBE = 10_000  # additions that measure the host's speed


class VerificationError(WrongResult):
    """A strategy that must be right gave a wrong result."""


@dataclass(eq=False)
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
        `WrongResult` if the result is wrong. It is called on every run's result, outside the timed
        section.
    kernel : str
        Id of the build that is measured: device code, host code, protocol, data.
    prepare : callable, optional
        `prepare()` runs, untimed, before each run.
    counts : callable, optional
        `counts(result)` returns {metric: (value, unit)}, recorded beside the times.
    timed : bool
        False records counts only, from a single run. Runs on the emulator are never timed.
    executor : Executor, optional
        Where it runs; None is a CPU baseline, timed by the wall clock alone.
    exact : bool
        Whether a wrong result is an error. False for strategies declared racy, whose wrong results are
        recorded as `measured-wrong`.
    events : bool
        Whether device events are recorded around a run on a GPU. They add a few microseconds of wall time: strategies
        that are compared should all be timed without if one is.
    rounds : int, optional
        At most so many samples, in the first rounds of its cell: for a run that takes seconds.
    warmup : bool
        Whether it runs once, untimed, before the first round.
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
    events: bool = True
    rounds: int | None = None
    warmup: bool = True
    done: str = field(init=False, default="wall")  # the metric written last: its row completes the sample

    def __post_init__(self):
        if self.executor is not None and self.executor.name == "host":
            self.timed = False
        if not self.timed:
            self.done = "runs"

    @property
    def on_gpu(self):
        """Whether times of this candidate depend on the GPU's clock."""
        return self.timed and self.executor is not None


def once(candidate, cold=False):
    """Run a candidate once.

    Parameters
    ----------
    candidate : Candidate
    cold : bool
        Overwrite twice the executor's L2 cache between `prepare` and the run.

    Returns
    -------
    result : object
        What `run` returned.
    times : dict
        {"device": (ms, "ms"), "wall": (ms, "ms")}; device only where the executor has events; empty if
        untimed.
    """
    if candidate.prepare:
        candidate.prepare()
    if cold and candidate.on_gpu:
        candidate.executor.zeros(2 * candidate.executor.l2_bytes, "uint8")
    if not candidate.timed:
        return candidate.run(), {}
    collecting = gc.isenabled()
    gc.disable()
    try:
        if candidate.executor is None:
            start = time.perf_counter()
            result = candidate.run()
            return result, {"wall": _ms((time.perf_counter() - start) * 1e3)}
        candidate.executor.synchronize()
        with candidate.executor.timer(events=candidate.events) as timer:
            result = candidate.run()
        times = {} if timer.device_ms is None else {"device": _ms(timer.device_ms)}
        return result, {**times, "wall": _ms(timer.wall_ms)}
    finally:
        if collecting:
            gc.enable()


def _ms(value):
    return round(float(value), 6), "ms"  # to 1 ns, below the clocks' resolution


def check(candidate, result):
    """Verify a result; the word that goes into the recording.

    Raises
    ------
    VerificationError
        If the result of an exact strategy is wrong, with the strategy's name.
    ValueError
        If `verify` returns a word other than the four.
    """
    try:
        word = candidate.verify(result)
    except WrongResult as error:
        raise VerificationError(f"{candidate.strategy}: {error}") from None
    if word not in VERIFIED:
        words = ", ".join(VERIFIED)
        raise ValueError(f"{candidate.strategy}: verify returned {word!r}; it must be one of {words}")
    if word == "measured-wrong" and candidate.exact:
        raise VerificationError(f"{candidate.strategy}: a wrong result, and it is not declared racy")
    return word


def clocks():
    """The GPU's state and the host's speed as values to record: {metric: (value, unit)}; empty without a GPU."""
    state = {**nvml.gpu().sample(), "host": probe()} if nvml.gpu() else {}
    return {metric: (value, UNITS[metric]) for metric, value in state.items() if value is not None}


def probe():
    """Microseconds of `PROBE` additions in Python, the minimum of five: the present speed of the host.

    On a host shared with other processes it indicates how much CPU runs and host-controlled loops are slowed.
    """
    took = []
    for _ in range(5):
        begin, total = time.perf_counter(), 0
        for number in range(PROBE):
            total += number
        took.append(time.perf_counter() - begin)
    return round(min(took) * 1e6, 3)


class Warmth:
    """Raises a GPU to its working clock, since an idle GPU's lower clock would bias the first samples.

    Parameters
    ----------
    least, most : float
        Smallest and largest duration of the warm-up in seconds.
    sample, clock : callable
        Return the SM clock in MHz (None without a GPU) and the time in seconds; replaceable for tests.
    """

    def __init__(self, least=0.5, most=3.0, sample=None, clock=time.perf_counter):
        self.least, self.most, self.clock = least, most, clock
        self.sample = sample or (lambda: nvml.gpu().sample()["sm_clock"] if nvml.gpu() else None)
        self.steady = None

    def up(self, candidates):
        """Run the candidates in turn until five successive readings of the SM clock are equal, or `most` s have passed.

        Later calls return at once while the clock is at least 98 % of that. Returns the clock in MHz, None without
        a GPU or without candidates.
        """
        now = self.sample() if candidates else None
        if now is None or (self.steady and now >= 0.98 * self.steady):
            return now
        start, seen = self.clock(), []
        while True:
            for candidate in candidates:
                once(candidate)
                seen.append(self.sample())
                spent = self.clock() - start
                still = len(seen) >= 5 and len(set(seen[-5:])) == 1
                if spent > self.most or (spent > self.least and still):
                    self.steady = seen[-1]
                    return self.steady
