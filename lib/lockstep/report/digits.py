"""Format numbers and lists for readers."""

import math

import numpy as np


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
    power = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - power)
    if not 1e-4 <= abs(rounded) < 1e9:
        return f"{value:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"
