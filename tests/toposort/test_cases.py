"""The graphs that cells name."""

import pytest

from lockstep.graphs import DatasetMissing, load
from lockstep.toposort import topological_sort
from lockstep.toposort.experiments.cases import FAMILIES
from lockstep.toposort.results.views import PUBLISHED


def test_an_undirected_graph_as_its_file_lists_it():
    graph = FAMILIES["as-listed"]("karate")[1]()
    sources, targets = graph.edges()
    assert graph.directed and graph.m == load("karate").m // 2 and (sources < targets).all()
    both = FAMILIES["made-acyclic"]("karate")[1]()
    assert both.m == graph.m and topological_sort(both).depth > topological_sort(graph).depth


def test_facebook_has_the_published_depth_as_its_file_lists_it():
    try:
        graph = FAMILIES["as-listed"]("ego-Facebook")[1]()
    except DatasetMissing as error:
        pytest.skip(str(error))
    published = PUBLISHED["table-4.4"]["ego-Facebook"][0]
    assert topological_sort(graph).depth - 1 == published
