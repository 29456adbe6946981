"""Copy what this machine made to where git tracks it: on purpose, never by a rule."""

import json
import shutil
from pathlib import Path

from lockstep import paths

REPORT = ("report.pdf", "report.html")


def publish(results=paths.RESULTS, recordings=paths.RECORDINGS, paper=paths.PAPER, name=None) -> list[Path]:
    """Copy the report to paper/published/ and this machine's rows to data/recordings/<machine>/.

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
    written = [Path(shutil.copy2(file, target / file.name)) for file in (*rows, source / "machine.json")]
    for file in (Path(paper) / "generated" / part for part in REPORT):
        if file.is_file():
            folder = Path(paper) / "published"
            folder.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copy2(file, folder / file.name)))
    return written


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
