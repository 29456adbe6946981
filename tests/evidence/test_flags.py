from lockstep.evidence import flagged
from lockstep.evidence.recording import CLOCKS


def test_throttled_and_slow_rounds_are_flagged_and_kept(make_rows):
    rows = make_rows(
        {"metric": "sm_clock", "times": {CLOCKS: [1980, 1980, 1500, 1975]}},
        {"metric": "throttle", "times": {CLOCKS: [0, 0x4, 0x20, 0x1]}},
        {"metric": "wall", "times": {"a": [1, 1, 2, 1]}},
    )
    found = flagged(rows).set_index("round")["why"].to_dict()
    assert found == {1: "power cap", 2: "software thermal slowdown; clock at 1500 of 1978 MHz"}
    assert len(rows[rows["metric"] == "wall"]) == 4


def test_without_a_gpu_nothing_is_flagged(make_rows):
    assert flagged(make_rows({"times": {"serial": 1.0}})).empty


def test_a_clock_is_slow_below_95_percent_of_the_usual_one(make_rows):
    clocks = [2000.0] * 5 + [2300.0, 1910.0, 1890.0]  # the usual one is neither the highest nor the mean
    found = flagged(make_rows({"metric": "sm_clock", "times": {CLOCKS: clocks}}))
    assert found["why"].tolist() == ["clock at 1890 of 2000 MHz"]
