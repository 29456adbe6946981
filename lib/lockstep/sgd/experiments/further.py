"""Twins of further graphs than the published twelve: more originals of either class, at full size.

Sizes and largest degrees are those of KONECT's pages, of road networks without a page those of the problem line of the
9th DIMACS Implementation Challenge, whose largest degree is ours (8). They were chosen by size and availability of
these figures, before any schedule ran on such a twin; verdicts alone use them.
"""

import numpy as np

from . import likeness, skewed, twins

_NODES = {"BAY": 321_270, "COL": 435_666, "FLA": 1_070_376, "NW": 1_207_945, "NE": 1_524_453, "LKS": 2_758_119}
_ARCS = {"BAY": 800_172, "COL": 1_057_066, "FLA": 2_712_798, "NW": 2_820_774, "NE": 3_897_636, "LKS": 6_885_658}
SIZES = {
    **{name: twins.Size("road", n, n, _ARCS[name], 9 if name == "NW" else 8, 0, 0) for name, n in _NODES.items()},
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
