"""Seals: checksums of a recording at the end of each part, and the check of recordings against them."""

import csv
import fcntl
import hashlib
from pathlib import Path

from lockstep.evidence import recording

SEALS = "seals.csv"
PUBLISHED = "*"  # what a seal of a whole published recording has in place of a part's name; no part can be called so
DRIFT, RESOLUTION = 1e-4, 0.001  # relative difference of GPU and host clock; ms, twice the resolution of CUDA events


def seal(folder, study, part, anew=False):
    """Append number and checksum of the present lines of a study's recording, at the end of measuring a part.

    Parameters
    ----------
    folder : path
        A machine's; nothing is written where it has no recording of the study.
    study, part : str
    anew : bool
        Replace all earlier seals of the study.
    """
    folder = Path(folder)
    file = folder / f"{study}.csv"
    if not file.is_file():
        return
    with file.open("rb") as rows:
        fcntl.flock(rows, fcntl.LOCK_EX)
        lines = rows.read().splitlines(keepends=True)
    _renew(folder, [study, part, len(lines), _checksum(lines)], without=study if anew else None)


def forget(folder, study):
    """Drop the seals of a study, whose rows were removed."""
    if Path(folder, SEALS).is_file():
        _renew(Path(folder), without=study)


def _renew(folder, *new, without=None):
    """Write the seals anew, without a study's and with new ones; parts of several studies may end at the same time."""
    with (folder / SEALS).open("a", newline="", encoding="utf-8") as told:
        fcntl.flock(told, fcntl.LOCK_EX)
        kept = [line for line in _seals(folder) if line[0] != without]
        told.truncate(0)
        csv.writer(told, lineterminator="\n").writerows([["study", "part", "lines", "sha256"], *kept, *new])


def parts(folder, study):
    """The parts of a study that were done in a machine's folder and whose rows are still there."""
    if not Path(folder, f"{study}.csv").is_file():
        return set()
    return {part for name, part, *_ in _seals(Path(folder)) if name == study}


def lines(folder, study):
    """Lines of a study's recording up to the end of the last part that has ended; None without a seal."""
    return max((int(count) for name, _, count, _ in _seals(Path(folder)) if name == study), default=None)


def _seals(folder):
    if not (folder / SEALS).is_file():
        return []
    with (folder / SEALS).open(newline="", encoding="utf-8") as told:
        return [line for line in csv.reader(told) if len(line) == 4][1:]  # a line cut short by a kill seals nothing


def _checksum(lines):
    return hashlib.sha256(b"".join(lines)).hexdigest()


def broken(folder):
    """Defects of the recordings in a machine's folder, in words: changed lines and impossible values.

    Lines are compared with the checksums written after each part; none but those of a part that ended later may follow
    the seal of a published recording, which is of the whole file. Times must be positive, and a device time must not
    exceed its wall time by more than `DRIFT` and `RESOLUTION`.
    """
    folder, found = Path(folder), []
    for study, part, count, checksum in _seals(folder):
        file = folder / f"{study}.csv"
        present = file.read_bytes().splitlines(keepends=True) if file.is_file() else []
        if _checksum(present[: int(count)]) != checksum:
            found.append(f"{file}: not as it was written when part {part} was done (lines 1 to {count})")
        elif part == PUBLISHED and (more := len(present) - lines(folder, study)):
            found.append(f"{file}: {more} line{'s' * (more > 1)} more than when it was published")
    for file in sorted(folder.glob("[0-9]-*.csv")):
        found += [f"{file}: {what}" for what in impossible(recording.read(file))]
    return found


def impossible(rows):
    """Impossible times, in words: not positive, or a device time longer than its wall time."""
    times = rows[rows["metric"].isin(["wall", "device"])].drop_duplicates([*recording.SAMPLE, "metric"], keep="last")
    found = [f"{one.strategy} on {one.dataset}, round {one.round}: a {one.metric} time of {one.value:g}"
             for one in times[times["value"] <= 0].itertuples()]  # fmt: skip
    device, wall = (times[times["metric"] == metric] for metric in ("device", "wall"))
    both = device.merge(wall, on=recording.SAMPLE, suffixes=("", "_wall"))
    longer = both[both["value"] > both["value_wall"] * (1 + DRIFT) + RESOLUTION]
    return found + [f"{one.strategy} on {one.dataset}, round {one.round}: a device time of {one.value:g} ms in a wall "
                    f"time of {one.value_wall:g} ms" for one in longer.itertuples()]  # fmt: skip
