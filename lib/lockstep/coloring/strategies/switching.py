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

    def after(self, left, colored, highest=0, tied=False):
        """Whether to switch after a round.

        Parameters
        ----------
        left, colored : int
            Vertices without a color before it, and those that it colored.
        highest : int
            The highest degree left without a color after it; 0 if the rule does not watch.
        tied : bool
            Whether two neighbors of that degree are left, which block each other in every round by degree to come.
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

    def after(self, left, colored, highest=0, tied=False):
        return colored < self.least


class Auto(Switch):
    """While the highest degree left falls, and may be expected to fall fast enough to pay for the rounds.

    Two facts make the choice. Of the vertices of the highest degree left a round by degree colors all that have no
    neighbor of that degree; those that have one block each other for good, and every lane sees whether its vertex is
    such a one. So when one of the highest is tied, no further round by degree can shorten the longest row. And before
    that each round goes down the list of the degrees that occur by one place or more: the degree sequence tells what
    lies ahead, a plateau or a steep fall behind it.

    A round lasts as long as a launch and its longest row. What a round by degree is good for is that all rounds to come
    have shorter rows; how many those are the degrees tell too: about as many as the largest h of which h vertices have
    degree h or more. So stay while

        steepest x places a round x h  >=  WORTH x (LAUNCH + highest)

    with the steepest mean fall a place from here down to any place of the list, and the places a round that were seen.
    WORTH is below one, for a round by degree is not a round more: it colors, if few, then those that would need rounds
    of their own later. Only counts decide, never a clock, so a seed gives the same colors again; what is known of the
    degrees is prepared beforehand, and a round is decided on by a look into it.

    LAUNCH, in steps along a row, is what the recorded sweeps say: on an H200 a round takes 24 us, and 72 ns for each
    step along its longest row. That gives the time of any switch from counts alone, closely enough to find the best
    one, so WORTH and PLACES were fitted to counts: of 76 generated graphs (R-MAT, Erdos-Renyi, preferential attachment,
    power laws, cliques, bipartite, geometric, small worlds, trees, roads) and of coAuthorsDBLP, caidaRouterLevel,
    soc-Epinions1, ego-Facebook, email-Eu-core, HC-BIOGRID, ego-Twitter, wiki-Vote, p2p-Gnutella31, rmat-14,
    erdos-renyi-1e5, road-like-1e6 and USA-road-d.NY. C8 is judged on others.
    """

    watches = True
    WORTH, LAUNCH = 0.5, 336
    PLACES = 5  # that the first round is expected to go down

    def start(self, graph, executor):
        rule = Auto()
        degrees = np.bincount(graph.out_degrees(), minlength=1)
        at_least = np.cumsum(degrees[::-1])[::-1]  # vertices of so high a degree or higher
        rule.rounds = int((at_least >= np.arange(at_least.size)).sum()) - 1
        occurring = np.flatnonzero(degrees)[::-1].tolist()
        rule.ahead = dict(zip(occurring, enumerate(steepest_falls(occurring)), strict=True))
        rule.done, rule.highest = 0, occurring[0]
        return rule

    def _pays(self):
        place, fall = self.ahead[self.highest]
        each = (self.PLACES + place) / (1 + self.done)
        return fall * each * self.rounds >= self.WORTH * (self.LAUNCH + self.highest)

    def now(self, turn):
        return turn == 0 and not self._pays()

    def after(self, left, colored, highest=0, tied=False):
        self.done, self.highest = self.done + 1, highest
        return tied or colored < left and not self._pays()


def steepest_falls(values):
    """For each place of a falling list the steepest mean fall from there to any place after it; 0 at the end."""
    falls, bend = [0.0] * len(values), [0] * len(values)
    for i in range(len(values) - 2, -1, -1):
        j = i + 1  # the lower hull of what follows, from bend to bend, while it gets steeper
        while j < len(values) - 1 and values[i] - values[bend[j]] >= (values[i] - values[j]) / (j - i) * (bend[j] - i):
            j = bend[j]
        bend[i], falls[i] = j, (values[i] - values[j]) / (j - i)
    return falls


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
