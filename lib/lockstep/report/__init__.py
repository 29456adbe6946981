"""The report: house style, figures, tables and numbers for the paper, and the paper itself."""

from lockstep.report import figures, style
from lockstep.report.output import numbers, save, table
from lockstep.report.typeset import build, collect

__all__ = ["build", "collect", "figures", "numbers", "save", "style", "table"]
