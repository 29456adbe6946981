"""Operations on a row of arcs with many sources in the lanes of a vector, for the CPU.

The sum over a row's arcs stays in registers, which Numba's own loops over lanes do not achieve: these functions write
portable LLVM vector types. A change here invalidates no cache of Numba's functions that call them (`checksums`): delete
that file's `__pycache__`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORDS = 8  # of 64 sources each that a search takes at once
LANES = 32  # sources that Brandes takes at once
_I64 = ir.IntType(64)
_SETS = ir.VectorType(_I64, WORDS)
_REALS, _WHOLES = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(_I64, LANES)


def _rows(context, builder, kind, array, vector):
    """The data of an array of which each row is a vector."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, vector.as_pointer())


def _gathered(context, builder, rows, heads, begin, end, start, add):
    """``start`` and the rows that the heads of arcs ``begin`` to ``end - 1`` name, added up in a register."""
    kind, array = heads
    data = context.make_array(kind)(context, builder, array).data
    entry, loop = builder.block, builder.append_basic_block("arc")
    done = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", begin, end), loop, done)
    builder.position_at_end(loop)
    arc, total = builder.phi(_I64), builder.phi(start.type)
    head = builder.zext(builder.load(builder.gep(data, [arc])), _I64)
    after = add(total, builder.load(builder.gep(rows, [head]), align=8))
    following = builder.add(arc, _I64(1))
    for phi, first, next_ in ((arc, begin, following), (total, start, after)):
        phi.add_incoming(first, entry)
        phi.add_incoming(next_, loop)
    builder.cbranch(builder.icmp_signed("<", following, end), loop, done)
    builder.position_at_end(done)
    found = builder.phi(start.type)
    found.add_incoming(start, entry)
    found.add_incoming(after, loop)
    return found


@intrinsic
def reached(typing, now, heads, begin, end, full, following, fresh, v):
    """following[v]: sources that reach v, one arc further than in `now`; fresh[v]: the new ones. Returns whether any.

    Rows whose set is `full` are skipped.
    """

    def codegen(context, builder, signature, args):
        now, full, following, fresh = (_rows(context, builder, signature.args[i], args[i], _SETS) for i in (0, 4, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        bits = ir.IntType(64 * WORDS)
        before = builder.load(builder.gep(now, [v]), align=8)
        whole = builder.icmp_unsigned(
            "==", builder.bitcast(before, bits), builder.bitcast(builder.load(full, align=8), bits)
        )
        end = builder.select(whole, begin, end)
        after = _gathered(context, builder, now, heads, begin, end, before, builder.or_)
        new = builder.xor(after, before)
        builder.store(after, builder.gep(following, [v]), align=8)
        builder.store(new, builder.gep(fresh, [v]), align=8)
        return builder.icmp_unsigned("!=", builder.bitcast(new, bits), bits(0))

    return types.boolean(now, heads, types.int64, types.int64, full, following, fresh, types.int64), codegen


@intrinsic
def counted(typing, now, heads, begin, end, mask, following, sigma, v):
    """following[v], sigma[v]: shortest paths to v in the lanes of `mask`; following[v] is 0 in the others."""

    def codegen(context, builder, signature, args):
        now, following, sigma = (_rows(context, builder, signature.args[i], args[i], _REALS) for i in (0, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        zero = _REALS([0.0] * LANES)
        total = _gathered(context, builder, now, heads, begin, end, zero, builder.fadd)
        mask = builder.bitcast(args[4], ir.VectorType(ir.IntType(1), LANES))
        own = builder.gep(sigma, [v])
        builder.store(builder.select(mask, total, zero), builder.gep(following, [v]), align=8)
        builder.store(builder.select(mask, total, builder.load(own, align=8)), own, align=8)
        return context.get_dummy_value()

    arrays = (now, heads, types.int64, types.int64, types.uint32, following, sigma, types.int64)
    return types.void(*arrays), codegen


@intrinsic
def given(typing, now, heads, begin, end, mask, following, sigma, v, scale):
    """Fixed-point sum of the dependencies on v in the lanes of `mask`; following[v]: v's term for predecessors."""

    def codegen(context, builder, signature, args):
        now, following, sigma = (_rows(context, builder, signature.args[i], args[i], _REALS) for i in (0, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        zero, one, index = _REALS([0.0] * LANES), _REALS([1.0] * LANES), ir.IntType(32)
        total = _gathered(context, builder, now, heads, begin, end, zero, builder.fadd)
        mask = builder.bitcast(args[4], ir.VectorType(ir.IntType(1), LANES))
        own = builder.select(mask, builder.load(builder.gep(sigma, [v]), align=8), one)
        delta = builder.select(mask, builder.fmul(own, total), zero)
        given = builder.fdiv(builder.fadd(one, delta), own)
        builder.store(builder.select(mask, given, zero), builder.gep(following, [v]), align=8)
        scale = builder.insert_element(zero, args[8], index(0))
        scale = builder.shuffle_vector(scale, scale, ir.VectorType(index, LANES)([0] * LANES))
        whole = builder.fptosi(builder.fmul(delta, scale), _WHOLES)
        found = _I64(0)
        for lane in range(LANES):
            found = builder.add(found, builder.extract_element(whole, index(lane)))
        return found

    arrays = (now, heads, types.int64, types.int64, types.uint32, following, sigma, types.int64, types.float64)
    return types.int64(*arrays), codegen


@intrinsic
def ones(typing, word):
    """How many bits are set."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def lowest(typing, word):
    """The place of the lowest bit that is set."""
    return types.int64(types.uint64), lambda context, builder, signature, args: builder.cttz(args[0], ir.IntType(1)(1))
