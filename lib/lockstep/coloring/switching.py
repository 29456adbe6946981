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
    """While the highest degree left falls fast enough to pay for the rounds.

    A round lasts as long as a launch and its longest row. What one by degree is good for is that all rounds to come
    have shorter rows. How many those are the degrees tell: about as many as the largest h of which h vertices have
    degree h or more. So stay while

        fall x h  >=  WORTH x (LAUNCH + highest)

    with the mean fall over the last PATIENCE x h rounds: the highest degree falls by fits and starts, and to wait for
    so many rounds in vain costs no larger share of the time. WORTH is far below one, for a round by degree is not a
    round more: it colors, if few, then those that would need rounds of their own later. Only counts decide, never a
    clock, so a seed gives the same colors again.

    The constants (LAUNCH in steps along a row) were fitted on an H200 to coAuthorsDBLP, caidaRouterLevel,
    soc-Epinions1, ego-Facebook, email-Eu-core, road-like-1e6, rmat-14 and ten further R-MAT and Erdos-Renyi graphs.
    HC-BIOGRID, ego-Twitter, wiki-Vote, p2p-Gnutella31, erdos-renyi-1e5 and USA-road-d.NY were looked at before the
    rule had its present form, so C8 is judged on others.
    """

    watches = True
    WORTH, LAUNCH, PATIENCE = 0.2, 400, 0.02
    FIRST = 0.3  # the fall that the first round is expected to bring, of the highest

    def start(self, graph, executor):
        rule = Auto()
        degrees = graph.out_degrees()
        rule.seen = (int(degrees.max(initial=0)),)  # the highest degree left, round by round
        at_least = np.cumsum(np.bincount(degrees, minlength=1)[::-1])[::-1]  # vertices of so high a degree or higher
        rule.rounds = int((at_least >= np.arange(at_least.size)).sum()) - 1
        rule.window = max(1, int(np.ceil(self.PATIENCE * rule.rounds)))
        return rule

    def _pays(self, fall):
        return fall * self.rounds >= self.WORTH * (self.LAUNCH + self.seen[-1])

    def now(self, turn):
        return turn == 0 and not self._pays(self.FIRST * self.seen[0])

    def after(self, left, colored, highest):
        self.seen = (*self.seen[-self.window :], highest)
        return not self._pays((self.seen[0] - highest) / (len(self.seen) - 1))


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
