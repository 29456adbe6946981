"""The registered data sets: the table, those that are built in, and those of a mirror if there is one."""

import importlib
import os
import warnings
from importlib import metadata

import networkx as nx
import pytest

from lockstep.graphs import (
    DatasetMissing,
    Graph,
    acyclic,
    builtin,
    load,
    load_batch,
    load_coordinates,
    load_ratings,
)

registry = importlib.import_module("lockstep.graphs.registry")
TABLE = registry.registry().set_index("name", drop=False)
LOADERS = {"graph": load, "ratings": load_ratings, "batch": load_batch, "coordinates": load_coordinates}


def test_every_entry_is_whole():
    assert TABLE.index.is_unique and TABLE.index.str.lower().is_unique
    for _, entry in TABLE.iterrows():
        where = entry["name"]
        assert entry["kind"] in LOADERS, where
        assert entry["url"].startswith(("http", "builtin:")) or entry["how"], where  # downloaded, built in or explained
        assert entry["licence"] and entry["source"] and entry["study"] and entry["format"], where
        if entry["kind"] == "graph":
            assert entry["directed"] in ("yes", "no") and entry["weights"] in ("yes", "no"), where
            assert entry["loops"] in ("keep", "drop") and entry["isolated"] in ("keep", "drop"), where
            assert entry["parallel"] in ("keep", "merge"), where
        if where != "package-dependencies":
            assert entry["n"], where
            assert entry["digest"] or "n and m" in entry["how"] or entry["kind"] == "coordinates", where


@pytest.mark.parametrize("name", builtin.NETWORKX)
def test_built_in_graphs(name):
    graph = load(name)
    assert graph.m == Graph.from_networkx(builtin.NETWORKX[name]()).m


def test_package_dependencies_are_a_dag_of_this_environment():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = load("package-dependencies")
    assert nx.is_directed_acyclic_graph(graph.to_networkx())
    names = list(graph.labels)
    heads = {
        names[v] for v in graph.targets[graph.offsets[names.index("pandas")] : graph.offsets[names.index("pandas") + 1]]
    }
    assert "numpy" in heads


def test_cycles_of_packages_are_reported_and_broken(monkeypatch):
    class Fake:
        def __init__(self, name, *requires):
            self.metadata, self.requires = {"Name": name}, list(requires)

    found = [
        Fake("A", "b_x>=1", "missing", "c; extra == 'more'", "not a requirement!"),
        Fake("B.X", "a"),
        Fake("c", "A"),
    ]
    monkeypatch.setattr(metadata, "distributions", lambda: found)
    with pytest.warns(UserWarning, match=r"1 cycle\(s\) of packages that require each other \(a, b-x\)"):
        graph = builtin.package_dependencies()
    assert list(graph.labels) == ["a", "b-x", "c"]
    assert graph.to_networkx().edges == nx.DiGraph([(0, 1), (2, 0)]).edges


MIRROR = os.environ.get("LOCKSTEP_MIRROR")


@pytest.mark.skipif(not MIRROR, reason="LOCKSTEP_MIRROR names no mirror folder of the real data sets")
@pytest.mark.parametrize("name", [name for name, entry in TABLE.iterrows() if entry["mirror"]])
def test_every_graph_of_the_mirror_checks_out(name):
    entry = TABLE.loc[name]
    try:
        found = LOADERS[entry["kind"]](name, offline=True)
    except DatasetMissing as missing:
        pytest.skip(str(missing))
    if name.startswith("commit-dag"):
        assert acyclic(found).m == found.m  # no arc to turn
