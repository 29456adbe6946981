"""The study's worked example: its sample graph, and its schedules on a GPU with two threads.

The figure of the graph is lost; the text around it says enough to derive one (not the only one) that agrees
with every sentence: edges a to l in the order of the movies; a and b share m0, a and f share u0; pairs that
exclude each other when taken two at a time are ab, cd, gh, ij, kl and not ef; thread two meets thread one at
f and at g, but not at h; i goes with k, and j with l; a sweep over the matchings takes eight steps; nine
diagonals are not empty, d3 = {a, g}.
"""

import numpy as np

from lockstep.machine import get_executor

from ..problem import Problem
from ..ratings import Ratings
from ..strategies.table import STRATEGIES

LABELS = "abcdefghijkl"
MOVIES = {
    0: (0, 1, 2, 4, 5),
    1: (0, 1, 3),
    2: (3, 5),
    3: (0, 1),
}  # the users of each movie, in the order of the edges
SHUFFLE = "kebdjchgfail"  # the shuffle that the text gives as its example


def sample():
    """The sample graph as Ratings: 6 users, 4 movies, 12 edges; edge k is LABELS[k]."""
    items = np.repeat(list(MOVIES), [len(users) for users in MOVIES.values()])
    users = np.concatenate([list(users) for users in MOVIES.values()])
    values = np.array([5, 3, 4, 1, 2, 4, 5, 2, 3, 1, 5, 4], np.float32)
    return Ratings(users, items, values, (6, 4), name="sample graph")


def names(edges):
    """Edges by letter."""
    return "".join(LABELS[e] for e in edges)


def steps(strategy, **options):
    """What two threads do in each time step, read off the emulator.

    Parameters
    ----------
    strategy : str
        A strategy of the published study.
    **options
        Of the strategy; ``order="kebd..."`` runs `edge-locked` on the edges in that order.

    Returns
    -------
    list of (str, str, str)
        For each step the edge that the first and the second thread applied ("" for none), and those that were
        deferred.
    """
    executor = get_executor("host", trace=True)
    order = options.pop("order", None)
    if strategy == "edge-locked":
        options["shuffle"] = False
    if strategy in ("agm-node", "sgm", "node-locked"):
        options["block"] = 2
    if strategy == "block-diagonal":
        options.update(rows=2, columns=2)
    problem = Problem(sample(), 4)
    plan = STRATEGIES[strategy].plan_for(problem, executor, lanes=1, threads=2, blocks=1, **options)
    letters = np.array(list(LABELS))[numbering(plan)]
    if order is not None:
        number = np.array([LABELS.index(letter) for letter in order])
        letters = np.array(list(order))
        plan.place(*(array[number] for array in plan.edges()))
        plan.lists()  # with a launch that takes these arrays
    plan.reset()
    executor.trace()
    plan.run()
    plan.check_sweep()
    rows = []
    taken = [0, 0]  # steps of each thread
    before = together = None
    for event in executor.trace():
        if before is not None and event.step < before:
            together = None
            taken = [len(rows)] * 2  # another launch: it begins when the one before has ended
        before = event.step
        if event.event != "mark":
            continue
        edge, superstep = int(event.before), int(event.after)
        if plan.file == "offline.cu" and superstep != together:
            together = superstep
            taken = [len(rows)] * 2  # a barrier: no thread begins the next superstep before all are done
        while len(rows) <= taken[event.thread]:
            rows.append(["", "", ""])
        rows[taken[event.thread]][event.thread if event.where == "mark 0" else 2] += str(letters[edge])
        taken[event.thread] += 1
    return [tuple(row) for row in rows]


def numbering(plan):
    """Edge of the sample graph at each place of a plan's own order."""
    users, items, _ = plan.edges()
    ratings = plan.problem.ratings
    place = {(u, i): k for k, (u, i) in enumerate(zip(ratings.users, ratings.items, strict=True))}
    return np.array([place[pair] for pair in zip(users, items, strict=True)])
