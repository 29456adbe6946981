"""Common code of `swarm`'s measures: the launches of the bins, their queues, and the final conversion of sums."""

import functools

import numpy as np

from .shared import DeviceTask

_int, _long = np.int32, np.int64
FORMS = ("networkx", "plain", "harmonic")
SIDE = 8  # streams that bins are launched on
HOLDS = {"rows": 2, "metadata": 1, "nothing": 0}  # what lies in shared memory (pack.cuh)


class Bins(DeviceTask):
    """What the measures share: the bins' launches and their queues."""

    def spread(self, *kinds):
        """Launch a kernel for every bin, side by side.

        Parameters
        ----------
        *kinds : tuple
            File, name of the kernel, bins, and ``arguments(scratch, stride, bin)``: what there is beside items, count,
            queue.
        """
        executor, chosen = self.executor, self.method.strategy_options
        kinds = [(file, name, list(bins), arguments) for file, name, bins, arguments in kinds]
        queues = self.words(sum(len(bins) for _, _, bins, _ in kinds), np.uint32)
        if chosen["persistent"]:
            self.zero(queues)
        launches, self.spreads = [], []
        for file, name, bins, arguments in kinds:
            for b in bins:
                kernel = self.module(file, **b.defines)[name]
                threads = min(b.threads, 64) if executor.name == "host" else b.threads
                self.spreads.append((kernel, threads, b))
                count = len(b.items)
                blocks = count
                if chosen["persistent"]:
                    blocks = max(1, min(count, kernel.max_blocks(threads, b.shared)))
                    if executor.name == "host":
                        blocks = min(blocks, 2 * executor.multiprocessors)
                if b.scratch:
                    most = max(1, int(chosen["memory"] // b.scratch))
                    if blocks > most and not chosen["persistent"]:
                        raise ValueError("persistent=False needs scratch memory for every block: leave persistent on")
                    blocks = min(blocks, most)
                scratch = self.words(b.scratch * blocks, np.uint8)
                i = len(launches)
                queue = queues[i : i + 1] if chosen["persistent"] else None
                launches.append(
                    kernel.bind(
                        blocks, threads, shared=b.shared, items=self.send(b.items), count=_int(count), queue=queue,
                        **arguments(scratch, _long(b.scratch), b),
                    )  # fmt: skip
                )
        self.launches += len(launches)
        self.steps += launches if len(launches) < 2 else [functools.partial(fan, self.method, launches)]

    def resident(self):
        """Resident warps per multiprocessor, averaged over the traversed arcs."""
        host, arcs, warps = self.pack.host, 0.0, 0.0
        for kernel, threads, b in self.spreads:
            graphs = np.unique(b.items[:, 0])
            visits = float((host.n[graphs].astype(np.int64) * host.m[graphs]).sum())
            arcs += visits
            warps += visits * kernel.max_blocks(threads, b.shared) / self.executor.multiprocessors * threads / 32
        return warps / arcs if arcs else 0.0


def fan(method, launches):
    """Launch bins concurrently: the last blocks of a bin overlap with the first of the next.

    Takes no task: a reference cycle through a task's steps would keep its device memory, possibly gigabytes of
    distances, until garbage collection.
    """
    if method.executor.name == "host":
        for launch in launches:
            launch()
        return
    cuda = method.executor.xp.cuda
    main = cuda.get_current_stream()
    start = cuda.Event(disable_timing=True)
    start.record(main)
    streams = method.streams(min(len(launches), SIDE))
    for i, launch in enumerate(launches):
        stream = streams[i % SIDE]
        if i < SIDE:
            stream.wait_event(start)
        with stream:
            launch()
    for stream in streams:
        end = cuda.Event(disable_timing=True)
        end.record(stream)
        main.wait_event(end)


def finish_fixed(task, fixed, out, checks):
    """The last launch of betweenness: fixed point to float64, each pair of an undirected graph once."""
    factor = np.float64(1.0 if task.pack.directed else 0.5)
    task.launch(
        task.module("finish.cu")["finish_fixed"], *task.warps(task.graphs), vertex_start=task.pack.vertex_start,
        graphs=_int(task.graphs), fixed=fixed, factor=factor, values=out, checksums=checks,
    )  # fmt: skip


def finish_closeness(task, total, parts, reach):
    """The last launch of closeness: sums of distances to values and checksums."""
    task.out, task.checks = task.words(task.total, np.float64), task.words(task.graphs, np.uint64)
    form, improved = FORMS.index(task.options["form"]), task.options["wf_improved"]
    task.launch(
        task.module("finish.cu")["finish_closeness"], *task.warps(task.graphs), vertex_start=task.pack.vertex_start,
        graphs=_int(task.graphs), total=total, reciprocal=parts, reach=reach, form=_int(form),
        improved=_int(improved), values=task.out, checksums=task.checks,
    )  # fmt: skip
