"""``python -m lockstep.networkx_backend``: times of the backend and of NetworkX on this machine, with conversion."""

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path

from .fitted import TIMES, shipped
from .times import LIMIT, measure


def main():
    parser = argparse.ArgumentParser(prog="python -m lockstep.networkx_backend", description=__doc__.partition(": ")[2])
    parser.add_argument("--output", metavar="DIR", default=".", help=f"write {TIMES.name} there (default: here)")
    parser.add_argument(
        "--limit", metavar="SECONDS", type=float, default=LIMIT,
        help="a function gets no larger graph of a family once NetworkX takes longer (default: %(default)s)",
    )  # fmt: skip
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # NetworkX notes that conversions are kept
    times = measure(limit=asked.limit, progress=partial(print, file=sys.stderr, flush=True))
    file = Path(asked.output, TIMES.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    times.to_csv(file, index=False, float_format="%.4g")
    told = shipped(times).to_string(index=False, float_format=lambda value: f"{value:.3g}")
    print(f"time of the backend that should_run chooses over the faster one:\n{told}\n{file}")


if __name__ == "__main__":
    main()
