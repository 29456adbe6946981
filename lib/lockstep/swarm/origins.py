"""Dependencies of study 5's recorded rows."""

import functools

from lockstep.batch import shards, sources, stream, upload
from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack
from lockstep.graphs import generators, read
from lockstep.plan import CHOICE
from lockstep.provenance.origin import CHOOSING, Origin
from lockstep.provenance.trace import band

from . import checksums, experiments, oracle
from .experiments import scaling, sums, synthetic
from .experiments.labels import STREAMED
from .problem import Case
from .strategies.engine import Engine
from .strategies.table import STRATEGIES

PROTOCOL = (Case.check, Case._references, Case.figures, experiments.candidate, scaling.candidate,
            sums.Sums, sums.Known.compute, checksums.distances, checksums.betweenness,
            *oracle.REFERENCES.values())  # fmt: skip
STREAM = (stream.Pipeline, upload.Slot, shards.read_shard)
TEXT, TEXTS = (sources.FilesPiece.load, read), ("loading-one-thread", "paper-text-one-loader", "paper-text-one-thread")


def origin(label, dataset):
    """The `Origin` of recorded rows; None if the label has none."""
    if label.startswith("(all three"):
        label = "gpus" if " on " in label else "paper-one-loader" if "paper" in label else "overlapped"
    made = {"benchmark": synthetic.million, "rmat": generators.rmat}.get(dataset.split("-")[0])
    how = {"data": (made,) if made else (), "left": (shards.write_shard, GraphBatch)}
    if label == "reading":
        return Origin((shards.Scan,), entry=("__call__",), **how)
    kind = label.split("@")[0]
    steps = (*STREAM, *TEXT) if kind in TEXTS else STREAM
    if kind.startswith("loading"):
        return Origin(steps, (Pack,), **how)
    if kind in STREAMED:  # piece after piece, while others are loaded and computed
        return Origin((STRATEGIES[_streamed(kind)].plan.method, *steps, Engine.prepare), (Pack,), **how)
    strategy, own = STRATEGIES.resolve(label)
    if strategy is None:
        return None
    if strategy.family == CHOICE:
        return Origin((strategy.plan, STRATEGIES["swarm"].plan.method), (Pack,), entry=(*CHOOSING, "prepare"), **how)
    return Origin((strategy.plan.method, *sorted(own.items())), (Pack,), **how)


def _streamed(kind):
    """The strategy of a way through a batch from disk."""
    return "paper" if kind.startswith("paper-") else "swarm"


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    kind = label.split("@")[0]
    strategy, own = STRATEGIES.resolve(_streamed(kind) if kind in STREAMED else label)

    def on(measure, pack, executor):
        engine = Engine(measure, executor if strategy.gpu else None, strategy.name, own)
        task = engine.prepare(pack)
        for _ in range(2):
            values = task.run().get()
        return [values.values, values.checksums]

    if strategy is None or label in ("reading", "igraph"):  # results not bitwise reproducible
        return []
    packs = [Pack.of([band(40, 3, both=True), band(5, 1, both=True), band(120, 2, hub=60, both=True)]),
             Pack.of([band(300, 4), band(33, 2)])]  # fmt: skip
    return [functools.partial(on, measure, pack) for measure in strategy.measures for pack in packs]
