"""`python -m lockstep.report` typesets the report from what is recorded and drawn."""

from lockstep.report.typeset import build
from lockstep.studies import all_digests

if __name__ == "__main__":
    for file in build(digests=all_digests()):
        print(file)
