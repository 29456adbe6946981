"""README's "Add to it", followed step by step: a machine, a graph, a strategy, a claim."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from lockstep import paths
from lockstep.evidence import claims
from lockstep.graphs import Graph, GraphError, datasets, load
from lockstep.graphs.canonical import degree_digest, edge_count
from lockstep.graphs.generators import random_dag
from lockstep.toposort import STRATEGIES, CycleError, Strategy, topological_sort, verify
from lockstep.toposort.strategies.shared import DevicePlan
from lockstep.workflow import readme
from lockstep.workflow.publish import publish

RECORDED = next((file.parent for file in sorted(paths.RECORDINGS.glob("nvidia-h200-*/0-machine.csv"))), None)


@pytest.mark.skipif(RECORDED is None, reason="no machine is recorded")
def test_a_machine_is_published_and_stands_beside_the_others(tmp_path):
    results, recordings = tmp_path / "results", tmp_path / "recordings"
    shutil.copytree(RECORDED, recordings / RECORDED.name)
    # what `make` leaves on another machine: its rows and what it is
    facts = json.loads((RECORDED / "machine.json").read_text()) | {"name": "another-gpu-01234567", "gpu": "Another GPU"}
    facts["runs"] = [run | {"commit": "abc"} for run in facts["runs"][:2]]
    (results / facts["name"]).mkdir(parents=True)
    (results / facts["name"] / "machine.json").write_text(json.dumps(facts))
    shutil.copy(RECORDED / "0-machine.csv", results / facts["name"])
    written = publish(results, recordings, tmp_path, facts["name"])
    assert recordings / facts["name"] / "0-machine.csv" in written
    found = claims.summary(recordings=recordings, results=results)
    assert f"{facts['name']}: " in found.text and f"{RECORDED.name}: " in found.text
    head = readme.verdicts(found, recordings).splitlines()[0]
    assert "Another GPU" in head and "NVIDIA H200" in head
    # the same name on another machine is refused, and nothing is overwritten
    (results / facts["name"] / "machine.json").write_text(json.dumps(facts | {"cores": 1}))
    with pytest.raises(ValueError, match="recording of another machine"):
        publish(results, recordings, tmp_path, facts["name"])


def test_a_graph_is_registered_by_a_line(tmp_path, monkeypatch):
    table = pd.read_csv(paths.DATA / "datasets.csv", dtype=str, keep_default_na=False)
    mine = tmp_path / "my-graph.txt"
    mine.write_text("# my graph\n" + "".join(f"{k} {(7 * k + 1) % 50}\n" for k in range(50)))
    line = dict.fromkeys(table.columns, "") | {
        "name": "my-graph", "kind": "graph", "url": "https://example.org/my-graph.txt", "directed": "yes",
        "loops": "keep", "parallel": "keep", "isolated": "keep", "weights": "no", "n": "50", "m": "50",
        "licence": "mine", "source": "me",
    }  # fmt: skip
    registered = tmp_path / "datasets.csv"
    monkeypatch.setenv("LOCKSTEP_DATASETS", str(registered))
    monkeypatch.setenv("LOCKSTEP_MIRROR", str(tmp_path))
    monkeypatch.setenv("LOCKSTEP_OFFLINE", "1")

    def register(**values):
        pd.concat([table, pd.DataFrame([line | values])]).to_csv(registered, index=False)

    register()
    graph = load("my-graph")
    assert (graph.n, graph.m) == (50, 50)
    assert "my-graph" in set(datasets()["name"])
    register(digest=degree_digest(graph), m=str(edge_count(graph)))
    assert load("my-graph").m == 50
    register(digest="0" * 64)
    with pytest.raises(GraphError, match="my-graph"):
        load("my-graph")


KERNEL = """// The recipe's kernel: Kahn's algorithm by one thread.
#include "device.cuh"

extern "C" __global__ void one_thread(const int* offsets, const int* targets, int* left, int* order,
                                      int* levels, int n) {
    if (global_thread() != 0) return;
    int count = 0, layers = 0;
    for (int v = 0; v < n; ++v)
        if (left[v] == 0) order[count++] = v;
    for (int begin = 0; begin < count;) {
        const int end = count;
        for (int i = begin; i < end; ++i)
            for (int k = offsets[order[i]]; k < offsets[order[i] + 1]; ++k)
                if (--left[targets[k]] == 0) order[count++] = targets[k];
        levels[2 + layers++] = end - begin;
        begin = end;
    }
    levels[0] = layers;
    levels[1] = count;
}
"""


class OneThread(DevicePlan):
    """The recipe's plan: it loads the kernel, binds its launch, and runs it."""

    name = "one-thread"

    def load(self):
        kernel = self.executor.load(self.file)["one_thread"]
        arguments = (self.offsets, self.targets, self.left, self.order, self.levels, np.int32(self.graph.n))
        self.launch = kernel.bind(1, 32, arguments)

    def run(self):
        self.launch()
        return self.result(lambda: tuple(self.executor.get(self.levels[:2]).tolist()), self.levels[2:])


def test_a_strategy_is_entered_and_held_against_the_oracle(tmp_path, monkeypatch):
    file = tmp_path / "one_thread.cu"
    file.write_text(KERNEL)
    monkeypatch.setattr(OneThread, "file", file, raising=False)
    entry = Strategy("one-thread", "Kahn by one thread of the GPU", "ladder", "this recipe", OneThread)
    monkeypatch.setitem(STRATEGIES, entry.name, entry)
    for seed in range(3):
        graph = random_dag(300, 900, seed=seed)
        result = topological_sort(graph, strategy=entry.name, executor="host")
        assert verify(result, graph) == "exact" and result.strategy == entry.name
        assert result.depth == topological_sort(graph, strategy="serial").depth
    with pytest.raises(CycleError):
        topological_sort(Graph.from_edges([0, 1], [1, 0]), strategy=entry.name, executor="host")


@pytest.mark.skipif(RECORDED is None, reason="no machine is recorded")
def test_a_claim_is_entered_and_judged(tmp_path):
    ledger = yaml.safe_load((paths.PAPER / "claims.yaml").read_text())
    ledger["claims"] = [{
        "id": "D99",
        "statement": "A sort with the host in the loop loses against one without, on a chain of a million",
        "published": 2,
        "unit": "x",
        "relation": "above",
        "select": {
            "experiment": "table-4.3",
            "parameters": {"family": "disjoint-paths", "depth": 10000},
            "numerator": {"strategy": "naive"},
            "denominator": {"strategy": "graph"},
        },
    }]  # fmt: skip
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump(ledger))
    judged = claims.summary(file, recordings=paths.RECORDINGS, results=paths.RECORDINGS).verdicts
    judged = judged[judged["machine"] == RECORDED.name]
    assert judged[["part", "verdict"]].values.tolist() == [["D99", "holds"]]
    ledger["claims"][0]["relation"] = "better than"
    file.write_text(yaml.safe_dump(ledger))
    with pytest.raises(claims.ClaimsError, match="D99: the relation 'better than' is none of"):
        claims.load(file)
