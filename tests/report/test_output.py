import json
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lockstep import digits, report
from lockstep.report.output import printed, readable, shown, significant


def draw():
    report.style.use()
    figure, ax = plt.subplots()
    ax.plot([1, 2, 3], [3, 1, 2], "o-", label="serial")
    ax.fill_between([1, 2, 3], [2, 0, 1], [4, 2, 3], alpha=0.2)
    ax.set(xlabel="depth (layers)", ylabel="time (ms)")
    ax.legend()
    return figure


def test_equal_figures_are_equal_files(tmp_path):
    first = report.save(draw(), "study/one", tmp_path / "a")
    second = report.save(draw(), "study/one", tmp_path / "b")
    assert [file.suffix for file in first] == [".svg", ".pdf"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        content = one.read_bytes()
        assert b"<dc:date>" not in content and b"CreationDate" not in content


@pytest.mark.parametrize("publish", [True, False])
def test_a_page_hands_on_what_it_shows_if_that_is_asked_for(publish, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(report.output.paths, "GENERATED", tmp_path)
    monkeypatch.setattr(report.output.paths, "FIGURES", tmp_path)
    page = report.Page("9-study", publish)
    page.show([{"strategy": "serial", "ms": 1.23456}], "times")
    page.show([{"strategy": "no name, so for the notebook alone"}])
    page.show([], "nothing")
    page.drawn(draw(), "one")
    plt.close("all")
    assert "1.23" in capsys.readouterr().out
    there = {"times.csv", "one.svg", "one.pdf"} if publish else set()
    assert {file.name for file in tmp_path.glob("9-study/*")} == there


def test_a_saved_figure_is_closed(tmp_path):
    before = plt.get_fignums()
    report.save(draw(), "one", tmp_path)
    assert plt.get_fignums() == before


def test_a_table_reads_as_it_should_be_read(tmp_path):
    rows = pd.DataFrame({"graph": ["a", "b"], "time": [1234.567, math.nan], "edges": [10**6, 3], "ok": [True, False]})
    file = report.table(rows, "study/times", tmp_path)
    assert file.read_text() == 'graph,time,edges,ok\na,"1,230","1,000,000",yes\nb,–,3,no\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1.0, "1.00"), (0.012345, "0.0123"), (123456.0, "123,000"), (9.996, "10.0"),
     (0.000333, "0.000333"), (1.5e-7, "1.50e-07"), (-2.345, "-2.35"),
     (21.85, "21.9"), (21.849999999999998, "21.9")],
)  # fmt: skip
def test_three_significant_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    "figure, unit, text, meaning",
    [
        ((16.21, 15.94, 16.52), "x", "16.2× (15.9 to 16.5)", ""),
        ((0.9997, 0.974, 1.04), "", "1.00 (0.974 to 1.04)", ""),
        ((8348.2, 5826.0, 11960.0), "x", "8,350× (5,830 to 12,000)", ""),
        ((88234.0, math.nan, math.nan), "edges", "88,234 edges", ""),
        ((10.0**6, 10.0**6, 10.0**6), "layers", "1,000,000 layers", ""),
        ((1.0, None, None), "layers", "1 layer", ""),
        ((0.375, math.nan, math.nan), "of the blocks that fit", "0.375", "of the blocks that fit"),
    ],
)
def test_a_figure_with_interval_and_unit(figure, unit, text, meaning):
    after, said = digits.unit_of(unit)
    assert (digits.figure(*figure, after), said) == (text, meaning)


def test_codes_stand_for_words():
    unit = "1: right from each source, 0: wrong from some"
    assert [digits.coded(code, unit) for code in (1.0, 0.0, 2.0)] == ["right from each source", "wrong from some", ""]
    assert digits.unit_of(unit) == ("", "") and digits.coded(1.0, "layers") == ""


def test_counts_keep_all_their_digits():
    assert readable(1234567) == readable(np.int64(1234567)) == "1,234,567"
    assert readable(None) == readable(float("nan")) == "–"


def test_numbers_are_plain_json(tmp_path):
    values = {
        "ratio": np.float64(2.5),
        "depths": np.array([1, 2]),
        "none": float("nan"),
        "text": {"caption": "größe"},
    }
    file = report.numbers("3-toposort-depth", values, tmp_path)
    assert json.loads(file.read_text()) == {
        "ratio": 2.5,
        "depths": [1, 2],
        "none": None,
        "text": {"caption": "größe"},
    }
    assert file.read_bytes() == report.numbers("3-toposort-depth", values, tmp_path).read_bytes()
    with pytest.raises(TypeError, match="give numbers, text"):
        report.numbers("x", {"a": object()}, tmp_path)


@pytest.mark.parametrize(
    "written, text",
    [
        ("grid barrier (us)", "grid barrier (µs)"),
        ("us a layer", "µs a layer"),
        ("atomics (10^9 a second)", "atomics ($10^{9}$ a second)"),
        ("2^20 (4 MB)", "$2^{20}$ (4 MB)"),
        ("$10^{5}$", "$10^{5}$"),
    ],
)
def test_text_of_a_figure_is_printed_as_in_the_report(written, text):
    assert printed(written) == text


def test_a_heading_is_a_word_of_the_text():
    table = shown([{"dataset": "a", "nodes": 3, "layers_needed": 2.0, 1: "x"}])
    assert list(table) == ["graph", "vertices", "layers needed", 1]
