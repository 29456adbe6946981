"""Evidence: how numbers are measured, recorded, compared and judged. Knows no study: it is handed callables
and rows.
"""

from lockstep.evidence.computer import describe as describe_machine
from lockstep.evidence.computer import machine_name
from lockstep.evidence.recording import COLUMNS, RecordingError
from lockstep.evidence.study import Candidate, Study, concatenate
from lockstep.evidence.timing import VerificationError

__all__ = [
    "COLUMNS",
    "Candidate",
    "RecordingError",
    "Study",
    "VerificationError",
    "concatenate",
    "describe_machine",
    "machine_name",
]
