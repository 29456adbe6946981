"""Twins of further graphs than the published twelve: more originals of either class, at full size.

Sizes and largest degrees are those of KONECT's pages. Of road networks without a page the arcs are those of the problem
line of the 9th DIMACS Implementation Challenge, about one in a hundred of them parallel to another, and the largest
degree is ours (8). They were chosen by size and by having these figures, before any schedule ran on such a twin;
verdicts alone use them.
"""

import numpy as np

from . import likeness, skewed, twins


def _road(n, arcs, largest=8):
    return twins.Size("road", n, n, arcs, largest, 0, 0)


SIZES = {
    "BAY": _road(321_270, 800_172),
    "COL": _road(435_666, 1_057_066),
    "FLA": _road(1_070_376, 2_712_798),
    "NW": _road(1_207_945, 2_820_774, 9),
    "NE": _road(1_524_453, 3_897_636),
    "LKS": _road(2_758_119, 6_885_658),
    "movielens-1m": twins.Size("scale-free", 6_040, 3_706, 1_000_209, 3_428, 0, 0),
    "movielens-10m": twins.Size("scale-free", 69_878, 10_677, 10_000_054, 34_864, 0, 0),
    "youtube-groups": twins.Size("scale-free", 94_238, 30_087, 293_360, 7_591, 0, 0),
    "youtube": twins.Size("scale-free", 1_134_890, 1_134_890, 5_975_248, 28_754, 0, 0),
    "web-Google": twins.Size("scale-free", 875_713, 875_713, 5_105_039, 6_326, 0, 0),
    "amazon-ratings": twins.Size("scale-free", 2_146_057, 1_230_915, 5_743_258, 3_146, 0, 0),
}


def twin(name, executor=None):
    """The twin of one of SIZES: curved ids of a road network, skewed degrees of another; Ratings."""
    size, xp = SIZES[name], np if executor is None else executor.xp
    if size.kind == "road":
        return likeness.curved(twins.road(size, 0, xp, f"twin of {name}"), 0, xp)
    return skewed.scale_free(size, 0, xp, f"skewed twin of {name}")
