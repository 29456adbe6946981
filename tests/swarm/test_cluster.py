"""The same pieces on a Dask cluster of workers without GPUs; one is killed in the middle."""

import numpy as np
import pandas as pd
import pytest

from lockstep.batch.batch import GraphBatch
from lockstep.batch.cluster import connected, run_cluster
from lockstep.swarm import command


@pytest.fixture
def degrees():
    """A function that makes an engine: a local one, so that it is sent whole to workers, who cannot import a test."""

    def made():
        """An engine that counts arcs and takes its time; it kills its process once, if a file says so."""
        import os
        import signal
        import time
        from pathlib import Path
        from types import SimpleNamespace

        import numpy as np

        class Degrees:
            executor, measure, options = None, SimpleNamespace(name="degrees", weights=False), {}
            lengths, most_vertices = False, 2**31 - 1

            def prepare(self, pack):
                return SimpleNamespace(run=lambda: self.run(pack))

            def run(self, pack):
                time.sleep(0.05)
                victim = Path(os.environ.get("LOCKSTEP_TEST_VICTIM", "/nonexistent"))
                try:
                    victim.rename(victim.with_suffix(f".{os.getpid()}"))
                    os.kill(os.getpid(), signal.SIGKILL)
                except FileNotFoundError:
                    pass
                values = np.concatenate([np.diff(pack[i].offsets) for i in range(len(pack))]).astype(float)
                return SimpleNamespace(values=values, checksums=pack.m.astype(np.uint64), starts=pack.vertex_start)

        return Degrees()

    return made


@pytest.fixture
def shards(tmp_path, some):
    graphs = some(count=60)
    return graphs, GraphBatch(graphs).write(tmp_path / "in", graphs=4)


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(shards, degrees, tmp_path, monkeypatch):
    graphs, batch = shards
    victim = tmp_path / "victim"
    victim.write_text("")
    monkeypatch.setenv("LOCKSTEP_TEST_VICTIM", str(victim))
    with connected(workers=2, executor="host") as client:
        report = run_cluster(batch, degrees, tmp_path / "out", client=client)
        assert [p.name for p in tmp_path.glob("victim.*")] and not victim.exists()  # one died
        assert report.checksums.tolist() == [g.m for g in graphs]
        table = pd.read_parquet(tmp_path / "out").sort_values("graph")
        assert table["graph"].tolist() == list(range(60))
        assert np.concatenate(table["values"].tolist()).sum() == sum(g.m for g in graphs)
        again = run_cluster(batch, degrees, tmp_path / "out", client=client)
        assert (again.resumed, again.pieces) == (15, 0)
        monkeypatch.chdir(tmp_path)  # where no worker is
        away = run_cluster("in", degrees, "away", client=client)
        assert away.graphs == len(pd.read_parquet(tmp_path / "away")) == 60
        static = run_cluster(batch, degrees, client=client, schedule="static")
        assert static.checksums.tolist() == [g.m for g in graphs]
        with pytest.raises(ValueError, match="schedule is 'random'"):
            run_cluster(batch, degrees, client=client, schedule="random")
        # the same cluster by its address, as on several machines
        with connected(client.scheduler.address) as other:
            assert run_cluster(batch, degrees, client=other).graphs == 60
        # and from the command line, on some of its workers
        seen = []
        monkeypatch.setattr(command, "run_cluster", lambda *given, **how: seen.append(how["workers"]))
        for scheduler, workers in ((client.scheduler.address, 1), (client.scheduler.address, None), (None, 1)):
            command.compute(graphs, "closeness", tmp_path / "not made", scheduler=scheduler, workers=workers,
                            executor="host")  # fmt: skip
        assert seen == [1, None, None]
