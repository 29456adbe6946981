"""What follows from a cell's rows follows from its present rows."""

import pytest

from lockstep.evidence import Study
from lockstep.sgd import STRATEGIES, experiments
from lockstep.sgd.experiments import derived
from lockstep.sgd.strategies import model

WHERE, SETTINGS = ("one", "real", "a-graph"), {"rank": 16}


@pytest.fixture
def study(tmp_path):
    return Study(experiments.STUDY, part="one", config={"studies": {experiments.STUDY: {}}}, results=tmp_path)


def timed(study, times, digest="k", rounds=4):
    """Rows of some rounds: {strategy: milliseconds}; those of the same digest are written once more."""
    for name, value in times.items():
        for turn in range(rounds):
            values = {"wall": (value + turn / 100, "ms")}
            study.count(*WHERE, name, values, kernel=digest, parameters=SETTINGS, round=turn, renew=True)


def best(study, family):
    """(name of the choice, {round: its time}) as it is recorded."""
    rows = study.rows()
    rows = rows[rows["strategy"] == family]
    times = rows[rows["metric"] == "wall"].set_index("round")["value"].to_dict()
    return list(STRATEGIES)[int(rows[rows["metric"] == "chosen"]["value"].iloc[-1]) - 1], times


def test_chosen_on_even_rounds_and_timed_on_odd_ones(study):
    timed(study, {"edge-locked": 5.0, "node-locked": 7.0, "agm-edge": 6.0, "tiles": 1.0})
    derived.record(study, WHERE, SETTINGS)
    assert best(study, "(best online)") == ("edge-locked", {1: 5.01, 3: 5.03})
    assert best(study, "(best of seven)")[0] == "edge-locked" and best(study, "(best)")[0] == "tiles"
    assert best(study, "(best offline)") == ("agm-edge", {1: 6.01, 3: 6.03})


def test_times_measured_anew_under_the_same_digest_are_taken_over(study):
    timed(study, {"edge-locked": 5.0, "node-locked": 7.0})
    derived.record(study, WHERE, SETTINGS)
    timed(study, {"edge-locked": 3.0})
    derived.record(study, WHERE, SETTINGS)
    assert best(study, "(best online)") == ("edge-locked", {1: 3.01, 3: 3.03})
    totals = study.rows().query("strategy == 'edge-locked' and metric == 'total'").set_index("round")["value"]
    assert totals.to_dict() == {turn: 3.0 + turn / 100 for turn in range(4)}


def test_a_choice_may_come_back(study):
    for fastest in ("edge-locked", "node-locked", "edge-locked"):
        other = "node-locked" if fastest == "edge-locked" else "edge-locked"
        timed(study, {fastest: 5.0, other: 7.0})
        derived.record(study, WHERE, SETTINGS)
        assert best(study, "(best online)") == (fastest, {1: 5.01, 3: 5.03})


def test_rounds_that_are_no_longer_there_are_followed_by_nothing(study):
    timed(study, {"edge-locked": 5.0, "node-locked": 7.0})
    derived.record(study, WHERE, SETTINGS)
    file = study.folder / f"{study.name}.csv"
    lines = file.read_text().splitlines(keepends=True)
    # The strategy's rows are dropped, and measured anew in fewer rounds.
    kept = [line for line in lines if ",edge-locked," not in line or ",wall," not in line]
    assert len(lines) - len(kept) == 4
    file.write_text("".join(kept))
    config = {"studies": {experiments.STUDY: {}}}
    again = Study(experiments.STUDY, part="one", config=config, results=study.folder.parent)
    timed(again, {"edge-locked": 5.0}, rounds=3)
    derived.record(again, WHERE, SETTINGS)
    assert best(again, "(best online)") == ("edge-locked", {1: 5.01})
    totals = again.rows().query("strategy == 'edge-locked' and metric == 'total'")
    assert totals["round"].tolist() == [0, 1, 2]
    written = file.read_bytes()
    derived.record(again, WHERE, SETTINGS)
    assert file.read_bytes() == written
    timed(again, {"edge-locked": 5.0})
    derived.record(again, WHERE, SETTINGS)
    assert best(again, "(best online)") == ("edge-locked", {1: 5.01, 3: 5.03}), "and come back with their rounds"


def test_nothing_is_written_twice(study):
    timed(study, {"edge-locked": 5.0, "node-locked": 7.0})
    derived.record(study, WHERE, SETTINGS)
    before = (study.folder / f"{study.name}.csv").read_bytes()
    derived.record(study, WHERE, SETTINGS)
    assert (study.folder / f"{study.name}.csv").read_bytes() == before


def test_the_prediction_knows_the_graph_by_its_recorded_features(study):
    timed(study, {"tiles": 1.0, "patches": 0.5})
    # Calibration: tiles take one millisecond for each 1,000 ratings, patches twice that; the degree decides nothing.
    for k in range(6):
        features = dict.fromkeys(model.FEATURES, 0.0) | {"one": 1.0, "ratings": 1000.0 * (k + 1)}
        graph = {name: (value, "1") for name, value in features.items()}
        study.count("one", "calibration", f"g{k}", "(graph)", graph, parameters=SETTINGS)
        for name, slower in (("tiles", 1), ("patches", 2)):
            study.count("one", "calibration", f"g{k}", name, {"wall": (slower * (k + 1.0), "ms")}, parameters=SETTINGS)
    derived.record(study, WHERE, SETTINGS)
    assert model.PREDICTED not in set(study.rows()["strategy"]), "nothing is known of the graph"
    features = dict.fromkeys(model.FEATURES, 0.0) | {"one": 1.0, "ratings": 5000.0}
    study.count(*WHERE, "(graph)", {name: (value, "1") for name, value in features.items()}, parameters=SETTINGS)
    derived.record(study, WHERE, SETTINGS)
    assert best(study, model.PREDICTED)[0] == "tiles" and best(study, "(best)")[0] == "patches"


def test_bounds_are_judged_on_every_graph_that_was_timed(study):
    figures = {"users": 40.0, "items": 20.0, "largest degree": 9.0}
    graph = {name: (value, "1") for name, value in figures.items()}
    study.count(*WHERE, "(graph)", graph, kernel="g", parameters=SETTINGS)
    timed(study, {"agm-edge": 5.0, "diagonal": 7.0, "block-diagonal": 6.0})
    for name, steps in (("agm-edge", 9), ("diagonal", 60), ("block-diagonal", 4)):
        study.count(*WHERE, name, {"supersteps": (steps, "1")}, kernel="k", parameters=SETTINGS)
    derived.record(study, WHERE, SETTINGS)
    found = study.rows().query("metric == 'bound'").set_index("strategy")["value"].to_dict()
    assert found == {"matchings": 1, "diagonals": 2, "block diagonals": 1}, "59 diagonals at most"
