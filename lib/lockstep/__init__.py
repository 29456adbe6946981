"""Lockstep: the cost of synchronization in irregular graph algorithms on GPUs."""

from . import cache

__version__ = "0.1.0"

cache.provide()  # before Numba, CuPy and paths are imported, which read the environment once
