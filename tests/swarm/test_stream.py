"""A batch from files to results: the same with and without overlap, taken up after a kill, bad graphs told."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lockstep.batch import stream
from lockstep.batch.batch import GraphBatch
from lockstep.batch.output import Output, OutputError
from lockstep.batch.pack import Pack
from lockstep.batch.stream import run
from lockstep.graphs import GraphError
from lockstep.swarm.strategies.engine import Engine


class Degrees:
    """An engine that counts arcs: what the pipeline needs of one."""

    executor, measure, options = None, SimpleNamespace(name="degrees", weights=False), {"fake": True}
    lengths, most_vertices = False, 2**31 - 1

    def __init__(self):
        self.runs = 0

    def prepare(self, pack):
        return SimpleNamespace(run=lambda: self.run(pack))

    def run(self, pack):
        self.runs += 1
        heads = np.concatenate([np.diff(pack[i].offsets) for i in range(len(pack))]).astype(np.float64)
        return SimpleNamespace(values=heads, checksums=pack.m.astype(np.uint64), starts=pack.vertex_start)


@pytest.fixture
def shards(tmp_path, some):
    graphs = some(count=43)
    return graphs, GraphBatch(graphs).write(tmp_path / "in", graphs=5)


@pytest.mark.parametrize("threads", [1, 3])
def test_results_lie_beside_the_graphs(shards, tmp_path, threads):
    graphs, batch = shards
    report = run(batch, Degrees(), tmp_path / "out", threads=threads)
    table = pd.read_parquet(tmp_path / "out").sort_values("graph")
    assert table["graph"].tolist() == list(range(43)) and table["name"].tolist() == [g.name for g in graphs]
    for graph, values in zip(graphs, table["values"], strict=True):
        assert values.tolist() == np.diff(graph.offsets).tolist()
    assert report.checksums.tolist() == table["checksum"].tolist() == [g.m for g in graphs]
    assert (report.graphs, report.pieces, report.resumed, report.problems) == (43, 9, 0, [])
    assert {"load", "compute", "write", "wall"} <= set(report.seconds)


def test_without_a_folder_checksums_come_back(shards):
    graphs, batch = shards
    seen = []
    report = run(batch, Degrees(), sink=lambda piece, loaded, lengths, values: seen.append((piece.first, values)))
    assert report.checksums.tolist() == [g.m for g in graphs]
    ordered = np.concatenate([values for _, values in sorted(seen, key=lambda one: one[0])])
    assert ordered.tolist() == np.concatenate([np.diff(g.offsets) for g in graphs]).tolist()
    assert run(batch, None).graphs == 43  # loads only


def test_checksums_alone(shards, tmp_path):
    graphs, batch = shards
    run(batch, Degrees(), tmp_path / "out", keep="checksums")
    table = pd.read_parquet(tmp_path / "out")
    assert list(table.columns) == ["graph", "name", "checksum"] and len(table) == 43
    with pytest.raises(ValueError, match="keep is 'all'"):
        Output(tmp_path, keep="all")


def test_a_run_goes_on_where_it_stopped(shards, tmp_path):
    graphs, batch = shards
    out = tmp_path / "out"

    class Dies(Degrees):
        def run(self, pack):
            if self.runs == 4:
                raise RuntimeError("no more")
            return super().run(pack)

    with pytest.raises(RuntimeError, match="no more"):
        run(batch, Dies(), out, threads=1)
    (out / ".part-shard-00007.99").write_text("torn")
    again = Degrees()
    report = run(batch, again, out, threads=1)
    assert (again.runs, report.resumed, report.pieces) == (5, 4, 5)
    assert report.checksums.tolist() == [g.m for g in graphs]
    assert not list(out.glob(".part-*"))
    third = Degrees()
    assert run(batch, third, out).resumed == 9 and third.runs == 0


def test_a_killed_process_goes_on(shards, tmp_path):
    """SIGKILL in the middle of a run: no part is torn, the next run does the rest and gives the same."""
    graphs, batch = shards
    out = tmp_path / "out"
    program = f"""
        import time
        from types import SimpleNamespace
        from lockstep.batch.stream import run

        class Stops:
            executor, measure, options = None, SimpleNamespace(name="degrees", weights=False), {{"fake": True}}
            lengths, most_vertices, runs = False, 2**31 - 1, 0
            def prepare(self, pack): return SimpleNamespace(run=lambda: self.run(pack))
            def run(self, pack):
                self.runs += 1
                time.sleep(0.15 if self.runs < 5 else 600)
                import numpy as np
                heads = np.concatenate([np.diff(pack[i].offsets) for i in range(len(pack))]).astype(float)
                return SimpleNamespace(values=heads, checksums=pack.m.astype(np.uint64), starts=pack.vertex_start)

        run({str(tmp_path / "in")!r}, Stops(), {str(out)!r}, threads=2)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)])
    end = time.monotonic() + 60
    while len(list(out.glob("part-*.parquet"))) < 2 and child.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    left = len(list(out.glob("part-*.parquet")))
    report = run(GraphBatch(tmp_path / "in"), Degrees(), out)
    assert 2 <= left < 9 and report.resumed == left and report.graphs < 43
    assert report.checksums.tolist() == [g.m for g in graphs]
    assert len(pd.read_parquet(out)) == 43


def test_a_folder_of_another_run_is_refused(shards, tmp_path):
    _, batch = shards
    run(batch, Degrees(), tmp_path / "out")
    with pytest.raises(OutputError, match="keep is 'values' there, 'checksums' now"):
        run(batch, Degrees(), tmp_path / "out", keep="checksums")
    with pytest.raises(OutputError, match="batch is '[0-9a-f]*' there"):
        run(batch.head(4), Degrees(), tmp_path / "out")
    for asked, told in (({"max_vertices": 7}, "max_vertices is None there, 7 now"),
                        ({"bad": "refuse"}, "bad is None there, 'refuse' now"),
                        ({"directed": False}, "directed is None there, False now")):  # fmt: skip
        with pytest.raises(OutputError, match=told):
            run(GraphBatch(batch.source, **asked), Degrees(), tmp_path / "out")
    (tmp_path / "out" / "_run.json").unlink()
    with pytest.raises(OutputError, match="no _run.json"):
        run(batch, Degrees(), tmp_path / "out")
    (tmp_path / "out" / "_run.json").write_text('{"batch"')
    with pytest.raises(OutputError, match="_run.json is damaged"):
        run(batch, Degrees(), tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "_problems.csv").write_text("mine")
    with pytest.raises(OutputError, match="holds a _problems.csv of something else"):
        run(batch, Degrees(), tmp_path / "other")
    assert (tmp_path / "other" / "_problems.csv").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file is a file; name a folder"):
        run(batch, Degrees(), tmp_path / "file")
    with pytest.raises(OutputError, match="in holds the graphs"):
        run(batch, Degrees(), tmp_path / "in")
    assert len(GraphBatch(tmp_path / "in")) == 43


def test_shards_of_one_name(tmp_path, some):
    for format, more in (("arrow", 0), ("parquet", 2)):
        GraphBatch(some(count=3 + more)).write(tmp_path / format, format=format).files[0].rename(
            tmp_path / f"a.{format}"
        )
        (tmp_path / format).rmdir()
    report = run(tmp_path, Degrees(), tmp_path.with_name("results"))
    table = pd.read_parquet(tmp_path.with_name("results"))
    assert report.graphs == len(table) == 8 and sorted(table["graph"]) == list(range(8))


def test_bad_graphs_are_told_and_the_others_done(tmp_path, some):
    graphs = some(count=20)
    pack = next(iter(GraphBatch(graphs)))
    fault = int(np.flatnonzero(pack.m > 0)[2])
    pack.targets[pack.arc_start[fault]] = 999
    from lockstep.batch.shards import write_shard

    (tmp_path / "in").mkdir()
    write_shard(tmp_path / "in" / "a.arrow", pack[:10])
    write_shard(tmp_path / "in" / "b.arrow", pack[10:])
    report = run(tmp_path / "in", Degrees(), tmp_path / "out")
    assert [(p.graph, p.name) for p in report.problems] == [(fault, f"g{fault}")]
    table = pd.read_parquet(tmp_path / "out")
    assert sorted(table["graph"]) == [i for i in range(20) if i != fault]
    told = pd.read_csv(tmp_path / "out" / "_problems.csv")
    assert told["graph"].tolist() == [fault] and "target of arc 0 is 999" in told["reason"][0]
    with pytest.raises(GraphError, match=f"graph {fault} .*999"):
        run(GraphBatch(tmp_path / "in", bad="refuse"), Degrees())


def test_a_piece_without_a_good_graph(tmp_path):
    batch = GraphBatch(["nothing", "at all"])
    report = run(batch, Degrees(), tmp_path / "out")
    assert report.graphs == 0 and len(report.problems) == 2
    assert run(batch, Degrees(), tmp_path / "out").resumed == 1


def test_loading_and_computing_overlap(shards, monkeypatch):
    _, batch = shards
    load = GraphBatch.load_piece

    loads, further = [], threading.Event()

    def counted(self, piece, memory=None):
        loads.append(piece)
        if len(loads) > 1:
            further.set()
        return load(self, piece, memory)

    class Waits(Degrees):
        """Its first run ends once a further piece is being loaded; with one thread none ever is."""

        def __init__(self, patience):
            super().__init__()
            self.patience = patience

        def run(self, pack):
            if self.runs == 0:
                self.overlaps = further.wait(self.patience)
            return super().run(pack)

    monkeypatch.setattr(GraphBatch, "load_piece", counted)
    for threads, patience in ((1, 0.3), (3, 60)):
        loads.clear()
        further.clear()
        engine = Waits(patience)
        run(batch, engine, threads=threads)
        assert engine.overlaps == (threads > 1)


def most_at_once(monkeypatch, owner, name):
    """Of the threads in a method at the same time; a list of one number, which grows."""
    inside, most, lock, method = [0], [0], threading.Lock(), getattr(owner, name)

    def counted(*args, **options):
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.01)
        try:
            return method(*args, **options)
        finally:
            with lock:
                inside[0] -= 1

    monkeypatch.setattr(owner, name, counted)
    return most


def test_one_pack_is_computed_at_a_time_and_no_more_are_loaded_than_asked_for(shards, monkeypatch):
    _, batch = shards
    computing, loading = most_at_once(monkeypatch, Degrees, "run"), most_at_once(monkeypatch, GraphBatch, "load_piece")
    run(batch, Degrees(), threads=4, loaders=1)
    assert computing == [1] and loading == [1]
    run(batch, Degrees(), threads=4, loaders=3)
    assert computing == [1] and 1 < loading[0] <= 3


def test_a_bar_counts_graphs(shards, capsys):
    _, batch = shards
    run(batch, Degrees(), progress=True)
    assert "43.0/43.0" in capsys.readouterr().err


@pytest.mark.gpu
def test_through_page_locked_memory(cuda, shards):
    """What the device gets is what the files hold."""
    _, batch = shards
    pipeline = stream.Slot(cuda)
    for piece in batch.pieces:
        loaded = batch.load_piece(piece, pipeline.memory)
        there = pipeline.upload(loaded.pack)
        for name in ("n", "m", "offsets", "targets", "vertex_start", "arc_start"):
            assert np.array_equal(getattr(there, name).get(), getattr(loaded.pack, name))


def test_threads_plan_one_after_the_other(some):
    """Planning is Python: several threads at it only take the interpreter's lock from each other."""
    engine, inside, most = Engine("closeness", None, "cpu"), [], []

    def planning(pack, weighted):
        inside.append(1)
        time.sleep(0.01)
        most.append(len(inside))
        inside.pop()

    engine.method.prepare = planning
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(engine.prepare, [Pack.of(some(count=3))] * 8))
    assert most == [1] * 8


def test_an_engine_reads_the_kernels_files_once(some, monkeypatch):
    engine, asked, pack = Engine("closeness", "host", "swarm"), [], Pack.of(some(count=3))
    load = engine.executor.load
    monkeypatch.setattr(engine.executor, "load", lambda path, defines: asked.append(path.name) or load(path, defines))
    first = engine.run(pack).get()
    count = len(asked)
    assert count and (engine.run(pack).get().checksums == first.checksums).all() and len(asked) == count
    Engine("closeness", engine.executor, "swarm").run(pack)
    assert len(asked) == 2 * count, "another engine looks again: a kernel may have been written meanwhile"
