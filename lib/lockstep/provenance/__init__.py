"""Identify the code and data behind recorded rows, and detect rows whose code has changed; see `builds`."""

from .builds import build
from .staleness import stale

__all__ = ["build", "stale"]
