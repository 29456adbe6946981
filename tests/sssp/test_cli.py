"""`lockstep paths`: distances of a user's own file, one a line, and errors in one line."""

import json

import pytest

from lockstep.cli import main

ROADS = "c two ways\np sp 4 4\na 1 2 1\na 1 3 1\na 2 4 9\na 3 4 2\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "roads.gr"
    path.write_text(ROADS)
    return path


def test_distances_one_a_line(file, capsys):
    assert main(["paths", str(file), "--source", "0"]) == 0
    out, err = capsys.readouterr()
    assert out == "0\n1\n1\n3\n"
    assert "4 of 4 vertices reached, the farthest at 3" in err


def test_distances_that_float64_rounds_are_told(tmp_path, capsys):
    path = tmp_path / "far.txt"
    path.write_text(f"0 1 {2**53 - 1}\n1 2 2\n")
    assert main(["paths", str(path), "--source", "0", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "distances of 2^53 and more are rounded" in err and json.loads(out)["notes"]
    assert main(["paths", str(path), "--source", "1"]) == 0
    assert "rounded" not in capsys.readouterr().err
    assert main(["paths", str(path), "--source", "1.0"]) == 2
    assert "the vertices of far are numbers" in capsys.readouterr().err


def test_unreached_and_a_racy_strategy(file, tmp_path, capsys):
    target = tmp_path / "distances.txt"
    arguments = ["--strategy", "semaphores", "--layers", "1", "--executor", "host", "--output", str(target)]
    assert main(["paths", str(file), "--source", "2", *arguments]) == 0
    assert target.read_text() == "inf\ninf\n0\n2\n"
    assert "may give wrong distances" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, words",
    [(["--source", "4"], "vertices 0 to 3"), (["--source", "0", "--delta", "0"], "delta is 0")],
)
def test_errors(file, capsys, arguments, words):
    assert main(["paths", str(file), *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


def test_a_weight_that_cannot_be_names_the_file(tmp_path, capsys):
    path = tmp_path / "negative.txt"
    path.write_text("0 1 -3\n")
    assert main(["paths", str(path), "--source", "0"]) == 2
    err = capsys.readouterr().err
    assert str(path) in err and "weight -3" in err and err.count("\n") == 1
