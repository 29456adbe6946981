"""Atomic operations on NumPy arrays inside Numba's parallel loops, which Numba does not offer for CPUs.

`a[i] += 1` in a prange silently loses updates. Each function here is one LLVM atomicrmw. Non-negative
doubles compare like their bits as signed integers, so an integer minimum serves doubles.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _pointer(context, builder, signature, args):
    array_type, index_type = signature.args[:2]
    array = context.make_array(array_type)(context, builder, args[0])
    index = args[1] if index_type.bitwidth == 64 else builder.sext(args[1], ir.IntType(64))
    return cgutils.get_item_pointer(context, builder, array_type, array, [index], wraparound=False)


@intrinsic
def atomic_min(typing_context, array, index, value):
    """Lower array[index] to value (>= 0) if that is smaller; returns what was there before."""
    if not isinstance(array, types.Array) or array.ndim != 1:
        return None
    kind = array.dtype

    def generate(context, builder, signature, args):
        pointer, new = _pointer(context, builder, signature, args), args[2]
        if isinstance(kind, types.Float):
            word = ir.IntType(kind.bitwidth)
            pointer, new = builder.bitcast(pointer, word.as_pointer()), builder.bitcast(new, word)
        old = builder.atomic_rmw("min", pointer, new, "monotonic")
        return builder.bitcast(old, args[2].type) if isinstance(kind, types.Float) else old

    return kind(array, types.intp, kind), generate


@intrinsic
def atomic_add(typing_context, array, index, value):
    """Add to an integer array[index]; returns what was there before."""
    if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(array.dtype, types.Integer):
        return None

    def generate(context, builder, signature, args):
        return builder.atomic_rmw("add", _pointer(context, builder, signature, args), args[2], "monotonic")

    return array.dtype(array, types.intp, array.dtype), generate
