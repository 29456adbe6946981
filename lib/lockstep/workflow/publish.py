"""Copy this machine's report and recordings to tracked folders: by command only, not by a workflow rule."""

import shutil
from pathlib import Path

from lockstep import paths
from lockstep.evidence import recording, seals
from lockstep.provenance import builds

REPORT = ("report.pdf", "report.html")
SMALL = "config/smoke.yaml"


def publish(results=paths.RESULTS, recordings=paths.RECORDINGS, paper=paths.PAPER, name=None) -> list[Path]:
    """Copy the report to paper/published/ and this machine's rows to data/recordings/<machine>/; to the next numbered
    folder in it if a recording with other runs lies there.

    Rows of the last build of each cell and strategy are copied byte for byte; samples replaced by a later build are
    left out, and so are rows of a part that has not ended, which must not replace those of an earlier build. Rows of
    earlier code without a replacement are copied, named in the report and marked in the ledger.

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
        If this machine has measured nothing, if the published folder of that name belongs to another machine, or if a
        run that is not published yet measured code that no commit holds, or on a GPU the small sizes.
    RecordingError
        If a file of the recording is damaged.
    """
    if name is None:
        from lockstep.evidence import machine_name

        name = machine_name()
    source, machine = Path(results) / name, Path(recordings) / name
    rows = sorted(file for file in source.glob("[0-9]-*.csv") if file.stat().st_size)
    if not rows or not (source / "machine.json").is_file():
        raise ValueError(f"{source} holds no recording of this machine ({name}); run snakemake --cores 1 first")
    _refuse_foreign(source / "machine.json", machine / "machine.json")
    target = _folder_of(source, machine)
    _refuse_unfit(source, target)
    if wrong := seals.broken(source):
        raise ValueError(f"{wrong[0]}; a recording is published as it was measured: remove it, and measure again")
    target.mkdir(parents=True, exist_ok=True)
    written = [_copy_current(file, target / file.name) for file in rows]
    written.append(Path(shutil.copy2(source / "machine.json", target / "machine.json")))
    for file in rows:
        seals.seal(target, file.stem, seals.PUBLISHED, anew=True)
    builds.publish(source, Path(recordings))
    for file in (Path(paper) / "generated" / part for part in REPORT):
        if file.is_file():
            folder = Path(paper) / "published"
            folder.mkdir(parents=True, exist_ok=True)
            written.append(Path(shutil.copy2(file, folder / file.name)))
    return written


def _folder_of(source: Path, machine: Path) -> Path:
    """Where a recording goes: into the folder of which it has all runs and all rows, else into a new one."""
    runs, numbers = _runs(source), sorted(int(one.name) for one in machine.glob("[0-9]*") if one.name.isdecimal())
    folders = [machine, *(machine / str(number) for number in numbers)]
    for folder in reversed(folders):
        if not _runs(folder) - runs and _holds(source, folder):  # also of a folder without any
            return folder
    return machine / str(max([1, *numbers]) + 1)


def _holds(source: Path, folder: Path) -> bool:
    """Whether all rows of a published folder are rows here: they may have been removed here, and measured again."""
    return all(
        (source / file.name).is_file()
        and set(file.read_bytes().splitlines()) <= set((source / file.name).read_bytes().splitlines())
        for file in folder.glob("[0-9]-*.csv")
    )


def _runs(folder: Path) -> set:
    """(date, study, part) of the runs in a recording."""
    return {(run.get("date"), run.get("study"), run.get("part")) for run in recording.runs(folder)}


def _copy_current(source: Path, target: Path) -> Path:
    """Copy a recording without the rows that later ones replace; all other lines keep their bytes."""
    ended = seals.lines(source.parent, source.stem)
    keep = recording.newest(recording.read(source)[: ended and ended - 1])
    # What follows the last end of a line is a row that was being written when the run was killed.
    head, *lines = (f"{line}\n" for line in source.read_text(encoding="utf-8").split("\n")[:-1][:ended])
    target.write_text(head + "".join(line for line, kept in zip(lines, keep, strict=True) if kept), encoding="utf-8")
    return target


def _refuse_unfit(ours: Path, theirs: Path) -> None:
    """Raise ValueError if an unpublished run measured uncommitted or unknown code, or on a GPU the small sizes."""
    published, gpu = recording.runs(theirs), (recording.described(ours / "machine.json") or {}).get("gpu")
    for run in recording.runs(ours):
        if run in published:
            continue
        if not run.get("commit"):
            what, first = "code whose commit is not known", "commit (in a copy without .git, set LOCKSTEP_COMMIT), "
        elif run["commit"].endswith("+"):
            what, first = "a tree with uncommitted changes", "commit, "
        elif gpu and SMALL in run.get("command", ""):
            what, first = f"the small sizes of {SMALL}, which would be judged beside the papers'", ""
        else:
            continue
        raise ValueError(
            f"{ours}: the run of {run.get('study')} on {run.get('date')} measured {what}; {first}remove the file "
            f"{run.get('study')}.csv and the folder {run.get('study')} beside it, and measure the study again"
        )


def _refuse_foreign(ours: Path, theirs: Path) -> None:
    """Raise ValueError if the published folder of this name describes another machine (a digest collision)."""
    if not theirs.is_file():
        return
    one, other = map(recording.described, (ours, theirs))
    for key in ("gpu", "gpus", "cpu", "cores"):
        if one.get(key) != other.get(key):
            raise ValueError(
                f"{theirs} is the recording of another machine ({key} {other.get(key)!r}, here "
                f"{one.get(key)!r}); it is not overwritten"
            )
