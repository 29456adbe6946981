"""`lockstep factorize FILE`."""

import numpy as np
import pytest

from lockstep.cli import main

LINES = "user,item,rating\n1,10,5\n1,11,3\n2,10,4\n2,12,1\n3,11,2\n"


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text(LINES)
    return file


def test_prints_the_error_of_each_sweep_and_writes_the_vectors(file, capsys):
    output = file.with_name("vectors.npz")
    assert (
        main(["factorize", str(file), "--strategy", "serial", "--rank", "2", "--sweeps", "3", "--output", str(output)])
        == 0
    )
    told = capsys.readouterr()
    assert [line.split()[1] for line in told.out.splitlines()] == ["1:", "2:", "3:"]
    assert "3 users, 3 items, by serial" in told.err
    vectors = np.load(output)
    assert vectors["users"].shape == vectors["items"].shape == (3, 2)
    assert vectors["user_ids"].tolist() == [1, 2, 3] and vectors["item_ids"].tolist() == [10, 11, 12]


def test_divergence_is_one_line_and_exit_code_two(file, capsys):
    assert main(["factorize", str(file), "--learning-rate", "50"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "diverged in sweep 1" in told and "smaller learning_rate" in told


def test_duplicates_and_signs_are_options(file, capsys):
    file.write_text(LINES + "1,10,1\n")
    assert main(["factorize", str(file), "--duplicates", "refuse"]) == 2
    assert "2 ratings of 10 by 1, and 0 more pairs with several: --duplicates keep" in capsys.readouterr().err
    output = file.with_name("vectors.npz")
    words = ["factorize", str(file), "--duplicates", "sum", "--nonnegative", "--rank", "2", "--output", str(output)]
    assert main(words) == 0
    vectors = np.load(output)
    assert vectors["users"].min() >= 0 and vectors["items"].min() >= 0
