"""`should_run` follows trees that are fitted to recorded times, and what they lose on families left out is told."""

import subprocess
import sys
import time

import networkx as nx
import pandas as pd
import pytest

from lockstep import paths
from lockstep.choose.tree import Leaf, Question
from lockstep.networkx_backend import SERVED, choice, fitted, functions


def planted(name="pagerank", threshold=1_000, families="abcd"):
    """Times of a backend that is ten times faster above so many nodes with a GPU, ten times slower elsewhere."""
    rows = []
    for gpu in (0, 1):
        for family in families:
            for nodes in (20, 60, 200, 600, 2_000, 6_000, 20_000):
                own = 0.1 if gpu and nodes > threshold else 10
                rows.append({"machine": f"m{gpu}", "gpu": gpu, "function": name, "family": family, "nodes": nodes,
                             "arcs": 4 * nodes, "lockstep_ms": own, "networkx_ms": 1.0})  # fmt: skip
    return pd.DataFrame(rows)


def test_a_threshold_that_holds_with_a_gpu_alone_is_found_and_told():
    fits = {"pagerank": fitted.fit(fitted.observations(planted(), "pagerank"))}
    told = fitted.choices(fits, (0, 1)).set_index("GPU")
    assert told.loc["no", "lockstep for"] == "never"
    assert told.loc["yes", "lockstep for"] in ("more than 1,000 nodes", "more than 4,000 arcs")
    assert (told["mean"] == 1).all() and (told["right"] == told["graphs"]).all() and (told["graphs"] == 28).all()
    assert told.loc["no", "always"] == pytest.approx(10) and told.loc["no", "never"] == 1


def test_regret_is_that_of_a_family_left_out():
    """On one family the backend is slower everywhere: without it the tree cannot know."""
    times = planted()
    times.loc[times["family"] == "d", "lockstep_ms"] = 10
    told = fitted.choices({"pagerank": fitted.fit(fitted.observations(times, "pagerank"))}, (1,)).iloc[0]
    assert told["worst"] == pytest.approx(10) and told["worst graph"].startswith("d, ")
    assert told["right"] == 25


def test_a_tree_for_one_machine_asks_for_no_gpu():
    own = Question("nodes", 9, Question("gpu", 0.5, Leaf("networkx", ()), Leaf("lockstep", ())), Leaf("lockstep", ()))
    assert choice.restricted(own, gpu=1) == Leaf("lockstep", ())
    assert choice.restricted(own, gpu=0) == Question("nodes", 9, Leaf("networkx", ()), Leaf("lockstep", ()))
    assert fitted.where(own, 1) == "always" and fitted.where(own, 0) == "more than 9 nodes"


def test_the_shipped_trees_and_the_tables_of_the_site_are_those_of_the_shipped_times(tmp_path):
    made = fitted.write(folder=tmp_path, file=tmp_path / "rules.json")
    kept = [choice.FILE, *(paths.ROOT / "docs" / "use" / name for name in fitted.TABLES)]
    for new, old in zip(made, kept, strict=True):
        assert new.read_text(encoding="utf-8") == old.read_text(encoding="utf-8"), "renew it with: make rules"
    assert set(choice.rules()) == set(SERVED)


def test_a_call_is_weighed_by_the_tree_and_a_conversion_is_kept(monkeypatch):
    tree = Question("nodes", 100, Leaf("networkx", ()), Leaf("lockstep", ()))
    monkeypatch.setattr(choice, "rule", lambda name: tree)
    small, large = nx.path_graph(50), nx.path_graph(3000)
    refused = functions.should_run("closeness_centrality", (small,), {})
    assert refused == "NetworkX is expected to be faster than with a conversion: at most 100 nodes"
    assert functions.should_run("closeness_centrality", (large,), {}) is True
    nx.number_connected_components(small, backend="lockstep")
    assert functions.should_run("closeness_centrality", (small,), {}) is True, "it is converted already"
    monkeypatch.setattr(choice, "rule", lambda name: Leaf("networkx", ()))
    assert functions.should_run("triangles", (small,), {}) is not True, "a conversion is not what costs most there"
    monkeypatch.setattr(choice, "rule", lambda name: tree)
    small.add_edge(0, 7)
    assert functions.should_run("closeness_centrality", (small,), {}) == refused, "NetworkX dropped the conversion"


@pytest.mark.parametrize("graph", [nx.Graph(), nx.MultiDiGraph([(0, 0), (0, 0)]), nx.star_graph(3000)])
def test_the_shipped_trees_answer_for_any_graph(graph):
    for name in SERVED:
        arguments = (graph, 0) if name.startswith("single_source") else (graph,)
        found = functions.should_run(name, arguments, {})
        assert found is True or found.startswith("NetworkX is expected to be faster"), name


def test_weighing_a_call_takes_microseconds():
    graph = nx.path_graph(1000)
    functions.should_run("pagerank", (graph,), {})  # reads the trees
    spent = []
    for _ in range(10):
        begin = time.perf_counter()
        for name in SERVED:
            choice.faster(name, graph)
        spent.append(time.perf_counter() - begin)
    assert min(spent) / len(SERVED) < 1e-3


def test_networkx_discovers_the_backend_without_loading_it():
    code = "import sys, lockstep.networkx_backend as b; b.info(); print({'numpy', 'networkx'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "set()\n"
