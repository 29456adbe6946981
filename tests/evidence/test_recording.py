import json

import pytest

from lockstep import paths
from lockstep.evidence import recording
from lockstep.evidence.recording import COLUMNS, Recording, RecordingError


def row(**changes):
    base = {
        "study": "s", "experiment": "e", "dataset": "d", "strategy": "a", "parameters": "{}",
        "metric": "wall", "unit": "ms", "round": 0, "value": 1.5, "verified": "exact", "kernel": "k1",
    }  # fmt: skip
    return {**base, **changes}


def test_rows_come_back_as_written(tmp_path):
    file = tmp_path / "machine" / "s.csv"
    value = 0.1 + 0.2  # every bit counts
    text = recording.canonical({"b": 1, "a": "x,y", "c": [1, 2]})
    Recording(file).append([row(value=value, parameters=text), row(round=1, value=3.0)])
    rows = recording.read(file)
    assert list(rows.columns) == COLUMNS
    assert rows["value"].tolist() == [value, 3.0]
    assert json.loads(rows["parameters"][0]) == {"a": "x,y", "b": 1, "c": [1, 2]}
    assert rows["round"].tolist() == [0, 1]


def test_equal_parameters_are_equal_text():
    import numpy as np

    text = '{"a":1,"b":2}'
    assert recording.canonical({"b": np.int64(2), "a": 1}) == recording.canonical({"a": 1, "b": 2}) == text
    with pytest.raises(TypeError, match="use numbers, text"):
        recording.canonical({"a": {1, 2}})


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_torn_last_line_is_dropped_with_a_notice_and_nothing_else(tmp_path, capsys, cut):
    file = tmp_path / "s.csv"
    Recording(file).append([row(round=k) for k in range(3)])
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    assert recording.read(file)["round"].tolist() == [0, 1]  # reading does not need the repair
    Recording(file, writable=False)
    assert file.read_bytes() == whole[:-cut], "a reader must not write"
    again = Recording(file)
    assert "dropped a torn last line" in capsys.readouterr().err
    again.append([row(round=2)])
    assert file.read_bytes() == whole


def test_a_line_torn_by_another_writer_is_dropped_before_the_next_row(tmp_path):
    """Parts of one study may run at the same time; one of them is killed in the middle of a row."""
    file = tmp_path / "s.csv"
    going_on = Recording(file)
    going_on.append([row(round=0)])
    with file.open("a") as other:
        other.write("3-top")
    going_on.append([row(round=1)])
    assert going_on.rows()["round"].tolist() == recording.read(file)["round"].tolist() == [0, 1]


def test_a_file_torn_in_its_header_starts_anew(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("study,experi")
    Recording(file).append([row()])
    assert len(recording.read(file)) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [("a,b\n", "line 3: 2 fields"), ("s,e,d,a,{},wall,ms,0,fast,exact,k\n", "line 3: could not convert")],
)
def test_a_line_that_is_no_row_is_named(tmp_path, line, message):
    file = tmp_path / "s.csv"
    Recording(file).append([row()])
    file.write_text(file.read_text() + line)
    with pytest.raises(RecordingError, match=f"s.csv, {message}"):
        recording.read(file)


def test_a_foreign_header_is_refused(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text("time,value\n1,2\n")
    with pytest.raises(RecordingError, match="line 1: the header is"):
        recording.read(file)


def test_what_must_not_be_written_is_refused_before_anything_is(tmp_path):
    file = tmp_path / "s.csv"
    for wrong in (row(verified="probably"), row(value=float("nan"))):
        with pytest.raises(ValueError):
            Recording(file).append([row(), wrong])
    assert not file.exists()


def test_reading_again_reads_what_was_added(tmp_path):
    file = tmp_path / "s.csv"
    writer, reader = Recording(file), Recording(file, writable=False)
    assert len(reader.rows()) == 0
    for k in range(3):
        writer.append([row(round=k, dataset="größe")])
        assert reader.rows()["round"].tolist() == list(range(k + 1))


def test_the_last_digest_of_a_cell_counts(tmp_path):
    file = tmp_path / "s.csv"
    Recording(file).append([
        row(value=1), row(value=2, round=1), row(strategy="b", value=5),
        row(value=3, kernel="k2"), row(value=4, kernel="k2"),
    ])  # fmt: skip
    rows = recording.current(recording.read(file))
    assert rows[["strategy", "value", "kernel"]].values.tolist() == [["b", 5.0, "k1"], ["a", 4.0, "k2"]]


def test_a_tenth_recording_comes_after_the_ninth(tmp_path):
    """Of two builds of a cell the one that was measured last counts."""
    for number in (2, 9, 10):
        Recording(tmp_path / str(number) / "1-s.csv").append([row(value=number, kernel=f"k{number}")])
    assert [file.parent.name for file in paths.recordings_of(tmp_path)] == ["2", "9", "10"]
    rows = recording.recorded(tmp_path)
    assert rows[["value", "kernel"]].values.tolist() == [[10.0, "k10"]]
    assert recording.of(rows["round"]).tolist() == [2]


def test_machine_json_grows_by_a_run(tmp_path):
    for k in range(2):
        recording.log_run(tmp_path, {"name": "m"}, {"date": str(k)})
    known = json.loads((tmp_path / "machine.json").read_text())
    assert known == {"name": "m", "runs": [{"date": "0"}, {"date": "1"}]}
    recording.log_run(tmp_path, {"name": "m"}, {"date": "2", "study": "s"})
    recording.log_run(tmp_path, {"name": "m"}, {"date": "3", "study": "s"}, anew=True)
    assert [run["date"] for run in recording.runs(tmp_path)] == ["0", "1", "3"]


def test_a_run_that_has_ended_says_what_its_seconds_went_to(tmp_path):
    for seconds in ({}, {"seconds": {"running": 1.0}}):
        recording.log_run(tmp_path, {"name": "m"}, {"date": "0", "study": "s", "part": "p", **seconds})
    recording.log_run(tmp_path, {"name": "m"}, {"date": "0", "study": "s", "part": "q"})
    known = json.loads((tmp_path / "machine.json").read_text())["runs"]
    assert [one.get("seconds") for one in known] == [{"running": 1.0}, None]


def test_a_choice_of_another_strategy_is_no_newer_build(make_rows, tmp_path):
    """The best of several, chosen in each recording: rows stay while the chosen strategy's build is the last one."""
    old, new = "a" * 16, "b" * 16
    first, second, third = tmp_path, tmp_path / "2", tmp_path / "3"
    cases = (first, f"other {old}", old), (second, f"fast {new}", new), (third, f"other {old}", new)
    for folder, chosen, fast in cases:
        rows = make_rows({"times": {"fast": 1.0, "other": 2.0, "(best)": 1.0}}, rounds=2)
        rows["kernel"] = rows["strategy"].map({"fast": fast, "other": old, "(best)": chosen})
        folder.mkdir(exist_ok=True)
        rows.to_csv(folder / "3-toposort-depth.csv", index=False)
    found = recording.recorded(tmp_path, "3-toposort-depth")
    best = found[found["strategy"] == "(best)"]
    assert sorted(recording.of(best["round"]).unique()) == [0, 1, 2]
    assert sorted(recording.of(found.loc[found["strategy"] == "fast", "round"]).unique()) == [1, 2]
    file = first / "3-toposort-depth.csv"
    file.write_text(file.read_text().replace(f"other {old}", f"fast {old}"))
    found = recording.recorded(tmp_path, "3-toposort-depth")
    best = found[found["strategy"] == "(best)"]
    assert sorted(recording.of(best["round"]).unique()) == [1, 2], "fast has a newer build"
