"""What a recorded row follows from, and whether that is what would run today; see `builds`."""

from .builds import build
from .staleness import stale

__all__ = ["build", "stale"]
