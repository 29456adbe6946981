"""Compare: every strategy of a study on one graph, timed or counted, ranked and drawn."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

from lockstep import cli, compare
from lockstep.compare import runs
from lockstep.graphs import Graph, GraphError, generators, load
from lockstep.machine import gpu_available


@pytest.mark.parametrize(("study", "named", "graph", "names"), [
    ("toposort", "3", generators.layered(60, 6), ["serial", "naive", "narrow"]),
    ("sssp", "2-sssp-sync", load("karate"), ["dijkstra", "near-far", "semaphores"]),
    ("coloring", "coloring", load("karate"), ["greedy", "early", "randomized"]),
    ("sgd", "1", load("karate"), ["serial", "tiles", "edge-locked"]),
    ("swarm", "5", [nx.path_graph(9), nx.star_graph(6)], ["cpu", "paper", "swarm"]),
])  # fmt: skip
def test_strategies_are_timed_or_counted_and_verified(study, named, graph, names):
    assert compare.study_of(named) == study
    found = compare.compare(study, graph, strategies=names, executor="host", rounds=2)
    assert sorted(found["strategy"]) == sorted(names)
    assert list(found.columns) == list(compare.COLUMNS)
    assert found["verified"].notna().all(), found
    cpu = found["family"] == "cpu"
    assert (found.loc[cpu, "ms"] > 0).all() and found.loc[~cpu, "ms"].isna().all()
    assert (found.loc[~cpu, "launches"] >= 1).all(), "kernels are counted on the emulator"
    assert found["times the fastest"].min() == 1
    assert found["colors"].notna().all() == (study == "coloring")
    text = compare.told(found)
    assert "emulator" in text and all(name in text for name in names)
    assert len(compare.picture(found).axes) == 2


def test_a_strategy_that_is_wrong_in_one_timed_run_is_called_wrong_and_ranks_behind_right_ones():
    from lockstep import studies

    table = studies.table("sssp")

    class Racy(table["dijkstra"].plan):
        ran = 0

        def run(self):
            result = super().run()
            Racy.ran += 1
            if Racy.ran == 2:  # the first is right, the last ones are
                result.distances[-1] += 1
            return result

    problem = studies.problem("sssp").of(nx.path_graph(50), source=0)
    line = runs.measure(dataclasses.replace(table["dijkstra"], plan=Racy, exact=False), problem, None, 3, 60.0)
    assert line["verified"] == "measured-wrong" and Racy.ran == 4
    right = {"ms": 1e9, "verified": "exact"}
    found = compare._ranked(table, {"dijkstra": line, "chaotic": right}, package="sssp", executor="cuda", graph="g")
    assert list(found["strategy"]) == ["chaotic", "dijkstra"] and found["times the fastest"].iloc[0] == 1


def test_what_takes_too_long_or_fails_is_said_and_the_others_go_on():
    graph = generators.rmat(15, 500_000, directed=False)
    found = compare.compare("coloring", graph, ["greedy", "randomized", "igraph"], "host", rounds=1, seconds=0.8)
    notes = dict(zip(found["strategy"], found["note"], strict=True))
    assert notes["randomized"] == "not done after 0.8 s"
    assert notes["greedy"] == "" and found["strategy"].iloc[-1] == "randomized"
    assert "not done" in compare.told(found)


def test_all_strategies_are_the_default():
    from lockstep.coloring import STRATEGIES

    found = compare.compare("coloring", Graph.from_edges([0, 1], [1, 2], directed=False), executor="host", rounds=1)
    assert set(found["strategy"]) == set(STRATEGIES) - {"auto"}


def test_errors_name_what_is_there():
    graph = load("karate")
    with pytest.raises(ValueError, match="no study 'sort'; choose one of .*toposort"):
        compare.compare("sort", graph)
    with pytest.raises(ValueError, match="no strategy 'bogo'; choose one of greedy"):
        compare.compare("coloring", graph, ["bogo"])
    with pytest.raises(ValueError, match="coloring has no option source"):
        compare.compare("coloring", graph, source=1)
    for wrong in ({"rounds": 0}, {"seconds": 0.0}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match="one round at least"):
            compare.compare("coloring", graph, **wrong)
    with pytest.raises(GraphError, match="no vertex 99"):
        compare.compare("sssp", graph, source=99)
    with pytest.raises(GraphError, match="undirected"):
        compare.compare("toposort", graph)
    with pytest.raises(GraphError, match="no vertices"):
        compare.compare("coloring", Graph.from_edges([], []))
    with pytest.raises(GraphError, match="no graph"):
        compare.compare("swarm", [])
    with pytest.raises(ValueError, match="no measure 'x'; choose one of betweenness"):
        compare.compare("swarm", [graph], measure="x")
    if not gpu_available():
        from lockstep.machine import NoGpuError

        with pytest.raises(NoGpuError):
            compare.compare("coloring", graph, executor="cuda")


def test_the_command_line_prints_and_draws(capsys, tmp_path):
    file, plot, table = tmp_path / "graph.txt", tmp_path / "made" / "ranking.svg", tmp_path / "ranking.csv"
    np.savetxt(file, np.column_stack(generators.layered(60, 6).edges()), fmt="%d", header="Directed graph")
    words = ["compare", "toposort", file, "--strategies", "serial,narrow", "--executor", "host", "--plot", plot]
    assert cli.main([str(word) for word in (*words, "--output", table)]) == 0
    out, err = capsys.readouterr()
    assert "serial" in out and "narrow" in out and "serial: " in err
    assert "</svg>" in plot.read_text()
    assert table.read_text().startswith("strategy,family,ms")
    assert cli.main(["compare", "toposort", str(file), "--plot", "x.gif"]) == 2
    assert "ends in .svg" in capsys.readouterr().err
    file.write_text("0 1\n1 0\n")
    assert cli.main(["compare", "toposort", str(file)]) == 1, "a cycle is an answer, as for sort"
    assert "has a cycle" in capsys.readouterr().err


def test_a_batch_from_a_file(capsys, tmp_path):
    folder = tmp_path / "batch"
    folder.mkdir()
    for k in (4, 5):
        (folder / f"{k}.txt").write_text("".join(f"{a} {a + 1}\n" for a in range(k)))
    words = ["--strategies", "cpu,swarm", "--executor", "host", "--measure", "closeness"]
    assert cli.main(["compare", "swarm", str(folder), *words]) == 0
    assert "swarm" in capsys.readouterr().out
    assert cli.main(["advise", "--batch", str(folder)]) == 0
    assert "graphs        2" in capsys.readouterr().out


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_available(), reason="no GPU")
def test_on_a_gpu_all_are_timed():
    found = compare.compare("toposort", generators.layered(10_000, 50), ["serial", "narrow", "persistent"])
    assert found["ms"].notna().all() and "without transfers" in compare.told(found)
