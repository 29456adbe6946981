"""The table of times of the backend and of NetworkX."""

import networkx as nx

from lockstep.networkx_backend.times import FAMILIES, Variants, measure

DIRECTED = "random, directed"


def families(*names):
    return {name: FAMILIES[name] for name in names}


def test_each_function_is_timed_on_each_family_and_size_by_both():
    told = []
    names = ("topological_sort", "connected_components", "closeness_centrality")
    times = measure((20, 60), families("star", DIRECTED), names, rounds=1, progress=told.append)
    assert list(times) == ["machine", "gpu", "function", "family", "nodes", "arcs", "lockstep_ms", "networkx_ms"]
    measured = set(times[["function", "family", "nodes"]].itertuples(index=False, name=None))
    sizes = {("star", 20), ("star", 60), (DIRECTED, 20), (DIRECTED, 60)}
    wanted = {(name, *one) for name in names for one in sizes}
    assert measured == wanted - {("connected_components", DIRECTED, n) for n in (20, 60)}, "it takes no directed graph"
    assert (times[["lockstep_ms", "networkx_ms"]] > 0).all(axis=None)
    assert len(told) == 4 and told[0].startswith("star, 20 nodes: 3 functions in ")


def test_larger_graphs_are_left_out_once_networkx_takes_longer_than_the_limit():
    times = measure((20, 60), families("path"), ("topological_sort",), limit=0, rounds=1, progress=len)
    assert times["nodes"].tolist() == [20]


def test_every_function_gets_a_graph_in_its_direction():
    for name, make in FAMILIES.items():
        variants = Variants(make(60))
        assert nx.is_directed_acyclic_graph(variants.of("topological_sort")), name
        assert variants.of("strongly_connected_components").is_directed()
        assert variants.of("closeness_centrality") is variants.graph
        assert (variants.of("greedy_color") is None) == variants.graph.is_directed()
