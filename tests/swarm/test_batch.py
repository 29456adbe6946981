"""A batch larger than memory: from shards, files, archives and sequences; what is bad is named, the rest is done."""

import itertools
import lzma
import shutil
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack, join
from lockstep.batch.shards import read_shard, write_shard
from lockstep.cli import main
from lockstep.graphs import GraphError, read
from lockstep.swarm import analyze


@pytest.fixture
def equal(same):
    """A function that compares a batch with graphs."""
    return lambda batch, graphs: len(batch) == len(graphs) and all(same(batch[i], g) for i, g in enumerate(graphs))


@pytest.mark.parametrize("format", ["arrow", "parquet"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_shards_give_back_what_was_written(tmp_path, format, weighted, directed, some, equal):
    graphs = some(directed, weighted, count=23)
    batch = GraphBatch(graphs).write(tmp_path / "out", format=format, graphs=5)
    assert len(batch.pieces) == 5 and equal(batch, graphs)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [f"shard-{i:05d}.{format}" for i in range(5)]
    read = pd.read_feather if format == "arrow" else pd.read_parquet
    table = read(tmp_path / "out" / f"shard-00001.{format}")
    assert table["name"].tolist() == ["g5", "g6", "g7", "g8", "g9"]
    assert table["targets"][2].tolist() == graphs[7].targets.tolist()
    assert table["targets"][2].dtype == np.uint16
    fewer = GraphBatch(graphs[:6]).write(tmp_path / "out", format=format, graphs=5)
    assert len(fewer.pieces) == 2 and equal(fewer, graphs[:6])  # the shards of before are gone


def test_a_shard_can_be_read_into_memory_of_the_callers(tmp_path, some):
    pack = Pack.of(some(count=40))
    write_shard(tmp_path / "one.arrow", pack)
    given = []

    def memory(size):
        given.append(np.zeros(size + 100, np.uint8))
        return given[0]

    found, wrong = read_shard(tmp_path / "one.arrow", memory=memory)
    assert not wrong and len(given) == 1
    assert np.shares_memory(found.targets, given[0]) and np.shares_memory(found.offsets, given[0])
    assert np.array_equal(found.targets, pack.targets)


def test_packs_are_bounded(tmp_path):
    graphs = [nx.path_graph(20)] * 30 + [nx.complete_graph(40)]
    batch = GraphBatch(graphs, pack_bytes=1000).write(tmp_path, graphs=100)
    packs = list(batch)
    assert sum(len(pack) for pack in packs) == 31 and len(packs) > 5
    assert all(pack.nbytes <= 1100 or len(pack) == 1 for pack in packs)


def bad_rows():
    """Rows of a shard, most of them wrong: (what is wrong, or None; offsets; targets)."""
    return [
        (None, [0, 1, 2], [1, 0]),
        ("target of arc 1 is 2; expected an id in 0..1", [0, 1, 2], [1, 2]),
        ("it is empty", [0], []),
        ("it has no offsets", None, [1]),
        ("its offsets do not rise from 0 to 2", [0, 3, 2], [1, 0]),
        ("its offsets do not rise from 0 to 1", [0, 1, 2], [0]),
        ("it has 6 vertices; expected at most 5", [0, 0, 0, 0, 0, 0, 0], []),
        ("it has no offsets", [], []),
        ("target of arc 0 is -1", [0, 1], [-1]),
        ("target of arc 0 is 70000", [0, 1], [70_000]),
        (None, [0, 0, 0], []),
    ]


@pytest.mark.parametrize("format", ["arrow", "parquet"])
def test_bad_graphs_are_named_and_the_others_done(tmp_path, format):
    rows = bad_rows()
    table = pa.table(
        {
            "name": [f"r{i}" for i in range(len(rows))],
            "offsets": pa.array([row[1] for row in rows], pa.list_(pa.int64())),
            "targets": pa.array([row[2] for row in rows], pa.list_(pa.int32())),
        }
    )
    path = tmp_path / f"some.{format}"
    if format == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    batch = GraphBatch(path, max_vertices=5)
    packs = list(batch)
    assert [list(pack.names) for pack in packs] == [["r0", "r10"]]
    assert packs[0].targets.dtype == np.uint16 and packs[0].targets.tolist() == [1, 0]
    assert [problem.graph for problem in batch.problems] == list(range(1, 10))
    for problem in batch.problems:
        assert problem.name == f"r{problem.graph}" and problem.reason.startswith(rows[problem.graph][0])
    assert batch[10].n == 2
    with pytest.raises(GraphError, match=r"graph 1 \(r1\) of .*some.* cannot be used: target of arc 1"):
        batch[1]
    with pytest.raises(GraphError, match=r"graph 1 \(r1\) of .*target of arc 1 is 2; expected an id in 0\.\.1"):
        list(GraphBatch(path, bad="refuse"))


def test_rows_that_contradict_themselves(tmp_path):
    table = pa.table(
        {
            "n": pa.array([1, 3, 1], pa.int32()),
            "offsets": pa.array([[0, 1], [0, 1], [0, 2]], pa.list_(pa.int32())),
            "targets": pa.array([[0], [0], [0, 0]], pa.list_(pa.uint16())),
            "weights": pa.array([[5.0], [5.0], [1.0]], pa.list_(pa.float64())),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    batch = GraphBatch(tmp_path)
    (pack,) = batch
    assert pack.weights.tolist() == [5.0]
    assert "n = 3, which does not go with 2 offsets" in batch.problems[0].reason
    assert "1 weights for 2 arcs" in batch.problems[1].reason


def test_shards_that_do_not_say_whether_they_are_directed(tmp_path):
    """As pandas writes them. Taken as undirected a graph whose arcs lead one way would get wrong values, silently."""
    offsets = [[0, 1, 2], [0, 1, 1], [0, 3, 4, 5, 5], [0, 1, 1], [0, 2, 3]]
    targets = [[1, 0], [1], [1, 1, 2, 0, 0], [7], [0, 1, 0]]  # good, an arc, a double one, an id beyond, good
    pd.DataFrame({"offsets": offsets, "targets": targets}).to_parquet(tmp_path / "a.parquet")
    batch = GraphBatch(tmp_path)
    (pack,) = batch
    assert not pack.directed and len(pack) == 2 and pack.m.tolist() == [2, 3]
    told = {problem.graph: problem.reason for problem in batch.problems}
    assert list(told) == [1, 2, 3] and "target of arc 0 is 7" in told[3]
    assert told[1].startswith("it has an arc from 0 to 1 and none back") and "from 0 to 1 and" in told[2]
    (pack,) = GraphBatch(tmp_path, directed=True)
    assert pack.directed and pack.m.tolist() == [2, 1, 5, 3]
    said = GraphBatch([nx.path_graph(3)]).write(tmp_path / "said")
    assert sum(map(len, GraphBatch(said.source, directed=False))) == 1
    with pytest.raises(GraphError, match="says that its graphs are undirected; directed ones were asked for"):
        list(GraphBatch(said.source, directed=True))


def test_a_shard_with_other_weights_back_is_not_taken_as_undirected(tmp_path):
    """Closeness would take one of the two weights, silently. Of a multigraph both weights must come back."""
    table = {
        "offsets": [[0, 1, 2], [0, 1, 3, 4], [0, 0, 2, 4], [0, 2, 4]],
        "targets": [[1, 0], [1, 0, 2, 1], [2, 2, 1, 1], [1, 1, 0, 0]],
        "weights": [[2, 2], [1, 5, 2, 7], [3, 4, 4, 3], [1, 2, 2, 2]],
    }
    pd.DataFrame(table).to_parquet(tmp_path / "a.parquet")
    batch = GraphBatch(tmp_path)
    (pack,) = batch
    assert pack.n.tolist() == [2, 3] and [problem.graph for problem in batch.problems] == [1, 3]
    assert all("different weights in its two directions" in problem.reason for problem in batch.problems)
    assert len(GraphBatch(tmp_path, weights=False)) == 4 and not list(GraphBatch(tmp_path, weights=False))[1:]
    (pack,) = GraphBatch(tmp_path, directed=True)
    assert len(pack) == 4


def test_weights_are_left_out(some):
    graphs = some(weighted=True)
    pack = Pack.of(graphs)
    pack.weights[pack.arc_start[3]] = np.nan
    batch = GraphBatch(pack, weights=False)
    (found,) = batch
    assert found.weights is None and not batch.problems and len(found) == len(pack)
    assert np.array_equal(found.targets, pack.targets) and batch[3].weights is None
    assert found.unweighted() is found and pack.unweighted().host.weights is None


def test_weights_that_are_no_numbers(some):
    pack = Pack.of(some(weighted=True))
    pack.weights[pack.arc_start[3]] = np.nan
    batch = GraphBatch(pack)
    assert sum(map(len, batch)) == len(pack) - 1
    assert batch.problems[0].reason == "weight of arc 0 is nan; expected a finite number"


def test_weights_that_are_missing_or_no_numbers(tmp_path):
    graphs = {"offsets": [[0, 1, 2], [0, 1, 2], [0, 0]], "targets": [[1, 0], [1, 0], []]}

    def written(file, weights, kind):
        table = pa.table({**graphs, "weights": pa.array(weights, kind)})
        if file.suffix == ".parquet":
            pq.write_table(table, file)
        else:
            with pa.ipc.new_file(file, table.schema) as out:
                out.write_table(table)
        return file

    for suffix, kind in itertools.product(("arrow", "parquet"), (pa.float32(), pa.float64(), pa.int64())):
        file = written(tmp_path / f"{kind}.{suffix}", [[1, None], [3, 3], []], pa.list_(kind))
        batch = GraphBatch(file, directed=True)
        assert [pack.weights.tolist() for pack in batch] == [[3, 3]]
        assert [one.graph for one in batch.problems] == [0]
        assert batch.problems[0].reason == "weight of arc 1 is missing; expected a number for every arc"
        assert sum(map(len, GraphBatch(file, directed=True, weights=False))) == 3
    for name, kind, weights in (("one", pa.float64(), [1, 2, 3]), ("text", pa.list_(pa.string()), [["a", "b"]] * 3)):
        with pytest.raises(GraphError, match=f"{name}.arrow holds {kind} in column weights; expected a list of"):
            GraphBatch(written(tmp_path / f"{name}.arrow", weights, kind))


def test_files_that_are_no_shards(tmp_path):
    (tmp_path / "a.arrow").write_text("not at all")
    with pytest.raises(GraphError, match="a.arrow cannot be read as a shard"):
        GraphBatch(tmp_path)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(GraphError, match="b.parquet has the columns x; expected a column offsets"):
        list(GraphBatch(tmp_path / "b.parquet"))
    with pytest.raises(GraphError, match="nothing: no such file or folder"):
        GraphBatch(tmp_path / "nothing")
    (tmp_path / "none").mkdir()
    with pytest.raises(GraphError, match="holds no shard"):
        GraphBatch(tmp_path / "none")


def test_a_folder_of_edge_lists(tmp_path):
    (tmp_path / "a.txt").write_text("0 1\n1 2\n")
    (tmp_path / "b.txt").write_text("0 x\n")
    (tmp_path / "c.txt").write_text("2 0\n")
    (tmp_path / "notes.md").write_text("no graph")
    batch = GraphBatch(tmp_path, directed=False)
    (pack,) = batch
    assert len(batch) == 3 and list(pack.names) == ["a", "c"] and pack.m.tolist() == [4, 2]
    assert batch.problems[0].name == "b.txt" and "line 1" in batch.problems[0].reason
    assert GraphBatch(tmp_path)[0].directed
    (tmp_path / "b.txt").write_text("0 1\n")
    assert sum(map(len, GraphBatch(tmp_path, bad="refuse"))) == 3


def test_names_of_vertices_come_back_with_the_results(tmp_path):
    """Each file's ids are names or numbers; graphs that are left out shift nothing."""
    (tmp_path / "a.txt").write_text("0 1\n1 x\n")
    (tmp_path / "b.txt").write_text("ann bob\nbob cyd\n")
    (tmp_path / "c.txt").write_text("0 1\n")
    batch = GraphBatch(tmp_path, directed=False)
    result = analyze(batch, strategy="cpu")
    assert [one.name for one in result.problems] == ["a.txt"]
    assert result.labels[0] is None and result.labels[2] is None
    assert dict(zip(result.labels[1], result[1].tolist(), strict=True)) == {"ann": 0, "bob": 1, "cyd": 0}
    assert list(batch[1].labels) == ["ann", "bob", "cyd"] and batch[2].labels is None
    star = nx.Graph([("hub", 7), ("hub", (1, 2))])
    result = analyze([star, nx.path_graph(2)], strategy="cpu")
    assert list(result.labels[0]) == list(star) and result.labels[1] is None


@pytest.mark.parametrize("suffix", ["zip", "tar.gz", "tgz"])
def test_a_tu_archive(tmp_path, suffix):
    graphs = [nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(2)]
    arcs, owner, base = [], [], 1
    for k, graph in enumerate(graphs, 1):
        arcs += [f"{u + base}, {v + base}" for a, b in graph.edges for u, v in ((a, b), (b, a))]
        owner += [str(k)] * len(graph)
        base += len(graph)
    (tmp_path / "TINY").mkdir()
    (tmp_path / "TINY" / "TINY_A.txt").write_text("\n".join(arcs) + "\n")
    (tmp_path / "TINY" / "TINY_graph_indicator.txt").write_text("\n".join(owner) + "\n")
    kind = "zip" if suffix == "zip" else "gztar"
    Path(shutil.make_archive(tmp_path / "made", kind, tmp_path, "TINY")).rename(tmp_path / f"TINY.{suffix}")
    batch = GraphBatch(tmp_path / f"TINY.{suffix}")
    assert len(batch) == 3
    for k, graph in enumerate(graphs):
        found = batch[k]
        assert found.name == f"TINY-{k}" and not found.directed
        assert nx.utils.graphs_equal(nx.Graph(found.to_networkx().edges), nx.Graph(graph.edges))
        assert found.n == len(graph)


def test_networkx_graphs_and_one_that_is_none():
    batch = GraphBatch([nx.path_graph(3), "what", nx.star_graph(4)])
    (pack,) = batch
    assert pack.n.tolist() == [3, 5]
    assert [problem.graph for problem in batch.problems] == [1]
    assert "cannot take a str" in batch.problems[0].reason
    with pytest.raises(GraphError, match="a batch of int"):
        GraphBatch(5)
    with pytest.raises(GraphError, match="a batch of dict; expected a sequence"):
        GraphBatch({0: nx.path_graph(3)})


MM = "%%MatrixMarket matrix coordinate "
PATTERN, REAL = MM + "pattern general\n3 3 2\n2 1\n3 2\n", MM + "real general\n3 3 2\n2 1 4\n3 2 5\n"
SYMMETRIC, GENERAL = MM + "real symmetric\n3 3 2\n2 1 4\n3 2 5\n", REAL
MIXED = {  # two files of different kinds; what differs, and what takes both alike: on the command line, in Python
    "weights": (("0 1\n1 2\n0 2\n", "0 1 3\n1 2 5\n0 2 9\n"), "weights", "--unweighted", {"weights": False}),
    "pattern, real": ((PATTERN, REAL), "weights", "--unweighted", {"weights": False}),
    "symmetric, general": ((SYMMETRIC, GENERAL), "directed", "--undirected", {"directed": False}),
    "headers": (("# Directed\n0 1\n", "# Undirected\n0 1\n"), "directed", "--undirected", {"directed": False}),
    "header, none": (("0 1\n", "# Undirected\n0 1\n"), "directed", "--undirected", {"directed": False}),
}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("case", MIXED)
def test_graphs_of_different_kinds_are_refused_in_every_order(tmp_path, capsys, case, order):
    """The first one's header must not decide for the others: values would be wrong, silently."""
    (one, other), what, way_out, options = MIXED[case]
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name, text in zip("abc", [(one, other, other)[i] for i in order], strict=True):
        (folder / f"{name}.txt").write_text(text)
    odd = "abc"[order.index(0)]
    arguments = ["swarm", str(folder), "--measure", "closeness", "--strategy", "cpu", "--out"]
    assert main([*arguments, str(out)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and f"{folder / odd}.txt" in told and what in told and way_out in told
    assert not list(out.glob("part-*"))
    graphs = [read(path) for path in sorted(folder.iterdir())]
    for source in (folder, graphs):
        for bad in ("skip", "refuse"):
            with pytest.raises(GraphError, match=rf"\b{odd}\b.*{what}"):
                list(GraphBatch(source, bad=bad))
    with pytest.raises(GraphError, match=rf"\b{odd}\b.*{what}"):
        analyze(graphs, "closeness", strategy="cpu")
    assert main([*arguments, str(out), way_out]) == 0
    found = pd.read_parquet(out).sort_values("graph")["values"]
    for values, graph, path in zip(found, GraphBatch(folder, **options), sorted(folder.iterdir()), strict=False):
        alone = read(path, **options)
        expected = analyze([alone], "closeness", strategy="cpu")[0]
        assert values.tolist() == expected.tolist() and graph.directed == alone.directed
    if "weights" in options:
        assert sum(map(len, GraphBatch(graphs, **options))) == 3


def test_undirected_files_asked_for_as_directed_give_both_arcs(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("# Directed\n0 1\n")
    (tmp_path / "b.txt").write_text("# Undirected\n0 1\n")
    (tmp_path / "c.mtx").write_text(MM + "pattern symmetric\n2 2 1\n2 1\n")
    (pack,) = GraphBatch(tmp_path, directed=True)
    assert pack.directed and pack.m.tolist() == [1, 2, 2]
    assert main(["swarm", str(tmp_path), "--directed", "--strategy", "cpu", "--out", str(tmp_path / "out")]) == 0


def test_kinds_are_held_together_across_pieces(tmp_path):
    """Pieces are loaded one by one, perhaps by other processes."""
    path, arc = nx.path_graph(3), nx.DiGraph([(0, 1)])
    batch = GraphBatch([path] * 1024 + [arc])
    assert len(batch.pieces) == 2 and len(batch.load_piece(batch.pieces[0]).pack) == 1024
    with pytest.raises(GraphError, match="graph 1024 of the batch is directed, graph 0 of the batch is undirected"):
        batch.load_piece(batch.pieces[1])
    (tmp_path / "a.txt").write_text("0 x\n")
    (tmp_path / "b.txt").write_text("0 1 2.5\n")
    (tmp_path / "c.txt").write_text("0 1\n")
    batch = GraphBatch(tmp_path, pack_bytes=1)
    assert len(batch.pieces) == 3 and len(batch.load_piece(batch.pieces[1]).pack) == 1
    with pytest.raises(GraphError, match=r"b.txt has weights, .*c.txt has none"):
        list(batch)


def test_a_graph_without_arcs_goes_with_weighted_ones(tmp_path):
    heavy = nx.Graph()
    heavy.add_edge(0, 1, weight=2)
    for graphs in ([nx.empty_graph(2), heavy], [heavy, nx.empty_graph(2)]):
        (pack,) = GraphBatch(graphs)
        assert pack.weights.tolist() == [2, 2] and sorted(pack.m) == [0, 2]
        assert Pack.of(graphs).weights.tolist() == [2, 2]
        assert join([Pack.of([graph]) for graph in graphs]).weights.tolist() == [2, 2]
    (tmp_path / "a.txt").write_text("# Nodes: 3 Edges: 0\n")
    (tmp_path / "b.txt").write_text("0 1 2.5\n")
    (pack,) = GraphBatch(tmp_path)
    assert pack.weights.tolist() == [2.5] and pack.n.tolist() == [3, 2]


def test_shards_of_different_kinds_are_served_but_not_made_one(tmp_path):
    """Each shard says what its own graphs are."""
    heavy = nx.DiGraph()
    heavy.add_edge(0, 1, weight=2)
    write_shard(tmp_path / "a.arrow", Pack.of([nx.path_graph(2)]))
    write_shard(tmp_path / "b.arrow", Pack.of([heavy]))
    batch = GraphBatch(tmp_path)
    assert [(pack.directed, pack.weights is None) for pack in batch] == [(False, True), (True, False)]
    with pytest.raises(GraphError, match="is directed, .* is undirected"):
        batch.write(tmp_path / "one")


def test_the_first_graphs_alone(tmp_path, some, equal):
    graphs = some(count=12)
    batch = GraphBatch(graphs).write(tmp_path, graphs=5)
    for count in (1, 5, 7, 12, 20):
        head = batch.head(count)
        assert equal(head, graphs[:count])
        assert sum(map(len, head)) == min(count, 12)
        assert head.nbytes <= batch.nbytes


@pytest.mark.parametrize("kind", ["shards", "memory"])
def test_the_first_graphs_keep_their_numbers(tmp_path, kind):
    """Also behind one that cannot be used, which is told as it is of the whole batch."""
    graphs = [nx.path_graph(2), nx.empty_graph(0), *map(nx.path_graph, (3, 4, 5))]
    batch = GraphBatch(graphs)
    if kind == "shards":
        write_shard(tmp_path / "a.arrow", Pack.of(graphs))
        batch = GraphBatch(tmp_path)
    head = batch.head(3)
    assert len(head) == 3 and [len(pack) for pack in head] == [2]
    assert [one.graph for one in head.problems] == [1] and head[2].n == 3
    with pytest.raises(GraphError, match="graph 1 .* cannot be used: it is empty"):
        head[1]
    assert len({batch.digest(), head.digest(), batch.head(4).digest()}) == 3


def test_what_is_not_written(tmp_path):
    """Nothing where there is no graph, nothing beside shards of somebody else, and no shards of no graphs."""
    for graphs in ([], [nx.empty_graph(0)]):
        with pytest.raises(GraphError, match="memory holds no graph that can be used; nothing was written"):
            GraphBatch(graphs).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="graphs is 0; expected one or more in a shard"):
        GraphBatch([nx.path_graph(2)]).write(tmp_path / "out", graphs=0)
    write_shard(tmp_path / "mine.arrow", Pack.of([nx.path_graph(2)]))
    with pytest.raises(GraphError, match="holds another shard, mine.arrow; write the shards somewhere else"):
        GraphBatch([nx.path_graph(2)]).write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.arrow"]


def test_a_batch_does_not_overwrite_what_it_reads(tmp_path, some, monkeypatch):
    batch = GraphBatch(some()).write(tmp_path)
    with pytest.raises(GraphError, match="is what is read"):
        batch.write(tmp_path)
    with pytest.raises(GraphError, match="is what is read"):
        GraphBatch(batch.files[0]).write(tmp_path)  # one of the shards there
    GraphBatch(some()).write(tmp_path / "memory")  # as batches call their source that have none
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GraphError, match="is what is read"):
        GraphBatch("memory").write("memory")
    with pytest.raises(ValueError, match="format is 'csv'"):
        batch.write(tmp_path / "x", format="csv")
    with pytest.raises(ValueError, match="bad is 'drop'"):
        GraphBatch(tmp_path, bad="drop")
    assert batch.digest() == GraphBatch(tmp_path).digest() != batch.head(3).digest()


def test_a_graph_that_does_not_fit_is_left_out_and_named(tmp_path, monkeypatch, capsys):
    """As one that cannot be read: 20 KB of xz that unpack to 16 MB, and 15 bytes that tell of 20 million vertices."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt.xz").write_bytes(lzma.compress(b"0 1\n" * 2**22))
    (folder / "b.txt").write_text("0 1\n1 19999999")
    (folder / "c.txt").write_text("0 1\n1 2\n")
    monkeypatch.setenv("LOCKSTEP_MEMORY", "64M")
    arguments = ["swarm", str(folder), "--strategy", "cpu", "--out"]
    assert main([*arguments, str(out)]) == 0
    told = capsys.readouterr().err
    assert f"left out: graph 0 (a.txt.xz): {folder}/a.txt.xz unpacks to more than 8 MiB" in told
    assert f"left out: graph 1 (b.txt): {folder}/b.txt has 20,000,000 vertices" in told
    assert told.count("LOCKSTEP_MEMORY") == 2 and pd.read_parquet(out)["graph"].tolist() == [2]
    assert main([*arguments, str(tmp_path / "two"), "--bad", "refuse"]) == 2
    assert "graph 0 (a.txt.xz)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("measure", "options", "most"),
    [("apsp", {}, 1448), ("walks", {"walks": 1000}, 246), ("apsp", {"reduce": "total"}, None)],
)
def test_a_graph_whose_values_do_not_fit_is_left_out_and_named(monkeypatch, measure, options, most):
    monkeypatch.setenv("LOCKSTEP_MEMORY", "16M")
    graphs = [nx.path_graph(2000), nx.path_graph(20)]
    found = analyze(graphs, measure, strategy="cpu", **options)
    assert len(found[1]) == 20 and (found[0] is None) == (most is not None)
    told = [
        f"it has 2,000 vertices; expected at most {most:,}, or the values do not fit into memory "
        "(LOCKSTEP_MEMORY=SIZE raises the limit)"
    ] if most else []  # fmt: skip
    assert [problem.reason for problem in found.problems] == told
    batch = GraphBatch(graphs, max_vertices=10)
    assert not list(batch)
    assert batch.problems[0].reason == "it has 2,000 vertices; expected at most 10"


def test_a_write_that_fails_leaves_the_earlier_shards(tmp_path):
    paths = [nx.path_graph(n) for n in range(3, 9)]
    GraphBatch(paths).write(tmp_path / "w", graphs=2)
    before = sorted((file.name, file.read_bytes()) for file in (tmp_path / "w").iterdir())
    bad = GraphBatch([*(nx.complete_graph(4) for _ in range(1024)), nx.empty_graph(0)], bad="refuse")
    with pytest.raises(GraphError):
        bad.write(tmp_path / "w", graphs=1000)
    assert sorted((file.name, file.read_bytes()) for file in (tmp_path / "w").iterdir()) == before


def test_what_is_asked_for_is_what_graphs_in_memory_say():
    for graph, directed in ((nx.path_graph(3), True), (nx.path_graph(3, nx.DiGraph), False)):
        with pytest.raises(GraphError, match="the graphs of memory are .*directed; .*directed ones were asked for"):
            GraphBatch([graph], directed=directed)
        assert GraphBatch([graph], directed=not directed)[0].n == 3


def test_one_table_or_matrix_is_one_graph():
    table = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    assert len(GraphBatch.of(table)) == len(GraphBatch.of(np.ones((2, 2), int))) == 1


def test_hidden_files_are_no_shards(tmp_path):
    GraphBatch([nx.path_graph(4)]).write(tmp_path / "w")
    (tmp_path / "w" / ".copy.arrow").write_bytes((tmp_path / "w" / "shard-00000.arrow").read_bytes())
    assert len(GraphBatch(tmp_path / "w")) == 1
