import matplotlib.colors
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lockstep import report
from lockstep.evidence import claims, machines, statistics
from lockstep.report import figures, style


@pytest.fixture(autouse=True)
def closed():
    report.style.use()
    yield
    plt.close("all")


@pytest.fixture
def rows(recordings, tmp_path):
    known = machines(recordings, tmp_path / "none")["nvidia-test-1"]
    return known[known["experiment"] == "table-4.3"]


def test_a_curve_has_geometric_means_and_their_intervals(rows):
    points = figures.curve(rows, "serial", "wall", "depth")
    assert [point[0] for point in points] == [10.0**k for k in range(7)]
    one = rows[(rows["dataset"] == "paths-100") & (rows["strategy"] == "serial") & (rows["metric"] == "wall")]
    expected = statistics.geometric_mean(np.log(one["value"]))
    assert points[2][1:] == pytest.approx((expected.value, expected.low, expected.high))
    by_count = figures.curve(rows, "serial", "wall", "metric:depth")
    assert np.array(by_count) == pytest.approx(np.array(points))


def test_time_against_depth_shows_measured_and_published_points(rows):
    published = {"naive": {1: 8.7, 10: 17}, "serial": {1: 120}}
    metric = {"serial": "wall", "naive": "device"}
    ax = figures.against(rows, "depth", metric=metric, strategies=["serial", "naive"], published=published)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "ms" in ax.get_ylabel()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["serial", "naive", "published"]
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert sum(len(line.get_xdata()) for line in hollow) == 3


def test_verdicts_differ_by_mark_as_well_as_by_color(recordings, tmp_path):
    judged = claims.judge(machines(recordings, tmp_path / "none"))
    ax = figures.mosaic(judged[judged["paper"] == "D"], {"D": {"title": "depth"}})
    marks = {text.get_text() for text in ax.texts}
    assert figures.SYMBOLS["holds"] in marks and len(set(figures.SYMBOLS.values())) == 7
    assert len(set(figures.MARKS.values())) == 7
    ax = figures.published(judged, ["D4", "D7"])
    assert len(ax.get_yticklabels()) == 13
    assert ax.get_yticklabels()[0].get_text().startswith("D4a") and ax.get_ylim()[0] > ax.get_ylim()[1], "first on top"


def test_a_long_heading_of_verdicts_takes_a_second_line_and_stays_in_the_picture():
    words = [word for word in figures.VERDICT for _ in range(12)]
    judged = pd.DataFrame({"paper": "C", "verdict": words})
    ax = figures.mosaic(judged, {"C": {"title": "Graph coloring by phases"}, "D": {"title": "Topological sort"}})
    ax.figure.draw_without_rendering()
    page = ax.figure.bbox
    for text in ax.texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 and box.x1 <= page.x1, text.get_text()
    headings = [text.get_text() for text in ax.texts if len(text.get_text()) > 1]
    assert len(headings) == 3 and all(line.split(", ")[0] for line in headings)
    across = ax.patches[1].get_window_extent().x0 - ax.patches[0].get_window_extent().x0
    assert across * 54 > 0.9 * page.width, "squares keep their size"


def test_strategies_can_be_told_apart_without_color():
    given = style.color_of([f"s{k}" for k in range(13)])
    assert len(set(given.values())) == 13 and len({marker for _, marker in given.values()}) == 13


def test_neighbours_in_the_palette_differ_in_lightness():
    def lightness(color):
        red, green, blue = (c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
        return (0.2126 * red + 0.7152 * green + 0.0722 * blue) ** (1 / 3)

    values = [lightness(matplotlib.colors.to_rgb(color)) for color in style.PALETTE]
    assert min(abs(a - b) for a, b in zip(values, values[1:], strict=False)) > 0.03


def test_no_two_strategies_of_a_study_look_alike():
    assert len(set(style.color_of(range(100)).values())) == 100


@pytest.mark.parametrize(
    "low, high, labels",
    [
        (0.5, 200, ["1", "10", "100"]),
        (2, 60, ["2", "5", "10", "20", "50"]),  # one decade alone would be no scale
        (3e4, 9e5, ["$5\\times10^{4}$", "$10^{5}$", "$2\\times10^{5}$", "$5\\times10^{5}$"]),
    ],
)
def test_a_logarithmic_axis_never_has_a_single_label(low, high, labels):
    ax = plt.subplots()[1]
    ax.set(xscale="log", xlim=(low, high))
    style.decades(ax.xaxis)
    ticks = ax.get_xticks()
    told = [text for at, text in zip(ticks, ax.xaxis.get_major_formatter().format_ticks(ticks), strict=True)
            if low <= at <= high]  # fmt: skip
    assert told == labels
