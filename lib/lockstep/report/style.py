"""One look for all figures: color-blind safe, readable in print, the same bytes from the same data."""

import math

import matplotlib as mpl
import numpy as np
import seaborn as sns
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

# Paul Tol's color-blind safe "bright" and "muted" schemes, ordered so that neighbours differ in lightness as well as
# in hue; markers differ too, for gray prints.
PALETTE = ["#4477AA", "#EE6677", "#228833", "#CCBB44", "#AA3377", "#66CCEE", "#882255", "#44AA99", "#332288",
           "#999933", "#117733", "#DDCC77", "#777777"]  # fmt: skip
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d"]
INK, FAINT = "#222222", "#BBBBBB"
VERDICT = {
    "holds": "#228833",
    "fails": "#CC3311",
    "no difference": "#4477AA",
    "depends on the reading": "#AA3377",
    "undecided": "#CCBB44",
    "open question, answered": "#66CCEE",
    "not tested": "#BBBBBB",  # for want of rows, data, hardware or code
}
WIDTH = 6.3  # inches, the text width of the report


def use():
    """Set matplotlib's defaults to the house style. Call it once at the top of a notebook."""
    sns.set_theme(style="ticks", palette=PALETTE)
    mpl.rcParams.update({
        "figure.figsize": (WIDTH, 3.4),
        "figure.dpi": 110,
        "figure.constrained_layout.use": True,
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
        "axes.titlesize": 9,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 8.5,
        "axes.labelcolor": INK,
        "axes.edgecolor": "#666666",
        "axes.linewidth": 0.6,
        "axes.grid": True,
        "grid.color": "#E6E6E6",
        "grid.linewidth": 0.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 3.5,
        "ytick.major.size": 3.5,
        "xtick.minor.size": 1.5,
        "ytick.minor.size": 1.5,
        "xtick.minor.width": 0.4,
        "ytick.minor.width": 0.4,
        "legend.frameon": False,
        "legend.fontsize": 7.5,
        "lines.linewidth": 1.3,
        "lines.markersize": 4.5,
        "svg.hashsalt": "lockstep",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
        "mathtext.fontset": "dejavusans",
    })  # fmt: skip


def color_of(names):
    """{name: (color, marker)} by position, so that a strategy looks the same in all figures of a study. When the
    colors repeat, markers are shifted by one.
    """
    n = len(PALETTE)
    return {name: (PALETTE[k % n], MARKERS[(k + k // n) % len(MARKERS)]) for k, name in enumerate(names)}


class _Decades(LogLocator):
    """Ticks at powers of ten; if fewer than two are visible, also at 2 and 5 times each."""

    def tick_values(self, vmin, vmax):
        found = super().tick_values(vmin, vmax)
        if np.count_nonzero((found >= vmin) & (found <= vmax)) > 1:
            return found
        return LogLocator(subs=(1, 2, 5)).tick_values(vmin, vmax)


def decades(axis):
    """Set `_Decades` ticks: plain numbers from 0.001 to below 10,000, powers of ten beyond."""

    def text(value, _):
        power = math.floor(math.log10(value) + 1e-9) if value > 0 else 0
        if -3 <= power < 4:
            return f"{value:g}"
        factor = round(value / 10**power)
        return f"${factor}\\times10^{{{power}}}$" if factor > 1 else f"$10^{{{power}}}$"

    axis.set_major_locator(_Decades())
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_locator(NullLocator())
