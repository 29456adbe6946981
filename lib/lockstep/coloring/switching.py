"""When `hybrid` goes over from degrees to random numbers."""

import re

import numpy as np


class Switch:
    """A rule that ends the phase by degree; `start` gives the rule for one run on one graph."""

    watches = False  # whether rounds must report the highest degree left

    def start(self, graph, executor):
        return self

    def now(self, turn):
        """Whether round `turn` is the first by random numbers."""
        return False

    def after(self, left, colored, highest):
        """Whether to switch after a round.

        Parameters
        ----------
        left, colored : int
            Vertices without a color before it, and those that it colored.
        highest : int
            The highest degree left without a color after it; 0 if the rule does not watch.
        """
        return False


class At(Switch):
    """After a fixed number of rounds."""

    def __init__(self, turn):
        self.turn = turn

    def now(self, turn):
        return turn >= self.turn


class Never(Switch):
    """Only when a round by degree colors nothing."""


class Threshold(Switch):
    """When a round by degree colors fewer vertices than this; None: than the machine has lanes, as the
    slides suggest.
    """

    def __init__(self, least=None):
        self.least = least

    def start(self, graph, executor):
        return self if self.least is not None else Threshold(executor.multiprocessors * 128)

    def after(self, left, colored, highest):
        return colored < self.least


class Auto(Switch):
    """While the highest degree left falls fast enough to be worth a round."""

    watches = True

    def start(self, graph, executor):
        rule = Auto()
        rule.highest = int(graph.out_degrees().max(initial=0))
        return rule

    def now(self, turn):
        return self.highest <= 32

    def after(self, left, colored, highest):
        fell, self.highest = self.highest - highest, highest
        return fell == 0


def of(switch):
    """The rule that `color`'s argument names.

    Parameters
    ----------
    switch : int, "auto", "never", "threshold" or "threshold:COUNT"
        A round (0: random numbers from the start), or a rule.

    Raises
    ------
    ValueError
        Anything else, a negative round or count among it.
    """
    if isinstance(switch, Switch):
        return switch
    if isinstance(switch, (int, np.integer)) and not isinstance(switch, bool) and switch >= 0:
        return At(int(switch))
    if switch in ("auto", "never", "threshold"):
        return {"auto": Auto, "never": Never, "threshold": Threshold}[switch]()
    if isinstance(switch, str) and (found := re.fullmatch(r"threshold:(\d+)", switch)):
        return Threshold(int(found[1]))
    raise ValueError(
        f"switch={switch!r}; expected a round (0 or more), 'auto', 'never', 'threshold' or 'threshold:COUNT'"
    )
