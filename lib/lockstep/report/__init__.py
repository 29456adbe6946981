"""The report: house style, figures, tables and numbers for the paper, and the paper itself."""

from lockstep.report import style
from lockstep.report.output import numbers, save, table

__all__ = ["numbers", "save", "style", "table"]
