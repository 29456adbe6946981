"""Random numbers from a counter: number ``i`` of stream ``s`` under ``seed`` is a hash of the three.

Generators thus give the same bits on every machine, in any order of evaluation and under any version of NumPy,
and a kernel could compute the same numbers without a transfer. The hash is SplitMix64's finalizer
(Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).

After a change here delete the compiled functions (__pycache__/*.nb?): Numba's cache checks a function's own file
only, and the generators inline these functions.
"""

import numpy as np
from numba import njit, uint64

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(uint64(uint64), cache=True)
def mix(z):
    """SplitMix64's finalizer: a bijection of 64-bit words in which every input bit affects every output bit."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@njit(uint64(uint64, uint64), cache=True)
def _stream(seed, number):
    return mix(mix(seed + _GOLDEN) + (number + np.uint64(1)) * _GOLDEN)


def stream(seed, number):
    """The key of a stream, as np.uint64: Numba would type a Python int as int64."""
    return np.uint64(_stream(np.uint64(seed), np.uint64(number)))


@njit(uint64(uint64, uint64), cache=True)
def word(key, i):
    """64 random bits: number ``i`` of the stream ``key``."""
    return mix(key + (i + np.uint64(1)) * _GOLDEN)


@njit(uint64(uint64, uint64, uint64), cache=True)
def below(key, i, bound):
    """A number in ``0..bound-1``, ``bound`` < 2^32; probabilities are 1/bound within a relative bound/2^32."""
    return ((word(key, i) >> _S32) * bound) >> _S32


@njit(cache=True)
def _shuffle(key, order):
    for i in range(order.size - 1, 0, -1):
        j = np.int64(below(key, np.uint64(i), np.uint64(i + 1)))
        order[i], order[j] = order[j], order[i]


def permutation(n, seed, number=0):
    """A random order of ``0..n-1``, int64 (Fisher and Yates)."""
    order = np.arange(n, dtype=np.int64)
    _shuffle(stream(seed, number), order)
    return order
