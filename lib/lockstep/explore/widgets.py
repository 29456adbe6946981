"""The widgets of the notebook: select a study, graph and strategy, and play the schedule step by step.

Computation and drawing are in other modules; this one connects them.
"""

import functools
import io
import threading
from pathlib import Path

import ipywidgets as w
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lockstep import compare, studies
from lockstep.report import style

from .picture import draw, told
from .schedule import GRAPHS, STUDIES, graph_of, problem_of, schedule, strategies_of, suits

_drawing = threading.RLock()


def alone(method):
    """Serialize callbacks: JupyterLab may run them in several threads, and matplotlib is not thread-safe."""

    @functools.wraps(method)
    def locked(*args, **options):
        with _drawing:
            return method(*args, **options)

    return locked


def png(draw):
    """PNG bytes of `draw(figure)`, on a figure that is not registered with the notebook's backend."""
    figure = Figure(layout="constrained", dpi=95)
    draw(figure)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    return buffer.getvalue()


class Explorer:
    """The widgets and their callbacks.

    Attributes
    ----------
    graph, study, strategy, seed, step : ipywidgets
        The selection.
    file : ipywidgets.Text
        The path of the user's graph, which is added to the list.
    picture, words : ipywidgets
        The schedule, and the events of the step.
    rivals, rank, ranking, table : ipywidgets
        The strategies to rank, the button, and its results.
    box : ipywidgets.VBox
        All of it, to be shown.
    """

    def __init__(self, study="sssp", graph="two ways", strategy="semaphores", seed=0):
        style.use()
        self.schedule = None
        self.quiet = False  # while a change of one widget changes others
        named = [(text, name) for name, text in STUDIES.items()]
        self.study = w.Dropdown(options=named, value=study, description="study")
        self.file = w.Text(description="own file", placeholder="path of a small graph", continuous_update=False)
        self.graph = w.Dropdown(options=self._graphs(), description="graph")
        self.graph.value = graph if graph in self.graph.options else self.graph.options[0]
        self.strategy = w.Dropdown(options=strategies_of(study), value=strategy, description="strategy")
        self.seed = w.BoundedIntText(value=seed, min=0, max=10**6, description="seed")
        self.play = w.Play(value=1, min=1, max=10, interval=300, description="play")
        self.step = w.IntSlider(value=1, min=1, max=10, description="step", layout=w.Layout(width="60%"))
        w.jslink((self.play, "value"), (self.step, "value"))
        self.picture = w.Image(format="png", layout=w.Layout(max_width="100%"))
        self.picture.add_class("lockstep-schedule")
        self.words = w.HTML()
        self.words.add_class("lockstep-words")
        self.rivals = w.SelectMultiple(rows=8, description="ranking")
        self.rank = w.Button(description="rank them", icon="sort-amount-asc")
        self.rank.add_class("lockstep-rank")
        self.ranking = w.Image(format="png", layout=w.Layout(max_width="45em", display="none"))
        self.ranking.add_class("lockstep-ranking")
        self.table = w.HTML()
        self.study.observe(self._study_changed, "value")
        for one in (self.graph, self.strategy, self.seed):
            one.observe(self._run, "value")
        self.file.observe(self._file_changed, "value")
        self.step.observe(self._show, "value")
        self.rank.on_click(self._rank)
        self._offer_rivals()
        self._run()
        self.box = w.VBox([
            w.HBox([self.study, self.graph, self.file]), w.HBox([self.strategy, self.seed]),
            w.HBox([self.play, self.step]), self.words, self.picture,
            w.HBox([self.rivals, self.rank]), self.table, self.ranking,
        ])  # fmt: skip

    def _graphs(self):
        name = self.file.value.strip()
        own = [name] if Path(name).is_file() and suits(self.study.value, name) else []
        return own + [name for name in GRAPHS if suits(self.study.value, name)]

    @alone
    def _file_changed(self, _=None):
        """Show the graph of the file, or why it cannot be shown."""
        name = self.file.value.strip()
        if not name:
            return self._run()  # in place of what was wrong with a file
        try:
            if not Path(name).is_file():
                raise ValueError(f"{name}: there is no such file")
            problem_of(self.study.value, graph_of(name, self.study.value)).validate()
        except ValueError as error:
            self._refuse(error)
            return
        self.quiet = True
        self.graph.options = self._graphs()
        self.graph.value = name
        self.quiet = False
        self._run()

    def _offer_rivals(self):
        self.rivals.options = [name for name in studies.table(self.study.value) if name != "auto"]
        self.rivals.value = self.rivals.options[:4]

    @alone
    def _study_changed(self, _=None):
        self.quiet = True
        kept = self.graph.value
        self.graph.options = self._graphs()
        self.graph.value = kept if kept in self.graph.options else self.graph.options[0]
        self.strategy.options = strategies_of(self.study.value)
        self.strategy.value = self.strategy.options[0]
        self._offer_rivals()
        self.ranking.layout.display, self.table.value = "none", ""
        self.quiet = False
        self._run()

    @alone
    def _run(self, _=None):
        if self.quiet:
            return
        try:
            self.schedule = schedule(self.study.value, self.graph.value, self.strategy.value, self.seed.value)
        except Exception as error:
            self._refuse(error)
            return
        self.picture.layout.display = None
        last = max(self.schedule.steps, 1)
        self.quiet = True
        self.play.max = self.step.max = last
        self.play.value = self.step.value = last
        self.quiet = False
        self._show()

    def _refuse(self, error):
        """Show an error in place of the figure: widget callbacks have no other output."""
        self.words.value = _text(f"{type(error).__name__}: {error}")
        self.picture.layout.display = "none"

    @alone
    def _show(self, _=None):
        if self.quiet or self.schedule is None:
            return
        self.picture.value = png(lambda figure: draw(self.schedule, self.step.value, figure))
        self.words.value = _text(told(self.schedule, self.step.value))

    @alone
    def _rank(self, _=None):
        self.table.value = _text("ranking ...")
        try:
            graph, rivals = graph_of(self.graph.value, self.study.value), list(self.rivals.value)
            found = compare.compare(self.study.value, graph, rivals, "host", rounds=1)
        except Exception as error:
            self.table.value = _text(f"{type(error).__name__}: {error}")
            return
        self.table.value = _text(compare.told(found))
        self.ranking.value = png(lambda figure: compare.picture(found, figure))
        self.ranking.layout.display = None


def _text(text):
    from html import escape

    return f"<pre style='line-height:1.25'>{escape(text)}</pre>"
