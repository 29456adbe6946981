"""Copy what this machine made to where git tracks it: on purpose, never by a rule."""

import itertools
import json
import shutil
from pathlib import Path

from lockstep import paths
from lockstep.evidence import recording
from lockstep.studies import PACKAGES, digests

REPORT = ("report.pdf", "report.html")


def publish(results=paths.RESULTS, recordings=paths.RECORDINGS, paper=paths.PAPER, name=None) -> list[Path]:
    """Copy the report to paper/published/ and this machine's rows to data/recordings/<machine>/.

    Every row is copied as it was written, but for stale ones: samples of a kernel or a strategy that has changed
    since, and that the present one's samples stand beside or that are no longer measured, are left out.

    Parameters
    ----------
    results, recordings, paper : path
        The compendium's folders.
    name : str, optional
        This machine's folder name; looked up by default.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ValueError
        If this machine has measured nothing, or the published folder of that name belongs to another machine.
    """
    if name is None:
        from lockstep.evidence import machine_name

        name = machine_name()
    source, target = Path(results) / name, Path(recordings) / name
    rows = sorted(source.glob("*.csv"))
    if not rows or not (source / "machine.json").is_file():
        raise ValueError(
            f"{source} holds no recording of this machine ({name}); run snakemake --cores 1 first"
        )
    _refuse_foreign(source / "machine.json", target / "machine.json")
    target.mkdir(parents=True, exist_ok=True)
    written = [_copy_fresh(file, target / file.name) for file in rows]
    written.append(Path(shutil.copy2(source / "machine.json", target / "machine.json")))
    for file in (Path(paper) / "generated" / part for part in REPORT):
        if file.is_file():
            folder = Path(paper) / "published"
            folder.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copy2(file, folder / file.name)))
    return written


def _copy_fresh(source: Path, target: Path) -> Path:
    """Copy a recording without its stale rows; all other lines keep their bytes."""
    present = digests(source.stem) if source.stem in PACKAGES else None
    if present is None:
        return Path(shutil.copy2(source, target))
    rows = recording.read(source)
    stale = recording.stale(rows, present)
    gone = set(zip(stale["strategy"], stale["dataset"], stale["recorded"], strict=True))
    keep = [key not in gone for key in zip(rows["strategy"], rows["dataset"], rows["kernel"], strict=True)]
    head, *lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    target.write_text(head + "".join(itertools.compress(lines, keep)), encoding="utf-8")
    return target


def _refuse_foreign(ours: Path, theirs: Path) -> None:
    """A folder's name holds a digest of what the machine is; should two share it, they are not mixed."""
    if not theirs.is_file():
        return
    one, other = (json.loads(file.read_text(encoding="utf-8")) for file in (ours, theirs))
    for key in ("gpu", "gpus", "cpu", "cores"):
        if one.get(key) != other.get(key):
            raise ValueError(
                f"{theirs} is the recording of another machine ({key} {other.get(key)!r}, here "
                f"{one.get(key)!r}); it is not overwritten"
            )
