import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from lockstep.evidence import Candidate, Study, VerificationError, machines, reading, timing


class Work:
    """A strategy that counts its runs and returns what it is told to."""

    def __init__(self, result="right"):
        self.runs, self.prepared, self.result = 0, 0, result

    def run(self):
        self.runs += 1
        return self.result

    def prepare(self):
        self.prepared += 1

    def candidate(self, name, **options):
        def verify(result):
            if result == "wrong":
                raise VerificationError("vertex 3 comes before its predecessor 1")
            return "exact" if result == "right" else result

        return Candidate(name, self.run, verify, options.pop("kernel", "k"), prepare=self.prepare, **options)


class Gpu:
    """Stands for a GPU executor: events tell half of what the clock tells."""

    name, l2_bytes = "cuda", 10

    def __init__(self):
        self.zeroed = []

    def synchronize(self):
        pass

    def zeros(self, shape, dtype):
        self.zeroed.append(shape)

    @contextmanager
    def timer(self, events=True):
        timer = SimpleNamespace()
        yield timer
        timer.device_ms, timer.wall_ms = 1.0 if events else None, 2.0


@pytest.fixture
def study(tmp_path, machine):
    def open_study(part="all", folder="results", **options):
        return Study("9-test", part, results=tmp_path / folder, recordings=tmp_path / "recordings",
                     machine=machine, **options)  # fmt: skip

    return open_study


def test_every_round_holds_every_strategy_once(study):
    works = {name: Work() for name in "abc"}
    rows = study().measure("p", "e", "g", [w.candidate(n) for n, w in works.items()], rounds=5)
    assert rows.groupby("round")["strategy"].apply(set).tolist() == [set("abc")] * 5
    assert set(rows["metric"]) == {"wall"} and set(rows["unit"]) == {"ms"} and (rows["value"] >= 0).all()
    assert all(w.runs == w.prepared == 6 for w in works.values()), "one warm-up, five rounds"


def test_a_long_run_may_have_fewer_rounds_and_no_warm_up(study):
    short, long = Work(), Work()
    rows = study().measure(
        "p", "e", "g", [short.candidate("short"), long.candidate("long", rounds=2, warmup=False)], rounds=5
    )
    assert rows[rows["strategy"] == "long"]["round"].tolist() == [0, 1]
    assert short.runs == 6 and long.runs == 2
    assert len(study().measure("p", "e", "g", [long.candidate("long", rounds=2)], rounds=5)) == 2 and long.runs == 2


def test_the_order_within_rounds_is_random_and_each_graph_has_its_own(study):
    def order(where, seed=1, dataset="g", parameters=None):
        candidates = [Work().candidate(name) for name in "abcd"]
        named = {"rounds": 6, "seed": seed, "parameters": parameters}
        rows = study(folder=where).measure("p", "e", dataset, candidates, **named)
        return [tuple(group["strategy"]) for _, group in rows.groupby("round")]

    first = order("one")
    assert len(set(first)) > 1, "rounds must not repeat one order"
    assert order("two") == first, "a recording that is resumed goes on in its order"
    assert order("three", seed=2) != first
    assert order("three", dataset="h") != first and order("three", parameters={"k": 2}) != first


def test_resuming_measures_only_what_is_missing(study, tmp_path, machine):
    first, second = Work(), Work()
    study().measure("p", "e", "g", [first.candidate("a")], rounds=2)
    rows = study().measure("p", "e", "g", [first.candidate("a"), second.candidate("b")], rounds=3)
    assert first.runs == (1 + 2) + (1 + 1) and second.runs == 1 + 3
    assert len(rows) == 6
    before = (first.runs, second.runs)
    study().measure("p", "e", "g", [first.candidate("a"), second.candidate("b")], rounds=3)
    assert (first.runs, second.runs) == before, "all was there"
    study().measure("p", "e", "g", [first.candidate("a")], rounds=3, parameters={"n": 1})
    study().measure("p", "e", "g", [first.candidate("a", kernel="k2")], rounds=3)
    assert first.runs == before[0] + 4 + 4, "other parameters and another digest are other samples"


def test_a_cell_measured_together_is_measured_anew_where_something_is_missing(study):
    old, new = Work(), Work()
    study().measure("p", "e", "g", [old.candidate("a")], rounds=2)
    both = [old.candidate("a"), new.candidate("b")]
    rows = study().measure("p", "e", "g", both, rounds=2, together=True)
    assert (old.runs, new.runs) == ((1 + 2) * 2, 1 + 2)
    assert len(rows) == 4, "what was measured last counts"
    study().measure("p", "e", "g", both, rounds=2, together=True)
    assert (old.runs, new.runs) == (6, 3), "nothing was missing"


def test_a_kill_in_the_middle_of_a_sample_repeats_that_sample_alone(study, tmp_path, machine):
    work = Work()
    count = {"counts": lambda result: {"depth": (7, "1")}}
    study().measure("p", "e", "g", [work.candidate("a", **count)], rounds=3, warmup=False)
    file = tmp_path / "results" / machine["name"] / "9-test.csv"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]) + lines[-1][:9])  # the last sample's time is torn, its count is whole
    rows = study().measure("p", "e", "g", [work.candidate("a", **count)], rounds=3, warmup=False)
    assert work.runs == 4
    assert rows.groupby(["round", "metric"]).size().tolist() == [1] * 6


def test_a_wrong_result_of_an_exact_strategy_raises_and_is_not_written(study):
    good, bad = Work(), Work("wrong")
    with pytest.raises(VerificationError, match="broken: vertex 3 comes before its predecessor 1"):
        study().measure("p", "e", "g", [good.candidate("fine"), bad.candidate("broken")], warmup=False)
    rows = study(part=None).rows()
    assert "broken" not in set(rows["strategy"])


def test_only_declared_racy_strategies_may_be_wrong(study):
    racy = Work("measured-wrong")
    rows = study().measure("p", "e", "g", [racy.candidate("racy", exact=False)], rounds=2)
    assert set(rows["verified"]) == {"measured-wrong"}
    with pytest.raises(VerificationError, match="not declared racy"):
        study().measure("p", "e", "g", [Work("measured-wrong").candidate("sly")], rounds=2)
    with pytest.raises(ValueError, match="must be one of exact"):
        study().measure("p", "e", "g", [Work("yes").candidate("odd")], rounds=2)


def test_a_gpu_strategy_has_device_and_wall_time(study):
    gpu = Gpu()
    rows = study().measure("p", "e", "g", [Work().candidate("a", executor=gpu)], rounds=2, cache="cold")
    times = rows[rows["strategy"] == "a"].groupby("metric")["value"].first().to_dict()
    assert times == {"device": 1.0, "wall": 2.0}
    assert set(rows["parameters"]) == {'{"cache":"cold"}'}
    assert gpu.zeroed == [20, 20], "twice the second-level cache before every run"


def test_without_events_the_clock_alone_is_read(study):
    rows = study().measure("p", "e", "g", [Work().candidate("a", executor=Gpu(), events=False)], rounds=2)
    assert set(rows[rows["strategy"] == "a"]["metric"]) == {"wall"}


def test_the_emulator_gives_counts_and_no_times(study):
    work = Work()
    host = SimpleNamespace(name="host")
    candidate = work.candidate("a", executor=host, counts=lambda result: {"launches": (3, "1")})
    rows = study().measure("p", "e", "g", [candidate], rounds=8)
    assert rows.set_index("metric")["value"].to_dict() == {"launches": 3, "runs": 1}
    study().measure("p", "e", "g", [candidate], rounds=8)
    assert work.runs == 1


def test_parts_that_are_not_selected_only_read(study, tmp_path):
    work = Work()
    study(part="one").measure("two", "e", "g", [work.candidate("a")])
    study(part=None).measure("one", "e", "g", [work.candidate("a")])
    assert work.runs == 0 and not (tmp_path / "results").exists()
    selected = [study(part=part).selected("one") for part in (None, "two", "one", "all")]
    assert selected == [False, False, True, True]


def test_counts_are_written_once(study):
    for _ in range(2):
        rows = study().count("p", "e", "g", "serial", {"depth": (7, "1")}, parameters={"n": 3})
        assert rows["value"].tolist() == [7]
    assert len(study(part=None).rows()) == 1


def test_what_follows_from_rows_is_withdrawn_with_its_round(study):
    def derive(values, kernel="k"):
        study().derive("p", "e", "g", "(best)", "wall", "ms", values, kernel=kernel)
        rows = study(part=None).rows()
        return dict(zip(rows["round"], rows["value"], strict=True))

    assert derive({1: 2.0, 3: 2.5}) == {1: 2.0, 3: 2.5}
    assert derive({1: 2.0}) == {1: 2.0}, "two rounds became one"
    assert derive({}) == {}
    assert derive({3: 2.5}) == {3: 2.5}
    assert derive({1: 9.0}, "other") == {1: 9.0} and derive({}, "other") == {}, "what was before does not come back"


def test_machine_json_tells_how_it_was_measured(study, tmp_path, machine):
    config = {"studies": {"9-test": {"parts": {"p": {}}}}}
    study(part="p", config=config).count("p", "e", "g", "s", {"m": (1, "1")})
    known = json.loads((tmp_path / "results" / machine["name"] / "machine.json").read_text())
    assert known["name"] == machine["name"]
    (run,) = known["runs"]
    assert run["study"] == "9-test" and run["part"] == "p" and run["date"].endswith("+00:00")
    assert run["command"] == "papermill notebooks/9-test.ipynb - -p part p"


def test_a_part_that_has_ended_says_what_its_seconds_went_to(study, tmp_path, machine):
    one = study(part="p")
    one.measure("p", "e", "g", [Candidate("a", lambda: 1, lambda _: "exact", "k")], rounds=2)
    one.seal("p")
    (run,) = json.loads((tmp_path / "results" / machine["name"] / "machine.json").read_text())["runs"]
    assert set(run["seconds"]) == {"warming", "running", "checking", "making ready"}


def test_the_machine_with_most_studies_comes_first_of_several_the_one_recorded_last(tmp_path):
    for place, date in (("a", "2026-03"), ("b", "2026-01"), ("b/2", "2026-05"), ("c", "2026-09"), ("d", None)):
        (tmp_path / place).mkdir(parents=True)
        for study in ("1-x", "2-y")[: 1 if place == "c" else 2]:
            (tmp_path / place / f"{study}.csv").write_text("x")
        if date:
            (tmp_path / place / "machine.json").write_text(json.dumps({"runs": [{"date": date}]}))
    assert [folder.name for folder in reading.by_coverage(tmp_path)] == ["b", "a", "d", "c"]


def test_recorded_machines_are_read_beside_this_one(study, tmp_path):
    study().count("p", "e", "g", "s", {"m": (1, "1")})
    source = next((tmp_path / "results").glob("*/9-test.csv"))
    other = tmp_path / "recordings" / "nvidia-h200-1"
    other.mkdir(parents=True)
    (other / "9-test.csv").write_text(source.read_text())
    reader = study(part=None)
    assert list(reader.recorded()) == ["nvidia-h200-1"]
    assert len(reader.rows("nvidia-h200-1")) == 1
    with pytest.raises(ValueError, match="no recording of 9-test from 'nobody'; there are nvidia-h200-1"):
        reader.rows("nobody")
    known = machines(tmp_path / "recordings", tmp_path / "results")
    assert list(known) == ["nvidia-h200-1", source.parent.name]


def test_what_was_measured_here_comes_first_and_stands_for_its_recording(study, tmp_path, machine):
    config = {"studies": {"9-test": {"parts": {"p": {}}}}}
    study().count("p", "e", "g", "s", {"m": (1, "1")})
    source = next((tmp_path / "results").glob("*/9-test.csv"))
    head, line = source.read_text().splitlines()
    for name, lines in (("few", [line]), ("more", [line, line.replace(",e,", ",f,")]), (machine["name"], [line])):
        (tmp_path / "recordings" / name).mkdir(parents=True)
        (tmp_path / "recordings" / name / "9-test.csv").write_text("\n".join([head, *lines, ""]))
    study().count("p", "e2", "g", "s", {"m": (2, "1")})
    here = machine["name"]
    assert list(study(part=None).machines()) == ["few", "more", here], "without a configuration: recorded ones alone"
    known = study(part=None, config=config).machines()
    assert list(known) == [here, "few", "more"] and len(known[here]) == 2


def test_a_configuration_without_the_study_or_part_is_an_error(study):
    config = {"studies": {"9-test": {"parts": {"a": {}, "b": {}}}, "8-other": {}}}
    assert study(part="a", config=config).config == config["studies"]["9-test"]
    with pytest.raises(ValueError, match="no part 'c'; it has a, b"):
        study(part="c", config=config)
    with pytest.raises(ValueError, match="no study '9-test'; it has 8-other"):
        study(config={"studies": {"8-other": {}}})


def test_the_same_strategy_twice_is_an_error(study):
    with pytest.raises(ValueError, match="named twice"):
        study().measure("p", "e", "g", [Work().candidate("a"), Work().candidate("a")])


def test_warming_ends_when_the_clock_stands_still():
    clocks = iter([300] * 3 + [900, 1500, 1900] + [1980] * 50)
    seconds = iter(range(1000))
    warmth = timing.Warmth(least=2, most=100, sample=lambda: next(clocks), clock=lambda: next(seconds))
    work = Work()
    assert warmth.up([work.candidate("a", executor=Gpu())]) == 1980
    assert 5 <= work.runs < 20
    runs = work.runs
    assert warmth.up([work.candidate("a", executor=Gpu())]) == 1980
    assert work.runs == runs, "still warm"


def test_warming_gives_up_on_a_clock_that_never_settles():
    clocks = iter(range(1000))
    seconds = iter(range(1000))
    warmth = timing.Warmth(least=2, most=30, sample=lambda: next(clocks), clock=lambda: next(seconds))
    work = Work()
    assert warmth.up([work.candidate("a", executor=Gpu())]) is not None
    assert work.runs < 40


def test_each_round_tells_how_fast_the_host_is(monkeypatch):
    monkeypatch.setattr(timing.nvml, "gpu", lambda: SimpleNamespace(sample=lambda: {"sm_clock": 1980, "power": None}))
    told = timing.clocks()
    assert told["sm_clock"] == (1980, "MHz") and "power" not in told
    assert 1 < told["host"][0] < 1e5 and told["host"][1] == "us"
    monkeypatch.setattr(timing.nvml, "gpu", lambda: None)
    assert timing.clocks() == {}
