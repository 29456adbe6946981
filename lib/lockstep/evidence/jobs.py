"""How the parts of a study are worked through: a parameter file lists cells, cells become jobs, jobs are done in turn.

What a cell means is the study's own. Here stands what all of them have in common: named lists of strategies, the
rounds of a part, values that are listed, data sets that are not there, and what is said meanwhile.
"""

import itertools
import time
from collections.abc import Mapping


def cells(block, common=None, rounds=8):
    """The cells of a part, each complete in itself.

    Parameters
    ----------
    block : mapping
        A part's block of a parameter file. Its `rounds` are those of every cell that names none.
    common : mapping, optional
        The study's common block: `strategies` holds lists by name, and a cell may give such a name for its list.
    rounds : int
        Those of a part that names none.

    Yields
    ------
    dict
        The cell with `rounds` and with `strategies`, a list, or {what: list} where the cell has it so.

    Raises
    ------
    ValueError
        There is no list of that name.
    """
    named = (common or {}).get("strategies", {})

    def listed(names):
        if not isinstance(names, str):
            return list(names)
        if names not in named:
            raise ValueError(f"there is no list of strategies named {names!r}; the common block has {', '.join(named)}")
        return list(named[names])

    for cell in block.get("cells", []):
        names = cell.get("strategies", [])
        lists = {what: listed(n) for what, n in names.items()} if isinstance(names, Mapping) else listed(names)
        yield {"rounds": block.get("rounds", rounds), **cell, "strategies": lists}


def combinations(cell, keys):
    """Cells with one value each, for every combination of the values that a cell lists under these keys.

    Parameters
    ----------
    cell : mapping
        Under each key a list, or a value that stands for a list of one.
    keys : sequence of str
        The last one changes first.

    Yields
    ------
    dict
    """
    lists = [cell[key] if isinstance(cell[key], list) else [cell[key]] for key in keys]
    for values in itertools.product(*lists):
        yield {**cell, **dict(zip(keys, values, strict=True))}


def measure(jobs, study, part, executor, say=print, absent=()):
    """Measure what this machine's recording lacks of a part.

    Parameters
    ----------
    jobs : callable
        ``jobs(study, part, executor, say)`` yields pairs: a name, and an iterator that measures as it is read and
        yields a line for each thing done.
    study : Study
    part : str
        A part that the study's configuration has, or `all`.
    executor : Executor or None
        Where strategies with kernels run; None leaves them out.
    say : callable
        Is told each line, with the seconds since the job began.
    absent : exception type or tuple of them
        Raised by a job whose data set, or whose machine, is not here. Such a job does not stop the others.

    Returns
    -------
    list of str
        Jobs that could not be done, each with the reason.
    """
    missing = []
    for name in study.config["parts"] if part == "all" else [part]:
        for what, lines in jobs(study, name, executor, say):
            begin = time.perf_counter()
            try:
                for line in lines:
                    say(f"{line}, {time.perf_counter() - begin:.1f} s")
            except absent as error:
                missing.append(f"{what}: {error}")
        study.seal(name)
    return missing
