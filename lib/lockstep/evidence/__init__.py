"""Evidence: how figures are measured, recorded, compared and judged.

Apart from `passes` it depends on no study: callers pass callables and rows. Names are imported lazily, since every job
of the workflow needs the machine's name but not pandas.
"""

from importlib import import_module

_PLACES = {
    "COLUMNS": "recording",
    "Candidate": "timing",
    "RecordingError": "recording",
    "Study": "study",
    "VerificationError": "timing",
    "describe_machine": "computer",
    "flagged": "flags",
    "gpu_words": "computer",
    "machine_name": "computer",
    "machines": "reading",
}
__all__ = list(_PLACES)


def __getattr__(name):
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
