"""`python -m lockstep.report` typesets the report from what is recorded and drawn."""

from lockstep.provenance import stale
from lockstep.report.typeset import build

if __name__ == "__main__":
    for file in build(stale=stale):
        print(file)
