"""Transfers from a file to the device: shards are read into page-locked memory and copied from it.

A copy from pageable memory is staged by the driver and synchronous. A slot has reusable page-locked host memory
and equally large device memory, and its own stream, so that its copies overlap with
computation.
"""

import ctypes

import numpy as np

from .pack import ARRAYS, Pack

ALIGN = 256


class Slot:
    """Room for one pack at a time, here and on the device.

    Parameters
    ----------
    executor : Executor
        The cuda executor.
    """

    def __init__(self, executor):
        self.cupy = executor.xp
        self.executor = executor
        self.cupy.cuda.Device(executor.device).use()  # per-thread setting
        self.stream = self.cupy.cuda.Stream(non_blocking=True)
        self.here = self.there = None
        self.filled = 0  # bytes here that a file was read into: names may lie between its arrays and behind them

    def memory(self, size):
        """Page-locked bytes for a file of ``size`` bytes and what belongs beside it."""
        if self.here is None or self.here.size < size:
            self.here = self.executor.pinned(size + size // 4 + 2**20, np.uint8)
        self.filled = size
        return self.here

    def upload(self, pack):
        """Copy a pack to the device; returns the device's pack when it is there.

        Other arrays than those in the slot's memory are staged in its free part or, if too large, copied from pageable
        memory.
        """
        arrays = {name: getattr(pack, name) for name in ARRAYS if getattr(pack, name) is not None}
        if self.here is None:
            self.memory(sum(array.nbytes + ALIGN for array in arrays.values()))
            self.filled = 0
        begin = self.here.ctypes.data
        inside = {k: begin <= a.ctypes.data < begin + self.here.size for k, a in arrays.items()}
        used, self.filled = self.filled, 0
        need = sum(-(-array.nbytes // ALIGN) * ALIGN for array in arrays.values()) + ALIGN
        if self.there is None or self.there.nbytes < need:
            self.there = self.cupy.empty(need + need // 4, np.uint8)
            self.cupy.cuda.get_current_stream().synchronize()
        place, copies, held = 0, {}, []  # what is copied from must live until the copy is done
        for name, array in arrays.items():
            source = np.ascontiguousarray(array)
            if not inside[name] and used + ALIGN + source.nbytes <= self.here.size:
                used = -(-used // ALIGN) * ALIGN
                staged = self.here[used : used + source.nbytes].view(source.dtype)
                staged[:] = source
                used, source = used + source.nbytes, staged
            pointer = self.there.data + place
            if source.nbytes:
                pointer.copy_from_host_async(ctypes.c_void_p(source.ctypes.data), source.nbytes, self.stream)
            held.append(source)
            copies[name] = self.cupy.ndarray(source.shape, source.dtype, pointer)
            place += -(-source.nbytes // ALIGN) * ALIGN
        self.stream.synchronize()
        return Pack(directed=pack.directed, names=pack.names, host=pack, **copies)
