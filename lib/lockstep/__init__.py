"""Lockstep: what keeping threads in step costs an irregular graph algorithm on a GPU."""

from . import cache

__version__ = "0.1.0"

cache.provide()  # before Numba, CuPy and paths are imported, which read the environment once
