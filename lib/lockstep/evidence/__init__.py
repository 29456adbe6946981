"""Evidence: how figures are measured, recorded, compared and judged.

It knows no study: it is handed callables and rows.
"""

from lockstep.evidence.computer import describe as describe_machine
from lockstep.evidence.computer import gpu_words, machine_name
from lockstep.evidence.flags import flagged
from lockstep.evidence.reading import machines
from lockstep.evidence.recording import COLUMNS, RecordingError
from lockstep.evidence.study import Study
from lockstep.evidence.timing import Candidate, VerificationError

__all__ = [
    "COLUMNS",
    "Candidate",
    "RecordingError",
    "Study",
    "VerificationError",
    "describe_machine",
    "flagged",
    "gpu_words",
    "machine_name",
    "machines",
]
