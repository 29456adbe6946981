"""Power analysis: the sample size that each part needs, from the pilot's effects and their scatter.

A part's test shall be significant with probability `POWER` at Holm's strictest level in its paper, if the true effect
is the pilot's, or `LEAST` where the pilot's is smaller. The sampling unit is the graph for random graphs or a
collection; the place (size, depth) for a slope; else the recording, assuming that scatter between rounds is small
compared with that between recordings.
"""

import math

import pandas as pd

from lockstep.evidence import ledger
from lockstep.evidence.telling import TESTED

POWER = 0.9
LEAST = math.log(1.05)  # of a ratio
MOST = 10_000  # units; more is infeasible
FEWEST = 2  # of any unit
LOST = {"graphs": 1, "places": 2}  # degrees of freedom used by a mean and by a line
RATIOS = ("above", "below")
SLOPES = ("slope-within", "slope-above", "steeper", "explained-by")


def table(judged, level=0.05):
    """What each tested part of a pilot needs.

    Parameters
    ----------
    judged : DataFrame
        Verdicts, see `claims.judge`: the pilot.
    level : float

    Returns
    -------
    DataFrame
        `machine, part, population, unit, pilot, power, needed`: the pilot's number of units, the power at that
        number, and the number for `POWER`; NaN where `MOST` are too few. Identities need no test and are left out.
    """
    tested = judged[judged["verdict"].isin(TESTED) & judged["p"].notna() & (judged["kind"] != "identity")]
    family = tested.groupby(["machine", "paper"])["part"].transform("size")
    lines, bounds = [], {part.id: part.bound for part in ledger.load()}
    for line, count in zip(tested.itertuples(), family, strict=True):
        unit, pilot = _unit(line)
        effect = _standardized(line, unit, pilot, bounds.get(line.part, 1.0))
        own = {"machine": line.machine, "part": line.part, "population": line.population, "unit": unit, "pilot": pilot}
        own["power"] = power(effect, pilot, level / count, unit)
        lines.append(own | {"needed": needed(effect, level / count, unit)})
    return pd.DataFrame(lines)


def _unit(line):
    """The sampling unit of a part, and the pilot's number of units."""
    if line.relation in SLOPES:
        return "places", line.n
    if line.population in ("random", "collection") and line.graphs > 1:
        return "graphs", line.graphs
    return "recordings", max(line.recordings, 1)


def _standardized(line, unit, pilot, bound=1.0):
    """Standardized effect size per unit, from the pilot's p-value; infinite where that is 0. The effect is the distance
    from the bound that the part is tested against.
    """
    from scipy import stats  # half a second to import

    size = stats.norm.isf(line.p / 2) if unit == "recordings" else stats.t.isf(line.p / 2, pilot - LOST[unit])
    ratio = line.relation in RATIOS and line.unit in ("", "x") and line.value > 0
    seen = abs(math.log(line.value / bound)) if ratio else LEAST
    return size / math.sqrt(pilot) * max(1.0, LEAST / seen if seen else 1.0)


def power(effect, units, level, unit="graphs"):
    """Probability that a two-sided test on `units` units is significant in the direction of the effect."""
    from scipy import stats

    if math.isinf(effect):
        return 1.0
    shift = effect * math.sqrt(units)
    if unit == "recordings":
        return float(stats.norm.sf(stats.norm.isf(level / 2) - shift))
    freedom = units - LOST[unit]
    return float(stats.nct.sf(stats.t.isf(level / 2, freedom), freedom, shift)) if freedom > 0 else 0.0


def needed(effect, level, unit="graphs"):
    """The fewest units with `POWER`; NaN where `MOST` have less."""
    if power(effect, MOST, level, unit) < POWER:
        return math.nan
    low, high = FEWEST - 1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(effect, middle, level, unit) >= POWER else (middle, high)
    return high
