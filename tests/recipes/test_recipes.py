"""README's "Add to it", followed step by step: a machine, a graph, a strategy, an experiment, a claim."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from lockstep import coloring, paths, sgd, sssp, studies, swarm, toposort
from lockstep.evidence import Study, claims
from lockstep.graphs import Graph, GraphError, datasets, load
from lockstep.graphs.canonical import degree_digest, edge_count
from lockstep.graphs.generators import random_dag, rmat
from lockstep.machine import get_executor
from lockstep.plan import Strategy
from lockstep.provenance import build
from lockstep.solving import solve
from lockstep.swarm import Values
from lockstep.swarm.strategies.shared import Method
from lockstep.toposort import STRATEGIES, CycleError, experiments, topological_sort
from lockstep.workflow import plan, readme
from lockstep.workflow.publish import publish

RECORDED = next((file.parent for file in sorted(paths.RECORDINGS.glob("nvidia-h200-*/0-machine.csv"))), None)


@pytest.mark.skipif(RECORDED is None, reason="no machine is recorded")
def test_a_machine_is_published_and_stands_beside_the_others(tmp_path):
    results, recordings = tmp_path / "results", tmp_path / "recordings"
    (recordings / RECORDED.name).mkdir(parents=True)
    for name in ("machine.json", "0-machine.csv", "4-coloring-phase-switch.csv"):
        shutil.copy(RECORDED / name, recordings / RECORDED.name)
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


# A strategy of each study by one thread of the GPU: its kernel, its plan, its entry.
KERNELS = {
    "toposort": """// Kahn's algorithm.
#include "device.cuh"

extern "C" __global__ void one_thread(const int* offsets, const int* targets, int* left, int* order, int* levels,
                                      int n) {
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
""",
    "sssp": """// Bellman and Ford's algorithm.
#include "device.cuh"

extern "C" __global__ void one_thread(const int* offsets, const unsigned* arcs, unsigned* dist, int n, int source) {
    if (global_thread() != 0) return;
    for (int v = 0; v < n; ++v) dist[v] = 2147483647u;
    dist[source] = 0;
    for (bool more = true; more;) {
        more = false;
        for (int v = 0; v < n; ++v)
            for (int k = offsets[v]; k < offsets[v + 1]; ++k)
                if (dist[v] != 2147483647u && dist[v] + arcs[2 * k + 1] < dist[arcs[2 * k]]) {
                    dist[arcs[2 * k]] = dist[v] + arcs[2 * k + 1];
                    more = true;
                }
    }
}
""",
    "coloring": """// First fit.
#include "device.cuh"

extern "C" __global__ void one_thread(const int* offsets, const int* targets, int* colors, int n) {
    if (global_thread() != 0) return;
    for (int v = 0; v < n; ++v) colors[v] = -1;
    for (int v = 0; v < n; ++v)
        for (int color = 0; colors[v] < 0; ++color) {
            bool taken = false;
            for (int k = offsets[v]; k < offsets[v + 1]; ++k) taken |= colors[targets[k]] == color;
            if (!taken) colors[v] = color;
        }
}
""",
    "sgd": """// A sweep in the order of the ratings.
#include "device.cuh"

extern "C" __global__ void one_thread(const int* users, const int* items, const float* values, float* user_vectors,
                                      float* item_vectors, float rate, float decay, unsigned long long* applied,
                                      int count) {
    if (global_thread() != 0) return;
    for (int e = 0; e < count; ++e) {
        float *u = user_vectors + (long)users[e] * K, *i = item_vectors + (long)items[e] * K, gain = values[e];
        for (int k = 0; k < K; ++k) gain -= u[k] * i[k];
        for (int k = 0; k < K; ++k) {
            const float before = u[k];
            u[k] = decay * u[k] + rate * gain * i[k];
            i[k] = decay * i[k] + rate * gain * before;
        }
        applied[0] += 1;
        applied[1] += ((unsigned)e ^ ((unsigned)e >> 15)) * 0x9E3779B1u;
    }
}
""",
    "swarm": """// The smallest label of a vertex's neighbors, again and again: connected components.
#include "device.cuh"

extern "C" __global__ void one_thread(const long* vertex_start, const long* arc_start, const int* offsets,
                                      const unsigned short* targets, int graphs, int* labels) {
    if (global_thread() != 0) return;
    for (int g = 0; g < graphs; ++g) {
        const int n = (int)(vertex_start[g + 1] - vertex_start[g]);
        const int* rows = offsets + vertex_start[g] + g;
        const unsigned short* ends = targets + arc_start[g];
        int* mine = labels + vertex_start[g];
        for (int v = 0; v < n; ++v) mine[v] = v;
        for (bool more = true; more;) {
            more = false;
            for (int v = 0; v < n; ++v)
                for (int k = rows[v]; k < rows[v + 1]; ++k)
                    if (mine[ends[k]] < mine[v]) {
                        mine[v] = mine[ends[k]];
                        more = true;
                    }
        }
    }
}
""",
}


class Sorted(toposort.strategies.shared.DevicePlan):
    def load(self):
        self.launch = self.executor.load(self.file)["one_thread"].bind(
            1,
            32,
            offsets=self.offsets,
            targets=self.targets,
            left=self.left,
            order=self.order,
            levels=self.levels,
            n=np.int32(self.graph.n),
        )

    def run(self):
        self.launch()
        return self.result(lambda: tuple(self.executor.get(self.levels[:2]).tolist()), self.levels[2:])


class Reached(sssp.strategies.shared.DevicePlan):
    def run(self):
        source = np.int32(self.problem.source)
        self.kernels()["one_thread"](
            1, 32, offsets=self.offsets, arcs=self.arcs, dist=self.dist, n=self.n, source=source
        )
        return self.result(self.raw())


class Colored(coloring.strategies.shared.DevicePlan):
    def run(self):
        n = np.int32(self.graph.n)
        self.kernels["one_thread"](1, 32, offsets=self.offsets, targets=self.targets, colors=self.colors, n=n)
        return self.colored([self.graph.n])


class Swept(sgd.strategies.shared.DevicePlan):
    def load(self):
        self.place(*self.bring())
        self.sweep = self.executor.load(self.file, {"K": self.problem.width})["one_thread"]

    def run(self):
        self.begin()
        edges = dict(users=self.users, items=self.items, values=self.values)
        self.sweep(1, 32, **edges, **self.state, applied=self.applied, count=np.int32(self.problem.ratings.m))
        return self


class Labelled(swarm.strategies.shared.DeviceTask):
    file = None

    def __init__(self, method, pack):
        super().__init__(method, pack)
        self.out = self.words(self.total, np.int32)
        self.launch(
            self.executor.load(self.file)["one_thread"],
            1,
            32,
            vertex_start=pack.vertex_start,
            arc_start=pack.arc_start,
            offsets=pack.offsets,
            targets=self.arcs(),
            graphs=np.int32(self.graphs),
            labels=self.out,
        )

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, None)


PLANS = {"toposort": Sorted, "sssp": Reached, "coloring": Colored, "sgd": Swept}


def plan_class(package, file):
    """What the new file of a strategy would hold."""
    if package == "swarm":
        task = type("Labelled", (Labelled,), {"file": file})
        method = type("OneThread", (Method,), {"name": "one-thread", "tasks": {"components": task}})
        return swarm.strategies.table.planned(method)
    return type("OneThread", (PLANS[package],), {"file": file, "name": "one-thread"})


@pytest.mark.parametrize("package", ["sgd", "swarm"])
def test_a_strategy_whose_result_is_no_graph_s_is_entered_too(package, tmp_path, monkeypatch):
    file, table, kind = tmp_path / "one_thread.cu", studies.table(package), studies.problem(package)
    file.write_text(KERNELS[package])
    family = type(table["serial" if package == "sgd" else "cpu"])
    entry = family("one-thread", "one thread of the GPU", "ladder", "this recipe", plan_class(package, file))
    monkeypatch.setitem(table, entry.name, entry)
    graphs = [rmat(5, 30, seed=seed, directed=False, simple=True) for seed in range(3)]
    given, settings = (load("karate"), {}) if package == "sgd" else (graphs, {"measure": "components"})
    plan = table.find("one-thread").plan_for(kind.of(given, **settings), get_executor("host"))
    for _ in range(2):
        plan.reset()
        assert plan.verify(plan.run()) in ("exact", "invariant")


@pytest.mark.parametrize("package", ["toposort", "sssp", "coloring"])
def test_a_strategy_is_entered_and_held_against_the_oracle(package, tmp_path, monkeypatch):
    file, table = tmp_path / "one_thread.cu", studies.table(package)
    file.write_text(KERNELS[package])
    entry = Strategy("one-thread", "one thread of the GPU", "ladder", "this recipe", plan_class(package, file))
    monkeypatch.setitem(table, entry.name, entry)
    for seed in range(3):
        graph = random_dag(120, 400, seed=seed)
        problem = studies.problem(package).of(graph)
        result = solve(table, entry.name, problem, "host")
        assert problem.check(result, entry) in ("exact", "invariant") and result.strategy == entry.name
        assert result.stats["launches"] >= 1


def test_a_sort_by_a_strategy_that_was_entered_says_where_a_cycle_is(tmp_path, monkeypatch):
    file = tmp_path / "one_thread.cu"
    file.write_text(KERNELS["toposort"])
    entry = Strategy("one-thread", "Kahn by one thread of the GPU", "ladder", "this recipe",
                     type("OneThread", (Sorted,), {"file": file, "name": "one-thread"}))  # fmt: skip
    monkeypatch.setitem(STRATEGIES, entry.name, entry)
    with pytest.raises(CycleError):
        topological_sort(Graph.from_edges([0, 1], [1, 0]), strategy=entry.name, executor="host")


def test_an_experiment_is_a_function_and_its_cells(tmp_path, monkeypatch):
    def readbacks(study, part, cell, executor, *, seeds=1):
        """How often each strategy reads back, on random graphs of a size."""
        for seed in range(seeds):
            problem, dataset = toposort.Problem.of(random_dag(**cell.sizes, seed=seed)), f"random-dag-{seed}"
            for name in cell.strategies:
                stats = solve(STRATEGIES, name, problem, executor).stats
                values, kernel = {"readbacks": (stats["readbacks"], "1")}, build(study.name, name, dataset)
                study.count(part, cell.experiment, dataset, name, values, kernel=kernel)
        yield f"{cell.experiment}: {seeds} graphs"

    monkeypatch.setitem(experiments.KINDS, "readbacks", readbacks)
    cell = {"kind": "readbacks", "graphs": {"random": {"n": 40, "m": [60, 120]}}, "strategies": ["naive", "persistent"]}
    file, parts = tmp_path / "mine.yaml", {"mine": {"seconds": 1, "seeds": 2, "cells": [cell]}}
    file.write_text(yaml.safe_dump({"studies": {experiments.STUDY: {"parts": parts}}}))
    plan.load(file)  # against config/schema.yaml
    study = Study(experiments.STUDY, "mine", get_executor("host"), config=file, results=tmp_path, machine={"name": "x"})
    assert experiments.measure(study, "mine", study.executor, lambda line: None) == []
    rows = study.rows()
    assert set(rows["dataset"]) == {"random-dag-0", "random-dag-1"} and set(rows["experiment"]) == {"readbacks"}
    few, many = (rows[rows["strategy"] == name]["value"] for name in ("persistent", "naive"))
    assert few.max() < many.min()


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
