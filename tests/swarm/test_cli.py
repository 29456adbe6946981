"""`lockstep swarm`: a folder of results, what was left out, and errors in one line."""

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lockstep.batch import content
from lockstep.batch.batch import GraphBatch
from lockstep.batch.output import OutputError
from lockstep.batch.pack import Pack
from lockstep.cli import main
from lockstep.swarm.command import compute

GRAPHS = [nx.path_graph(5), nx.star_graph(6), nx.petersen_graph(), nx.gnp_random_graph(30, 0.2, seed=1)]


@pytest.fixture
def shards(tmp_path):
    GraphBatch(GRAPHS).write(tmp_path / "in", graphs=2)
    return tmp_path / "in"


def test_betweenness_of_a_folder(shards, tmp_path, capsys):
    assert main(["swarm", str(shards), "--out", str(tmp_path / "out")]) == 0
    assert "betweenness of 4 graphs" in capsys.readouterr().err
    table = pd.read_parquet(tmp_path / "out").sort_values("graph")
    for graph, values in zip(GRAPHS, table["values"], strict=True):
        expected = nx.betweenness_centrality(graph, normalized=False)
        np.testing.assert_allclose(values, [expected[v] for v in range(len(graph))], atol=1e-9)
    assert main(["swarm", str(shards), "--out", str(tmp_path / "out")]) == 0
    assert "betweenness of 4 graphs was there from an earlier run; results in" in capsys.readouterr().err
    next((tmp_path / "out").glob("part-*.parquet")).unlink()
    assert main(["swarm", str(shards), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err
    assert "betweenness of 2 graphs in" in told and "; 1 piece was there from an earlier run; results in" in told


CHANGED = "has changed since). Choose another folder"


@pytest.mark.parametrize("whole", [2**22, 0])  # the file hashed in full, or its size, time and blocks
def test_results_of_a_changed_file_are_refused(tmp_path, capsys, monkeypatch, whole):
    monkeypatch.setattr(content, "WHOLE", whole)
    monkeypatch.setattr(content, "BLOCK", 4)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "x.txt").write_text("0 1\n1 2\n2 3\n")
    arguments = ["swarm", str(folder), "--undirected", "--strategy", "cpu", "--out"]
    for _ in range(2):
        assert main([*arguments, str(tmp_path / "out")]) == 0
    assert "was there from an earlier run" in capsys.readouterr().err
    (folder / "x.txt").write_text("0 1\n0 2\n0 3\n")
    assert main([*arguments, str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert f"(the input, {folder}, {CHANGED}" in told and told.count("\n") == 1
    assert main([*arguments, str(tmp_path / "two")]) == 0
    assert [pd.read_parquet(tmp_path / name)["values"][0].tolist() for name in ("out", "two")] == [
        [0, 2, 2, 0], [3, 0, 0, 0]]  # fmt: skip
    (folder / "x.txt").rename(folder / "y.txt")
    assert main([*arguments, str(tmp_path / "two")]) == 2, "results hold its name"


def test_results_of_shards_that_are_written_again_are_refused_where_they_changed(tmp_path, capsys):
    arguments = ["swarm", str(tmp_path / "in"), "--strategy", "cpu", "--out", str(tmp_path / "out")]
    for graph, status, told in ((nx.path_graph(4), 0, ""), (nx.path_graph(4), 0, "was there from an earlier run"),
                                (nx.star_graph(3), 2, CHANGED)):  # fmt: skip
        GraphBatch([graph]).write(tmp_path / "in")
        assert main(arguments) == status and told in capsys.readouterr().err


@pytest.mark.parametrize("packed", [False, True])
def test_results_of_changed_graphs_in_memory_are_refused(tmp_path, packed):
    def computed(*graphs):
        return compute(Pack.of(graphs) if packed else list(graphs), "closeness", tmp_path / "out", strategy="cpu")

    path = nx.path_graph(4)
    assert computed(path).resumed == 0 and computed(path.copy()).resumed == 1
    nx.set_edge_attributes(path, 2, "weight")
    for other in (nx.star_graph(3), path, nx.relabel_nodes(path, {0: "a"}), nx.path_graph(4, nx.DiGraph)):
        with pytest.raises(OutputError, match="the input, memory, has changed since"):
            computed(other)


def test_a_damaged_part_is_named_with_what_to_do(shards, tmp_path, capsys):
    arguments = ["swarm", str(shards), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    part = next((tmp_path / "out").glob("part-*.parquet"))
    for text in (part.read_bytes()[:-40], b"", b"PAR1 nothing PAR1"):
        part.write_bytes(text)
        capsys.readouterr()
        assert main(arguments) == 2
        told = capsys.readouterr().err.splitlines()[-1]
        assert str(part) in told and "is damaged" in told and "delete it, and the same command computes" in told
    part.unlink()
    assert main(arguments) == 0 and len(pd.read_parquet(tmp_path / "out")) == 4


def test_an_option_of_the_measure(shards, tmp_path):
    arguments = ["--measure", "closeness", "--option", "form=harmonic", "--out", str(tmp_path / "out")]
    assert main(["swarm", str(shards), *arguments]) == 0
    table = pd.read_parquet(tmp_path / "out").sort_values("graph")
    expected = nx.harmonic_centrality(GRAPHS[3])
    np.testing.assert_allclose(table["values"].iloc[3], [expected[v] for v in range(30)], rtol=1e-9)


def test_bad_graphs_are_told(tmp_path, capsys):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("0 1\n1 2\n")
    (folder / "b.txt").write_text("0 one\n")
    assert main(["swarm", str(folder), "--undirected", "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err
    assert "of 1 graph in" in told and "left out: graph 1 (b.txt)" in told and "line 1" in told
    assert pd.read_parquet(tmp_path / "out")["values"][0].tolist() == [0, 1, 0]
    assert main(["swarm", str(folder), "--bad", "refuse", "--out", str(tmp_path / "o2")]) == 2
    assert "graph 1 (b.txt)" in capsys.readouterr().err


def test_what_a_folder_holds_besides_is_named(tmp_path, capsys):
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.txt", "b.net", ".hidden"):
        (folder / name).write_text("0 1\n1 2\n")
    for out in (folder / "out", folder / "out"):  # results are not among the others when they are there
        assert main(["swarm", str(folder), "--out", str(out), "--strategy", "cpu"]) == 0
        assert f"{folder}: 2 entries passed over (b.net, sub); expected names that end with" in capsys.readouterr().err
    (folder / "b.net").unlink()
    (folder / "sub").rmdir()
    assert main(["swarm", str(folder), "--out", str(tmp_path / "other"), "--strategy", "cpu"]) == 0
    assert "1 entry passed over (out)" in capsys.readouterr().err


def test_a_shard_that_says_neither_yes_nor_no_is_refused(tmp_path, capsys):
    kind = pa.list_(pa.int32())
    table = pa.table({"offsets": pa.array([[0, 1, 2, 2]], kind), "targets": pa.array([[1, 2]], kind)})
    pq.write_table(table.replace_schema_metadata({"directed": "true"}), tmp_path / "one.parquet")
    assert main(["swarm", str(tmp_path / "one.parquet"), "--out", str(tmp_path / "out"), "--strategy", "cpu"]) == 2
    assert "one.parquet has directed=true in its metadata; expected yes or no" in capsys.readouterr().err


def test_names_stand_beside_the_values(tmp_path):
    folder, out = tmp_path / "files", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text("ann bob\nbob cyd\n")
    (folder / "b.txt").write_text("0 1\n")
    assert main(["swarm", str(folder), "--undirected", "--out", str(out)]) == 0
    table = pd.read_parquet(out)
    assert table["labels"][0].tolist() == ["ann", "bob", "cyd"] and table["labels"][1] is None
    assert table["values"][0].tolist() == [0, 1, 0]


def test_a_batch_without_a_usable_graph_is_an_error(tmp_path, capsys):
    folder, out = tmp_path / "files", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text("0 one\n")
    arguments = ["swarm", str(folder), "--undirected", "--out"]
    assert main([*arguments, str(out)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"lockstep: {folder}: its only graph cannot be used; graph 0 (a.txt): ")
    assert "line 1" in told and told.count("\n") == 1
    (folder / "b.txt").write_text("0 two\n")
    for _ in range(2):  # and once more where an earlier run has found that out
        assert main([*arguments, str(tmp_path / "two")]) == 2
        told = capsys.readouterr().err
        assert "none of its 2 graphs can be used; graph 0 (a.txt): " in told and told.count("\n") == 1
        assert told.endswith(f"(why the others cannot: {tmp_path / 'two'}/_problems.csv)\n")
    assert len(pd.read_csv(tmp_path / "two" / "_problems.csv")) == 2
    (folder / "b.txt").write_text("0 1\n")
    for _ in range(2):  # nothing is left to do the second time, yet a graph is done
        assert main([*arguments, str(tmp_path / "three")]) == 0


@pytest.mark.parametrize("command", [["compare", "swarm", "--strategies", "cpu"], ["advise", "--batch"]])
def test_other_commands_name_what_they_leave_out_too(tmp_path, capsys, monkeypatch, command):
    (tmp_path / "a.txt").write_text("# Undirected\n0 1\n1 2\n")
    (tmp_path / "b.txt").write_text("# Undirected\n0 1\n1 19999999\n")
    monkeypatch.setenv("LOCKSTEP_MEMORY", "64M")
    assert main([*command, str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert f"left out: graph 1 (b.txt): {tmp_path / 'b.txt'} has 20,000,000 vertices" in told
    (tmp_path / "a.txt").unlink()
    assert main([*command, str(tmp_path)]) == 2
    assert "left out: graph 0 (b.txt)" in capsys.readouterr().err


def test_other_commands_take_a_batch_as_it_is_said_to_be(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("0 1 5\n1 2 5\n")
    (tmp_path / "b.txt").write_text("0 1\n")
    command = ["advise", "--batch", str(tmp_path), "--json"]
    assert main(command) == 2 and "--unweighted" in capsys.readouterr().err
    for more, arcs in (([], 3), (["--undirected"], 6)):
        assert main([*command, "--unweighted", *more]) == 0
        assert json.loads(capsys.readouterr().out)["figures"]["m"] == arcs
    assert main(["compare", "swarm", str(tmp_path), "--strategies=cpu", "--measure=closeness", "--unweighted"]) == 0
    assert main([*command, "--names"]) == 2
    assert "--names says how the file of one graph is read; this is a batch" in capsys.readouterr().err


def test_weights_are_left_out(tmp_path, capsys):
    weighted = [graph.copy() for graph in GRAPHS]
    for graph in weighted:
        nx.set_edge_attributes(graph, -2.5, "weight")
    GraphBatch(weighted).write(tmp_path / "in")
    arguments = ["swarm", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "betweenness takes no weights here; leave them out" in capsys.readouterr().err
    assert main([*arguments, "--unweighted"]) == 0  # into the folder that nothing came into
    table = pd.read_parquet(tmp_path / "out").sort_values("graph")
    for graph, values in zip(GRAPHS, table["values"], strict=True):
        expected = nx.betweenness_centrality(graph, normalized=False)
        np.testing.assert_allclose(values, [expected[v] for v in range(len(graph))], atol=1e-9)
    lengths = ["--measure", "closeness", "--out", str(tmp_path / "three")]
    assert main([*arguments, *lengths]) == 2
    told = capsys.readouterr().err
    assert "none of its 4 graphs" in told and "weight of arc 0 is -2.5; expected a finite number above 0" in told
    assert main([*arguments, *lengths, "--unweighted"]) == 2
    assert "holds results of another run: weights is None there, False now" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight, told", [("16777217", "16777217"), ("1e39", "1e+39"), ("1e-300", "1e-300")])
def test_a_weight_that_float32_does_not_hold_is_told_with_its_file_and_arc(tmp_path, capsys, weight, told):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "v.txt").write_text("0 1 0.1\n1 2 16777216\n")
    (tmp_path / "in" / "w.txt").write_text(f"0 1 1\n1 2 {weight}\n2 3 0.1\n")
    arguments = ["swarm", str(tmp_path / "in"), "--measure", "apsp", "--strategy", "cpu", "--out"]
    assert main([*arguments, str(tmp_path / "out")]) == 0
    said = f"left out: graph 1 (w.txt): weight of arc 1 (from 1 to 2) is {told}, which float32"
    assert said in capsys.readouterr().err
    distances = pd.read_parquet(tmp_path / "out")["values"]
    tenth = float(np.float32(0.1))
    assert len(distances) == 1 and distances[0].tolist()[1:3] == [tenth, 16777216 + tenth]
    assert main([*arguments, str(tmp_path / "two"), "--unweighted"]) == 0
    assert pd.read_parquet(tmp_path / "two")["values"][1].tolist()[:4] == [0, 1, 2, 3]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind, wrong", [("float64", 1e39), ("float64", 16777217.0), ("int64", 16777217)])
@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_a_shard_s_weights_of_another_type(tmp_path, capsys, ending, kind, wrong):
    rows = [{"n": 2, "offsets": [0, 1, 1], "targets": [1], "weights": [weight]} for weight in (1, wrong, 3)]
    schema = pa.schema({"n": pa.int32(), "offsets": pa.list_(pa.int32()), "targets": pa.list_(pa.uint16()),
                        "weights": pa.list_(getattr(pa, kind)())}, {"directed": "yes"})  # fmt: skip
    table = pa.Table.from_pylist(rows, schema)
    (tmp_path / "in").mkdir()
    if ending == "parquet":
        pq.write_table(table, tmp_path / "in" / "a.parquet")
    else:
        with pa.ipc.new_file(tmp_path / "in" / "a.arrow", schema) as file:
            file.write_table(table)
    arguments = ["swarm", str(tmp_path / "in"), "--measure", "apsp", "--strategy", "cpu", "--out"]
    assert main([*arguments, str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err
    assert f"left out: graph 1 (1): weight of arc 0 is {wrong if wrong > 1e30 else int(wrong)}, which float32" in told
    assert [values.tolist() for values in pd.read_parquet(tmp_path / "out")["values"]] == [[0, 1, -1, 0], [0, 3, -1, 0]]
    assert main([*arguments, str(tmp_path / "two"), "--unweighted"]) == 0
    assert len(pd.read_parquet(tmp_path / "two")) == 3


def test_pagerank_that_ends_at_its_limit(tmp_path, capsys):
    """NetworkX gives no values then, which is told in one line; the others give those reached."""
    (tmp_path / "a.txt").write_text("0 1\n")
    arguments = ["swarm", str(tmp_path / "a.txt"), "--measure", "pagerank"]
    arguments += ["--option", "damping=1", "--option", "limit=3"]
    assert main([*arguments, "--strategy", "networkx", "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.startswith("lockstep: ") and told.count("\n") == 1
    assert "PageRank of a moves by more than tolerance=1e-12 a vertex after limit=3 rounds: raise one" in told
    assert main([*arguments, "--strategy", "cpu", "--out", str(tmp_path / "two")]) == 0
    assert sum(pd.read_parquet(tmp_path / "two")["values"][0]) == pytest.approx(1)


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--measure", "fame"], "no measure 'fame'"),
        (["--strategy", "magic"], "no strategy 'magic'"),
        (["--option", "form=odd", "--measure", "closeness"], "form='odd': choose one of"),
        (["--max-vertices", "0"], "max_vertices is 0"),
        (["--workers", "0"], "0 workers asked for; expected at least one"),
        (["--workers", "-1", "--scheduler", "tcp://127.0.0.1:1"], "-1 workers asked for; expected at least one"),
        (["--worker-timeout", "-1"], "worker_timeout=-1; expected more than 0 seconds"),
        (["--directed"], "says that its graphs are undirected; directed ones were asked for"),
    ],
)
def test_what_cannot_be(shards, tmp_path, capsys, arguments, told):
    assert main(["swarm", str(shards), "--out", str(tmp_path / "out"), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("lockstep: ") and told in error and error.count("\n") == 1
    assert main(["swarm", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]) == 2
    assert "nowhere: no such file or folder" in capsys.readouterr().err


@pytest.mark.slow
def test_on_a_cluster(shards, tmp_path, capsys):
    """Real engines in workers of their own; what no worker could do is refused before one is started."""
    arguments = ["--workers", "1", "--executor", "host", "--strategy", "cpu", "--out", str(tmp_path / "out")]
    assert main(["swarm", str(shards), *arguments]) == 0
    assert "betweenness of 4 graphs" in capsys.readouterr().err
    assert len(pd.read_parquet(tmp_path / "out")) == 4


def test_a_strategy_without_checksums_keeps_none(shards, tmp_path):
    with pytest.raises(ValueError, match="strategy 'networkx' makes no checksums"):
        compute(shards, "betweenness", tmp_path / "out", strategy="networkx", keep="checksums")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["endpoints"], "argument --option: 'endpoints'; expected NAME=VALUE"),
        (["=true"], "argument --option: '=true'; expected NAME=VALUE"),
        (["endpoints=true", "endpoints=false"], "endpoints is given twice, as 'true' and 'false'"),
    ],
)
def test_settings_of_a_measure_that_cannot_be_read(shards, tmp_path, capsys, settings, told):
    arguments = [word for setting in settings for word in ("--option", setting)]
    with pytest.raises(SystemExit) as stopped:
        main(["swarm", str(shards), "--out", str(tmp_path / "out"), *arguments])
    assert stopped.value.code == 2 and told in capsys.readouterr().err


def test_two_runs_do_not_write_into_one_folder(shards, tmp_path):
    """The lock is of a process: another one is refused, until the first has ended."""
    folder = tmp_path / "out"
    folder.mkdir()
    hold = ("import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.lockf(file, fcntl.LOCK_EX); "
            "print('held', flush=True); input()")  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", hold, str(folder / "_run.lock")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as other:  # fmt: skip
        assert other.stdout.readline() == "held\n"
        with pytest.raises(OutputError, match="another run is writing into .*out"):
            compute(shards, "betweenness", folder, strategy="cpu")
        other.communicate("\n")
    assert compute(shards, "betweenness", folder, strategy="cpu").graphs == 4


def test_a_strategy_without_checksums_does_not_go_on_with_another_run(shards, tmp_path):
    compute(shards, "betweenness", tmp_path / "out", strategy="cpu")
    with pytest.raises(OutputError, match="checksums is None there, False now"):
        compute(shards, "betweenness", tmp_path / "out", strategy="networkx")
