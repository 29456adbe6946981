"""Rows carry the id of a build; whether it is what would run now, a table and today's code tell."""

import json

import pandas as pd
import pytest

from lockstep import choose, cli, paths
from lockstep.evidence import Candidate, Study, reading
from lockstep.machine import MachineError, get_executor
from lockstep.provenance import builds, device, kept, lookup, protocol, staleness, summary
from lockstep.studies import PACKAGES

STUDY = "3-toposort-depth"


def row(strategy="naive", kernel="", dataset="layered-60-20-random", study=STUDY):
    return {"study": study, "strategy": strategy, "dataset": dataset, "kernel": kernel}


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Tables of builds and confirmations of their own."""
    monkeypatch.setattr(builds, "_folders", lambda: [tmp_path])
    return tmp_path


def line(parts, name="0123456789abcdef", strategy="naive", **changes):
    own = parts._asdict() | changes
    return {"id": name, "study": STUDY, "strategy": strategy, **own, "commit": "abc", "date": "", "why": ""}


@pytest.fixture
def parts():
    return builds.present(STUDY, "naive", "layered-60-20-random")[0]


def test_a_new_build_is_named_by_what_it_is_and_written_before_its_first_row(tables, parts):
    name = builds.build(STUDY, "naive", "layered-60-20-random")
    assert name == device.digest(STUDY, "naive", *parts)
    study = Study(STUDY, "one", config={"studies": {STUDY: {"parts": {"one": {}}}}}, results=tables / "results",
                  machine={"name": "box-1"})  # fmt: skip
    one = Candidate("naive", lambda: 1, lambda result: "exact", name)
    study.measure("one", "trial", "layered-60-20-random", [one], rounds=1, warmup=False)
    (written,) = builds.read(tables / "results" / "box-1" / builds.FILE)
    assert written["id"] == name and written["host"] == parts.host and written["device"] == parts.device
    pieces = json.loads((tables / "results" / "box-1" / builds.PIECES).read_text())
    assert any("naive.cu: enqueue" in piece for piece in pieces[parts.device])
    assert staleness.stale(study.rows()).empty


def test_a_build_that_is_known_keeps_its_name(tables, parts):
    builds.add(tables, [line(parts)])
    assert builds.build(STUDY, "naive", "layered-60-20-random") == "0123456789abcdef"
    assert staleness.stale(pd.DataFrame([row(kernel="0123456789abcdef")])).empty


def test_a_gpu_records_nothing_with_macros_that_no_compile_line_lists(tables, monkeypatch):
    """Else a row could come from a kernel that no digest knows, and never go stale."""
    host = get_executor("host")
    monkeypatch.setattr(host, "name", "cuda")
    file = lookup.PACKAGE / "toposort" / "strategies" / "narrow.cu"

    def measure():
        study = Study(STUDY, "one", host, config={"studies": {STUDY: {"parts": {"one": {}}}}},
                      results=tables / "results", machine={"name": "box-1"})  # fmt: skip
        name = builds.build(STUDY, "naive", "layered-60-20-random")
        one = Candidate("naive", lambda: 1, lambda result: "exact", name)
        study.measure("one", "trial", "layered-60-20-random", [one], rounds=1, warmup=False)
        return len(study.rows())

    host.load(file, {"BITS": 8, "THREADS": 512, "CHUNK": 16})  # a default, written out
    assert measure()
    builds.Build("0" * 16).record(tables, host)
    host.load(file, {"BITS": 8, "THREADS": 512, "CHUNK": 2})
    with pytest.raises(MachineError, match=r"narrow.cu -DBITS=8 -DCHUNK=2 -DTHREADS=512: no `// compile:` line"):
        builds.Build("0" * 16).record(tables, host)


def test_further_macro_definitions_leave_rows_fresh_and_fewer_do_not(tables, parts, monkeypatch):
    kernels = builds.present(STUDY, "naive", "layered-60-20-random")[1][parts.device]
    few = dict(list(kernels.items())[:1])
    changed = {name: "0" * 16 for name in few}
    for name, made_of in (("1" * 16, few), ("2" * 16, changed)):
        builds.add(tables, [line(parts, name, device=name)], {name: made_of})
    old = staleness.stale(pd.DataFrame([row(kernel="1" * 16), row(kernel="2" * 16)]))
    assert old[["kernel", "changed"]].values.tolist() == [["2" * 16, "device"]]


@pytest.mark.parametrize("component", builds.Parts._fields)
def test_a_changed_component_makes_a_row_stale_and_is_named(tables, parts, component):
    builds.add(tables, [line(parts, **{component: "other"})])
    (old,) = staleness.stale(pd.DataFrame([row(kernel="0123456789abcdef")])).itertuples()
    assert (old.changed, old.commit) == (component, "abc")


def test_an_id_that_no_table_holds_is_stale(tables):
    (old,) = staleness.stale(pd.DataFrame([row(kernel="fedcba9876543210")])).itertuples()
    assert (old.changed, old.commit) == ("unknown", "")


def test_what_cannot_go_stale_does_not(tables):
    rows = [row("(clocks)", ""), row("(batch)", "", "DD", "5-swarm-batch"), row("no such strategy", "x")]
    assert staleness.stale(pd.DataFrame(rows)).empty


def test_rows_that_follow_from_others_go_stale_with_them(tables):
    sgd, dataset = "1-sgd-schedules", "twin-CAL-by-4000"
    now = {name: builds.present(sgd, name, dataset)[0] for name in ("edge-locked", "agm-edge")}
    ids = dict(zip(now, ("0123456789abcdef", "0123456789abcde0"), strict=True))
    builds.add(tables, [line(now[name], ids[name], name) | {"study": sgd} for name in now])
    rows = pd.DataFrame([
        row("(best)", f"edge-locked {ids['edge-locked']}", dataset, sgd),
        row("(cost model)", f"{ids['agm-edge']} {ids['edge-locked']}", dataset, sgd),
        row("(total)", ids["edge-locked"], dataset, sgd),
    ])  # fmt: skip
    assert staleness.stale(rows).empty
    elsewhere = row("(total)", "fedcba9876543210", dataset, sgd)
    assert staleness.stale(pd.DataFrame([elsewhere]))["changed"].tolist() == ["unknown"]
    (tables / builds.FILE).unlink()
    builds.add(tables, [line(now[name], ids[name], name, host="other") | {"study": sgd} for name in now])
    assert set(staleness.stale(rows)["strategy"]) == {"(best)", "(cost model)", "(total)"}


def test_data_sets_of_one_build_are_told_apart(tables, parts):
    other = builds.present(STUDY, "naive", "erdos-renyi-1e3-1e5-0")[0]
    assert other.data != parts.data and other.host == parts.host
    builds.add(tables, [line(parts, data=f"{parts.data} another")])
    datasets = ("layered-60-20-random", "erdos-renyi-1e3-1e5-0")
    rows = pd.DataFrame([row(kernel="0123456789abcdef", dataset=dataset) for dataset in datasets])
    assert staleness.stale(rows)["changed"].tolist() == ["data"]


def test_a_registered_file_counts_by_its_content(monkeypatch):
    table = builds.registry().copy()
    before = builds.data((), "ego-Facebook")
    table.loc[table["name"] == "ego-Facebook", "digest"] = "0" * 64
    monkeypatch.setattr(builds, "registry", lambda: table)
    for remembered in (builds.data, builds._content):
        remembered.cache_clear()
    try:
        assert builds.data((), "ego-Facebook") != before
    finally:
        for remembered in (builds.data, builds._content):
            remembered.cache_clear()


def test_confirmations_lead_on(tables):
    with (tables / builds.CONFIRMED).open("w") as file:
        file.write("before,after\na,b\nb,c\nx,y\n")
    assert builds.leads("a", "c") and builds.leads("c", "a") and not builds.leads("a", "x") and builds.leads("q", "q")


def test_each_study_has_a_protocol_whose_code_its_number_stands_for():
    assert protocol.unclear() == [], "lockstep provenance protocol STUDY --why '...', or the same with --same"
    assert all(protocol.number(study) >= 1 for study in PACKAGES)


def test_changed_trees_ask_for_a_number_or_a_confirmation(tmp_path, monkeypatch, capsys, parts):
    recorded = protocol.number(STUDY)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(paths, "RECORDINGS", tmp_path)
        elsewhere.setattr(kept, "kept", lambda study, key, compute: compute())
        assert protocol.unclear() == list(PACKAGES)
        with pytest.raises(ValueError, match="say why"):
            protocol.write(STUDY, " ")
        assert cli.main(["provenance", "protocol", STUDY, "--why", "the first"]) == 0
        assert protocol.number(STUDY) == 1 and STUDY not in protocol.unclear()
        elsewhere.setattr(protocol, "trees", lambda study: "others")
        assert STUDY in protocol.unclear()
        protocol.write(STUDY, "a loop was moved", same=True)
        assert protocol.number(STUDY) == 1 and STUDY not in protocol.unclear()
        assert protocol.write(STUDY, "another order of rounds") == 2 == protocol.number(STUDY)
        now = builds.present(STUDY, "naive", "layered-60-20-random")[0]
        assert now == parts._replace(protocol="2"), "what else is known of a build is kept, its number is not"
    assert protocol.number(STUDY) == recorded != 2, "the number is of the folder that is asked"


def test_the_command_tells_rows_and_what_changed(tables, parts, monkeypatch):
    now = builds.present(STUDY, "naive", "layered-60-20-random")
    pieces = {digest: dict(found) for digest, found in now[1].items()}
    changed = pieces[parts.host] | {"toposort/elsewhere.py: DevicePlan.per_block": "512"}  # where it stood before
    del changed["toposort/strategies/shared.py: DevicePlan.per_block"]
    builds.add(tables, [line(parts, host="other")], {"other": changed, parts.device: pieces[parts.device]})
    rows = pd.DataFrame([row(kernel="0123456789abcdef")] * 4)
    monkeypatch.setattr(reading, "machines", lambda *places: {"box-1": rows})
    found = summary.summary()
    assert found["rows"] == found["stale"] == 4
    (one,) = found["machines"]["box-1"][STUDY]["naive"].values()
    assert one["changed"] == ["code toposort/strategies/shared.py: DevicePlan.per_block: 512 -> 1024"]
    assert one["commit"] == "abc"
    assert "naive (0123456789abcdef)" in summary.text(found) and "512 -> 1024" in summary.text(found)


def test_what_is_kept_is_of_today(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    for remembered in (kept._file, kept._held):
        remembered.cache_clear()
    try:
        assert kept.kept(STUDY, "a", lambda: ["x", "y"]) == kept.kept(STUDY, "a", lambda: 1 / 0) == ["x", "y"]
        kept.keep()
        kept._held.cache_clear()
        assert kept.kept(STUDY, "a", lambda: 1 / 0) == ["x", "y"], "in the next process too"
        kept._file(STUDY).write_text("damaged")
        kept._held.cache_clear()
        assert kept.kept(STUDY, "a", lambda: "z") == "z"
        first = kept._file(STUDY)
        monkeypatch.setattr(device, "LOCK", tmp_path / "lock")
        (tmp_path / "lock").write_text("{}")
        kept._file.cache_clear()
        assert kept._file(STUDY) != first, "another file, another name"
        package = tmp_path / "library"
        for study in ("toposort", "sssp", "graphs"):
            (package / study).mkdir(parents=True)
        monkeypatch.setattr(lookup, "PACKAGE", package)
        for study, counts in (("sssp", False), ("toposort", True), ("graphs", True)):
            kept._file.cache_clear()
            before = kept._file(STUDY)
            (package / study / "new.py").write_text("1")
            kept._file.cache_clear()
            assert (kept._file(STUDY) != before) == counts, study
        monkeypatch.setattr(paths, "CACHE", tmp_path / "lock" / "no folder")
        for remembered in (kept._file, kept._held):
            remembered.cache_clear()
        assert kept.kept(STUDY, "b", lambda: "c") == "c"
        kept.keep()  # a cache that cannot be written is no error
    finally:
        for remembered in (kept._file, kept._held):
            remembered.cache_clear()


def test_nothing_recorded_here_is_of_earlier_code_that_the_account_does_not_tell():
    found = summary.summary(results=paths.RECORDINGS)
    told = [one for studies in found["machines"].values() for strategies in studies.values()
            for ids in strategies.values() for one in ids.values() if one["stale"]]  # fmt: skip
    assert sum(one["stale"] for one in told) == found["stale"] and all(one["changed"] for one in told)


# Labels of rows that describe a data set: they depend on its content alone, which its name or checksum fixes.
DESCRIPTIONS = {"(graph)", "(batch)", "diagonals", "block diagonals", "matchings"}


def without_origin(cells):
    """(study, strategy) of rows that no change of code could make stale, though they are no description of data."""
    known = {(study, one["id"]) for (study, _), lines in builds.known().items() for one in lines}
    return {
        (study, strategy)
        for study, strategy, dataset, kernel in cells
        for owner, name in staleness.owners(strategy, kernel)
        if strategy not in {"(clocks)", *DESCRIPTIONS}
        and (builds.origin(study, owner, dataset) is None if owner else (study, name) not in known)
    }


def test_every_recorded_row_has_an_origin_or_describes_its_data():
    columns, cells = ["study", "strategy", "dataset", "kernel"], set()
    for file in sorted(paths.RECORDINGS.glob("*/*/[0-9]-*.csv")):
        rows = pd.read_csv(file, usecols=columns, dtype=str, keep_default_na=False)
        cells |= set(rows[columns].drop_duplicates().itertuples(index=False, name=None))
    assert len(cells) > 1000 and not without_origin(cells)
    assert without_origin([("5-swarm-batch", "(a sum)", "benchmark-1000", "0123456789abcdef")])


@pytest.mark.parametrize("name", ["rules.json", "datasets.csv"])
def test_what_is_kept_of_a_study_is_looked_up_anew_when_its_data_changes(name, tmp_path, monkeypatch):
    for file in ("rules.json", "datasets.csv"):
        (tmp_path / file).write_bytes((paths.DATA / file).read_bytes())
    monkeypatch.setattr(paths, "DATA", tmp_path)
    before = kept._file.__wrapped__("2-sssp-sync")
    assert kept._file.__wrapped__("2-sssp-sync") == before
    (tmp_path / name).write_text((tmp_path / name).read_text() + "\n")
    assert kept._file.__wrapped__("2-sssp-sync") != before


@pytest.mark.parametrize("study, problem", [("2-sssp-sync", "sssp"), ("4-coloring-phase-switch", "coloring")])
def test_the_rule_that_auto_follows_is_among_what_its_rows_were_measured_with(study, problem):
    assert choose.stands(problem) in builds.origin(study, "auto", "les-miserables").roots
