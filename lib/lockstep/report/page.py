"""Show a notebook's tables and figures, and optionally write them for the report."""

import pandas as pd

from lockstep.report import output


class Page:
    """A study's page.

    Parameters
    ----------
    study : str
        The study's name, under which the report finds what is handed to it.
    publish : bool
        Hand tables and figures to the report, not only show them.
    """

    def __init__(self, study, publish):
        self.study, self.publish = study, publish

    def show(self, table, name=None):
        """Show a table with three digits; one with a name goes to the report."""
        from IPython.display import Markdown, display

        table = pd.DataFrame(table)
        if self.publish and name and len(table):
            output.table(table, f"{self.study}/{name}")
        nothing = f"*Nothing is recorded yet{f' ({name})' if name else ''}.*"
        display(output.shown(table) if len(table) else Markdown(nothing))

    def drawn(self, figure, name):
        """Hand a figure to the report and show it."""
        import matplotlib.pyplot as plt

        if self.publish:
            output.save(figure, f"{self.study}/{name}", close=False)
        plt.show()
