"""The paper takes every number from generated files, and it is built whatever is there."""

import json
import re
import shutil

import pytest

from lockstep import paths, report
from lockstep.evidence.claims import load

# Digits that are names, not measurements: claims, studies, machines' file names, tables of a paper.
NAMES = re.compile(
    r"#?\b[A-E]\d{1,2}[a-z]?\b"  # a claim or its part
    r"|#num\([^)]*\)"  # a number by its name
    r"|\"?\b[0-5]-[a-z-]+\"?"  # a study's folder name
    r"|\b[Ss]tudy [0-5](?:'s)?"
    r"|A/A|\bL[12]\b"  # a control; levels of cache
)
LAYOUT = "style.typ"  # holds lengths and sizes, and no prose
TEXTS = sorted(file for file in paths.PAPER.glob("*.typ") if file.name != LAYOUT)


def typed_numbers(text):
    """Digits in a typst text that stand for themselves: not names, not layout in a call's arguments."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"@[a-z-]+", "", text)
    text = NAMES.sub("", text)
    text = re.sub(r"\b\d+(?:\.\d+)?(?:pt|em|cm|fr|%(?=[,)]))", "", text)  # lengths
    text = re.sub(r"(?:columns|colspan|level|calc\.min\(|update\(|slice\()[:\s]*\d+", "", text)
    text = re.sub(r"\.len\(\) [=<>]+ \d|\.watched > 0", "", text)
    text = re.sub(r'numbering: "[^"]*"', "", text)
    return re.findall(r"\S*\d\S*", text)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_no_measurement_is_typed(file):
    assert typed_numbers(file.read_text()) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It is 16 times as fast.",
        "a launch costs 4.4 µs",
        "(3.7×)",
        "up to a depth of 250",
        "saves 23 %",
        "10#super[6]",
    ],
)
def test_a_planted_measurement_is_found(sentence):
    assert typed_numbers(f'= Study 3\n*Seen.* {sentence} See D4a and #fig("D5a").') != []


@pytest.mark.parametrize(
    "sentence",
    [
        '#fig("D4g") in study 0, `3 + 4`, @holm',
        "#text(size: 7.6pt, table(columns: 4))",
        '#figures("3-toposort-depth")',
    ],
)
def test_names_and_layout_are_no_measurements(sentence):
    assert typed_numbers(sentence) == []


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_no_semicolon_is_taken_for_the_end_of_a_call(file):
    assert re.findall(r"#[a-z.]+\([^()]*\);", file.read_text()) == []  # typst swallows it: write \;


def test_every_part_that_the_text_quotes_is_in_the_ledger():
    known = {part.id for part in load()} | {part.claim for part in load()}
    for file in TEXTS:
        for call in re.findall(r'#(?:fig|value|beside|verdict|published|summary)\("([^"]+)"', file.read_text()):
            assert call in known, f"{file.name} quotes {call}"


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_every_number_quoted_from_a_study_is_one_that_its_notebook_hands_over(file):
    notebook = paths.NOTEBOOKS / f"{file.stem}.ipynb"
    quoted = re.findall(r'#num\(name, "(\w+)', file.read_text())
    if quoted and not notebook.is_file():
        pytest.skip(f"{notebook.name} is not here yet")
    source = notebook.read_text() if quoted else ""
    assert [key for key in quoted if key not in source] == []


def test_every_reference_is_there_and_cited():
    given = set(re.findall(r"^@\w+\{([\w-]+),", (paths.PAPER / "refs.bib").read_text(), re.MULTILINE))
    text = "\n".join(file.read_text() for file in TEXTS)
    cited = set(re.findall(r"@([a-z][a-z-]+)", text))
    assert cited == given


@pytest.fixture
def built(tmp_path, recordings):
    pytest.importorskip("typst")
    drawn = tmp_path / "figures"

    def build(name):
        return report.build(tmp_path / name, recordings=recordings, results=tmp_path / "results", drawn=drawn)

    build.drawn, build.folder = drawn, tmp_path
    return build


def test_a_machine_that_no_claim_is_judged_on_is_listed_and_takes_no_column(tmp_path, two_machines):
    pytest.importorskip("typst")
    places = {"recordings": two_machines, "results": tmp_path / "results", "drawn": tmp_path / "figures"}
    _, html = report.build(tmp_path / "out", **places)
    text, machines = html.read_text(), json.loads((tmp_path / "out" / "machines.json").read_text())
    assert [(one["name"], one["short"], one["tested"] > 0) for one in machines] == [
        ("nvidia-test-1", "NVIDIA Test", True),
        ("nvidia-test-0", "2 × NVIDIA Test", False),
    ]
    assert "<code>nvidia-test-0</code>" in text and "2 × NVIDIA Test" in text
    assert "Parts on NVIDIA Test" in text and "Parts on 2 × NVIDIA Test" not in text
    assert "The rest of the ledger" not in text


def test_two_machines_that_read_alike_are_told_apart(two_machines, tmp_path):
    file = two_machines / "nvidia-test-0" / "machine.json"
    file.write_text(file.read_text().replace('"gpus": 2', '"gpus": 1'))
    report.collect(tmp_path, recordings=two_machines, results=tmp_path / "none", drawn=tmp_path / "none")
    shorts = [one["short"] for one in json.loads((tmp_path / "machines.json").read_text())]
    assert shorts == ["NVIDIA Test (1)", "NVIDIA Test (0)"]


def test_recordings_of_a_machine_are_counted_over_all_studies(two_machines, tmp_path):
    first = two_machines / "nvidia-test-1"
    for number, study in enumerate(sorted(first.glob("[0-9]-*.csv")), 2):  # each study once more, in a start of its own
        (first / str(number)).mkdir()
        shutil.copy(study, first / str(number))
    report.collect(tmp_path, recordings=two_machines, results=tmp_path / "none", drawn=tmp_path / "none")
    counted = {one["name"]: one["recordings"] for one in json.loads((tmp_path / "machines.json").read_text())}
    assert counted == {"nvidia-test-1": 1 + len(list(first.glob("[0-9]-*.csv"))), "nvidia-test-0": 1}


def test_the_report_shows_verdicts_and_says_what_is_missing(built):
    pdf, html = built("one")
    text = html.read_text()
    for expected in (
        "NVIDIA Test",
        "larger",
        "holds",
        "needs rows",
        "not drawn yet",
        "No table of data sets",
    ):
        assert expected in text, expected
    line = next(
        claim for claim in json.loads((pdf.parent / "ledger.json").read_text())["claims"] if claim["id"] == "D5"
    )
    figure = line["parts"][0]["verdicts"]["nvidia-test-1"]["figure"]
    assert figure in text and "layers" in figure
    assert pdf.read_bytes().startswith(b"%PDF")
    again = built("two")
    assert [file.read_bytes() for file in again] == [pdf.read_bytes(), html.read_bytes()], "equal data, equal bytes"


def test_the_report_takes_in_what_a_study_draws(built):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    ax.plot([1, 2])
    report.save(figure, "3-toposort-depth/depth", built.drawn)
    generated = built.folder / "gen"
    report.table([{"graph": "rails", "ms": 9.87}], "3-toposort-depth/real", generated)
    report.table([], "3-toposort-depth/nothing", generated)
    values = {
        "summary": ["The ladder gains 77.7× by `narrow`."],
        "captions": {"depth": "Time over 88.8 layers."},
        "goals": ["1 of 3 measured goals is reached.", "Not reached: one.", "Not reached: another."],
    }
    report.numbers("3-toposort-depth", values, generated)
    (built.folder / "results").mkdir()
    (built.folder / "results" / "datasets.csv").write_text(
        "name,status,source,licence,how\nwiki-Talk,missing,,SNAP,fetch it there\nkarate,built-in,,BSD,\n"
    )
    text = built("gen")[1].read_text()
    for expected in ("The ladder gains 77.7× by", "Time over 88.8 layers.", "9.87", "fetch it there"):
        assert expected in text, expected
    assert "<code>narrow</code>" in text and "`narrow`" not in text
    assert "1 of 3 measured goals is reached." in text
    assert "<li>Not reached: one.</li>" in text and "<li>Not reached: another.</li>" in text


def test_without_any_recording_the_report_says_so(tmp_path):
    pytest.importorskip("typst")
    places = {"recordings": tmp_path / "no", "results": tmp_path / "no", "drawn": tmp_path / "no"}
    _, html = report.build(tmp_path / "gen", **places)
    assert "No machine is recorded yet" in html.read_text()


def test_without_typst_the_report_is_left_out_with_one_line(tmp_path, monkeypatch, capsys):
    from lockstep.report import typeset

    monkeypatch.setattr(typeset.importlib.util, "find_spec", lambda name: None)
    places = {"recordings": tmp_path / "no", "results": tmp_path / "no", "drawn": tmp_path / "no"}
    assert report.build(tmp_path / "gen", **places) == []
    assert capsys.readouterr().out == "report: typst is not installed here, so the report is left out\n"
