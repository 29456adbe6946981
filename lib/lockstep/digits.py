"""Format numbers and lists for readers."""

import math
import re

import numpy as np

CODES = re.compile(r"\d+: ")  # how a unit of codes begins: `1: right, 0: wrong`
LONG = 14  # longest unit, in characters, that is written after each figure
# Of one thing.
_ONE = {"launches": "launch", "graphs": "graph", "layers": "layer", "atomics an edge": "atomic an edge"}


def readable(value):
    """A value as text: three significant digits for floats, thousands separated, a dash for missing values."""
    missing = value is None or type(value).__name__ == "NAType"  # pandas' own, which need not be imported for it
    if missing or (isinstance(value, (float, np.floating)) and math.isnan(value)):
        return "\N{EN DASH}"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    if isinstance(value, (float, np.floating)):
        return significant(float(value))
    return str(value)


def apart(value, bound, digits=3):
    """A value to be shown beside a bound: three significant digits, or as many as distinguish them (1.104 and 1.1)."""
    while digits < 17 and value != bound and significant(value, digits) == significant(bound, digits):
        digits += 1
    return significant(value, digits)


def listed(words):
    """Words with commas, and the last with `and`."""
    words = [str(word) for word in words]
    return " and ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + " and " + words[-1]


def not_measured(lacking):
    """A list with one sentence that names what was not measured; empty if nothing is missing."""
    return [f"Not measured on this machine in its present form: {'; '.join(lacking)}."] if lacking else []


def significant(value, digits=3):
    """`value` with `digits` significant digits and no exponent between 0.0001 and a billion: 1,234,567 gives
    1,230,000.
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    value = float(f"{value:.{digits + 9}g}")  # a mean of logarithms gives 21.849999999999998 for 21.85
    power = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - power)
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{value:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"


def figure(value, low=math.nan, high=math.nan, unit=""):
    """A figure with its interval and its unit (see `unit_of`): `16.2× (15.9 to 16.5)`; a count, which has no interval,
    to the last digit: `4,039 vertices`.
    """
    value, low, high = (math.nan if end is None else float(f"{end:.12g}") for end in (value, low, high))
    alone = math.isnan(low) or low == high
    count = f"{int(value):,}" if alone and math.isfinite(value) and value == int(value) else ""
    text = f"{count or significant(value)}{one(unit) if count == '1' else unit}"
    return text if alone else f"{text} ({significant(low)} to {significant(high)})"


def one(unit):
    """A unit after the number 1: ` layers` gives ` layer`."""
    return f" {_ONE[unit.strip()]}" if unit.strip() in _ONE else unit


def coded(value, unit):
    """What a code means: of `1: right, 2: wrong` the word after the value; "" for other units."""
    return dict(re.findall(r"(\d+): ([^,]+)", unit)).get(f"{value:g}", "")


def unit_of(unit):
    """A unit of the ledger as written after each figure, and what is said once instead: one of many words; ("", "") of
    codes.
    """
    after = {"x": "\N{MULTIPLICATION SIGN}", "slope": "", "share explained, ahead": ""}.get(unit, f" {unit}").rstrip()
    if CODES.match(unit):
        return "", ""
    return (after, "") if len(after) <= LONG else ("", after.strip())
