"""Lockstep: what keeping threads in step costs an irregular graph algorithm on a GPU."""

__version__ = "0.1.0"
