"""CUDA driver calls from compiled code: clear, launch, read back and synchronize, as in a C program.

`pointer` and `call` are inlined into their callers, and Numba's cache does not track changes of this file: after a
change of their semantics, the files that import them must change too.
"""

import ctypes
import functools

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

FUNCTIONS = ("cuLaunchKernel", "cuMemsetD32Async", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize")
# A job is an int64 array: these functions' addresses, then their arguments.
STREAM, CLEAR, CLEARED, READ, HOST, BYTES, COUNT, FIRST = range(len(FUNCTIONS), len(FUNCTIONS) + 8)
WORDS = 9  # of a launch, from FIRST on: the driver's function, grid, block, shared memory, where its arguments lie


@intrinsic
def pointer(typing, address):
    """An int64 address as a void pointer, as `carray` takes it."""

    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


@intrinsic
def call(typing, address, arguments):
    """Call the C function at an address with a tuple of int64; the upper half of an int32 result is undefined.

    A 4-byte parameter takes an argument's lower half, by the calling conventions of 64-bit Linux.
    """
    eight = ir.IntType(64)

    def code(context, builder, signature, values):
        function = ir.FunctionType(eight, [eight] * signature.args[1].count).as_pointer()
        given = cgutils.unpack_tuple(builder, values[1], signature.args[1].count)
        return builder.call(builder.inttoptr(values[0], function), given)

    return types.int64(types.int64, arguments), code


@functools.cache
def functions():
    """The addresses of `FUNCTIONS`."""
    driver = ctypes.CDLL("libcuda.so.1")
    return [ctypes.cast(getattr(driver, name), ctypes.c_void_p).value for name in FUNCTIONS]


@njit("int64(int64)", cache=True, nogil=True)
def go(address):
    """Set words to zero, launch, copy words to the host and wait for them.

    Parameters
    ----------
    address : int
        Of a job.

    Returns
    -------
    int
        0, or the driver's error.
    """
    head = carray(pointer(address), FIRST, np.int64)
    stream, none = head[STREAM], np.int64(0)
    if head[CLEARED]:
        error = call(head[1], (head[CLEAR], none, head[CLEARED], stream)) & 0xFFFFFFFF
        if error:
            return error
    launches = carray(pointer(address + 8 * FIRST), (head[COUNT], WORDS), np.int64)
    for k in range(head[COUNT]):
        w = launches[k]
        error = call(head[0], (w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], stream, w[8], none)) & 0xFFFFFFFF
        if error:
            return error
    error = call(head[2], (head[HOST], head[READ], head[BYTES], stream)) & 0xFFFFFFFF
    if error:
        return error
    return call(head[3], (stream,)) & 0xFFFFFFFF
