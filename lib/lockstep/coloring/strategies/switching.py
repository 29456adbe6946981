"""When `hybrid` switches from degrees to random numbers."""

import re

import numpy as np


class Switch:
    """A rule that ends the phase by degree; `start` gives the rule for one run on one graph."""

    watches = False  # whether rounds must report the highest degree left

    def start(self, graph, executor):
        return self

    def now(self, iteration):
        """Whether this iteration is the first by random numbers."""
        return False

    def after(self, left, colored, highest=0, tied=False):
        """Whether to switch after a round.

        Parameters
        ----------
        left, colored : int
            Vertices without a color before it, and those that it colored.
        highest : int
            The highest degree left uncolored after it; 0 unless `watches`.
        tied : bool
            Whether two neighbors of that degree are left, which no later round by degree can color.
        """
        return False


class At(Switch):
    """After a fixed number of rounds."""

    def __init__(self, iteration):
        self.iteration = iteration

    def now(self, iteration):
        return iteration >= self.iteration


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
    """Stay while the highest degree left falls, and is expected to fall fast enough to repay the rounds.

    The rule rests on two facts. Of the vertices of the highest degree left a round by degree colors all that have no
    neighbor of that degree; adjacent ones stay uncolored in all such rounds, and each lane detects this for its
    vertex. So once a vertex of the highest degree is tied, no further round by degree can shorten the longest row.
    Until then each round descends the list of occurring degrees by one place or more, so the degree sequence predicts
    plateaus and steep falls.

    A round takes the time of a launch and of its longest row. The benefit of a round by degree is that all later rounds
    have shorter rows; their number is estimated from the degrees as the largest h for which h vertices have
    degree h or more. So stay while

        steepest x places a round x h  >=  WORTH x (LAUNCH + highest)

    with the steepest mean fall per place from here to any later place of the list, and the mean places per round so
    far. WORTH is below one, since a round by degree is not purely additional: it colors vertices, if few, that would
    need rounds of their own later. The rule uses counts only, no clock, so a seed reproduces the colors; degree
    statistics are computed beforehand, and each decision is a table lookup.

    LAUNCH, in steps along a row, comes from the recorded sweeps: on an H200 a round takes 24 us, and 72 ns for each
    step along its longest row. This predicts the time of any switch from counts alone, accurately enough to find the
    best: WORTH and PLACES were fitted to counts, of 76 generated graphs (R-MAT, Erdos-Renyi, preferential attachment,
    power laws, cliques, bipartite, geometric, small worlds, trees, roads) and of coAuthorsDBLP, caidaRouterLevel,
    soc-Epinions1, ego-Facebook, email-Eu-core, HC-BIOGRID, ego-Twitter, wiki-Vote, p2p-Gnutella31, rmat-14,
    erdos-renyi-1e5, road-like-1e6 and USA-road-d.NY. C8 is judged on others.
    """

    watches = True
    WORTH, LAUNCH = 0.5, 336
    PLACES = 5  # expected descent of the first round

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

    def now(self, iteration):
        return iteration == 0 and not self._pays()

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
