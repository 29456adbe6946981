"""The fourth step of the ladder: the number of threads follows the width of the layer; see narrow.cu."""

import functools
from typing import NamedTuple

import numpy as np

from .persistent import Persistent
from .shared import BUFFER_SLOTS, HEAD, KERNELS

BINS, EXTRA_INTS = 512, 547  # of records.cuh: 3 + 512 bins + 32 rounds

_int = np.int32


class Code(NamedTuple):
    """Bit layout of a vertex code (records.cuh): bits of a counter, the number of counters, bits of an epoch, of an
    in-degree, and of a record's bytes.
    """

    bits: int
    slots: int
    epoch_bits: int
    degree_bits: int
    record_bits: int

    @property
    def words(self):
        return -(-self.slots * self.bits // 32)


class Narrow(Persistent):
    """See narrow.cu, and records.cuh for graphs that `rows_are_worth_records`.

    `stop` and `done` are flags in host memory: `stop` cancels the kernel, `done` reports completion.
    """

    name = "narrow"
    per_block = most_threads = 768  # with more, wide levels spill registers
    few_threads = 512
    stop = done = None
    # Work of block 0 that takes about the time of a level of subset or grid: arcs by rows; arcs and lanes by records.
    arcs_alone, arcs_counted, lanes_counted = 640, 2560, 2048
    worth_degree, sparse_degree = 1.5, 1.05  # arcs a vertex, see rows_are_worth_records
    counter_choices = 4, 8, 16  # bits of a counter in records.cuh
    list_words = 1020  # of a list there
    near = 195 * 1024  # bytes of a block's shared memory that leave L1 capacity for prefetched records
    least_narrow_levels, tail = 6, 4  # levels, and the factor of unplaced vertices (SingleBlockRule)

    def load(self):
        self.launch = self.bind_narrow(self.first, self.last, self.stop, self.done)

    def bind_narrow(self, first, last, stop, done):
        """The launch of the kernel on the graph with these rows."""
        ex, degree = self.executor, self.degree
        width = np.clip(self.arcs_alone / degree, 16, 512)  # fitted on an H200: vertices of a level of block 0
        # Of a ring; subset or grid process a larger frontier. Slightly above the block's widest level, else block 0
        # would keep levels that are all slightly too wide for it.
        capacity = int(np.clip(1.25 * width, 128, 1024))  # fitted on an H200: rows of a ring
        warp_width = np.clip(24 / degree, 1, 16)  # fitted on an H200: vertices of a level of one warp, of 32 lanes
        narrow_levels, tail = self.waits
        # Few arcs a level: a smaller block has the cheaper barrier. Very many: block 0 processes hardly any level.
        # Fitted on an H200: arcs a vertex between which a block has most_threads.
        threads = min(self.threads, self.most_threads if self.code or 4 <= degree < 16 else self.few_threads)
        rings, buffers = 2 * capacity * 16, 4 * BUFFER_SLOTS * (threads // 32)
        if self.code:
            hot_offset, bits, recorded = self.counters_offset, 0, self.recorded()
            defines = {"RECORDS": self.code.bits} | ({"CHUNK": self.chunk} if self.chunk != 16 else {})
            defines |= {"LIST": self.list_size} if self.list_size != Narrow.list_words else {}
            counters = hot_offset + self.code.words * 4
        else:
            hot_offset, recorded, defines = HEAD + -(-max(rings, buffers) // 16) * 16, [None] * 5 + [0] * 5, {}
            bits = self.counter_bits((8, 16), hot_offset)
            counters = hot_offset + self.counter_bytes(bits)
        # With records, too, the rings must fit: for levels after records are ruled out, and for numbering.cuh's counts.
        shared = max(counters, HEAD + max(rings, buffers, 2 * BINS * 4 if self.code else 0))
        defines = {"BITS": bits, "THREADS": threads, **defines}
        kernel = ex.load(KERNELS / "narrow.cu", defines)["narrow"]
        blocks = self.resident(kernel, shared, threads)
        records, codes, extra, number_of, vertex_of = recorded[:5]
        counted_width, slots, epoch_bits, degree_bits, record_bytes = map(_int, recorded[5:])
        return kernel.bind(
            blocks, threads, shared=shared, cooperative=True, first=first, last=last, targets=self.targets,
            in_degrees=self.left, order=self.order, queue=self.queue, roots=self.roots, levels=self.levels,
            rows=self.rows, control=self.control, level_counters=self.level_counters, barrier=self.barrier, stop=stop,
            done=done, n=_int(self.graph.n), m=_int(self.graph.m),
            subset_max_width=_int(max(self.subset_max_width, width)), subset=_int(min(self.subset, blocks)),
            max_held=_int(self.max_held), helpers=_int(self.helpers), width=_int(width), warp_width=_int(warp_width),
            capacity=_int(capacity), narrow_levels=_int(narrow_levels), tail=_int(tail), hot_offset=_int(hot_offset),
            records=records, codes=codes, extra=extra, number_of=number_of, vertex_of=vertex_of,
            counted_width=counted_width, slots=slots, epoch_bits=epoch_bits, degree_bits=degree_bits,
            record_bytes=record_bytes,
        )  # fmt: skip

    @functools.cached_property
    def rows(self):
        return self.executor.empty((max(self.graph.n, 1), 4), _int)

    @property
    def waits(self):
        """Narrow levels before block 0 takes over, and the least ratio of unplaced vertices to a level's, since the
        preparation takes the time of a few levels. On the emulator both are small: small graphs reach block 0.
        """
        if self.executor.name != "cuda":
            return 2, 0
        return np.clip(self.graph.n / 60_000, self.least_narrow_levels, 16), self.tail

    def counter_bits(self, choices, offset):
        """The first of these numbers of bits for which, after `offset` bytes, a counter for each vertex fits; or 0."""
        most, room = int(self.degrees_on_host.max(initial=0)), self.executor.max_shared - offset
        return next((bits for bits in choices if most < 2**bits and self.counter_bytes(bits) <= room), 0)

    def counter_bytes(self, bits):
        """Bytes of a counter for each vertex; the kernel copies four at once, and counters fill words of 4 bytes."""
        return -(-(-(-self.graph.n // 4) * bits) // 8) * 4

    @functools.cached_property
    def chunk(self):
        """Arcs of a chunk in records.cuh: the fewest with which few rows take more than one chunk. Idle lanes cost
        time, but a further chunk costs more.
        """
        lengths = np.diff(self.graph.offsets)
        few = [size for size in (4, 8) if 16 * np.count_nonzero(lengths > size) <= lengths.size]
        return next((size for size in few if self.longest <= 4 * size), 16)

    @property
    def list_size(self):
        """Words of a list; at least one for each group of lanes, since idle groups read the list, too."""
        return max(self.list_words, 2 * self.threads // self.chunk)

    @property
    def counters_offset(self):
        """Byte offset of the counters of records.cuh in shared memory."""
        return HEAD + 4 * (40 + 2 * self.list_size + self.most_threads)

    @property
    def rooms(self):
        """Bytes for counters: the maximum, and the limit where vertices share counters."""
        most = self.executor.max_shared
        return most - self.counters_offset, min(self.near, most) - self.counters_offset

    @functools.cached_property
    def code(self):
        """Bit layout of codes in records.cuh; None if records do not fit or are slower."""
        n, chunk = max(self.graph.n, 1), self.chunk
        record_bits = chunk.bit_length() + 1 + max(0, (-(-self.longest // chunk) - 1).bit_length())
        if self.longest > 4 * chunk or not self.rows_are_worth_records():
            return None
        degree_bits = int(self.degrees_on_host.max(initial=1)).bit_length()
        most, near = self.rooms
        for bits in self.counter_choices:
            slots, epochs = n, 1
            if n * bits > 8 * most:
                slots = near // 4 * 32 // bits
                epochs = -(-n // slots)
            epoch_bits = epochs.bit_length() if epochs > 1 else 0
            fits = epoch_bits + degree_bits <= bits and slots << epoch_bits + record_bits < 2**32
            if fits and (slots - 1).bit_length() + epoch_bits + degree_bits + 3 <= 32:
                return Code(bits, slots, epoch_bits, degree_bits, record_bits)
        return None

    def rows_are_worth_records(self):
        """Whether records pay. Rows of about one arc are faster with a lane for each row, and so are narrow frontiers:
        a graph with hardly more arcs than vertices has narrow frontiers if it has few sources.
        """
        sources = np.count_nonzero(self.degrees_on_host == 0)
        return self.degree >= self.worth_degree or (self.degree >= self.sparse_degree and sources >= self.graph.n / 16)

    def recorded(self):
        """The kernel's arguments for records."""
        ex, n, code = self.executor, max(self.graph.n, 1), self.code
        numbers = code.slots << code.epoch_bits
        records, codes = ex.empty(numbers << code.record_bits - 2, np.uint32), ex.empty(n, np.uint32)
        extra = ex.empty(EXTRA_INTS + code.words, _int)
        numbering = [ex.empty(n, _int), ex.empty(numbers, _int)] if code.epoch_bits else [None, None]
        width = np.clip(self.arcs_counted / self.degree, 16, self.lanes_counted // self.chunk * 2)
        sizes = min(width, self.list_size // 2), *code[1:4], 1 << code.record_bits
        return [records, codes, extra, *numbering, *sizes]
