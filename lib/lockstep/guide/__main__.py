"""`python -m lockstep.guide` writes the guide's picture, tables and numbers for the report."""

import matplotlib

matplotlib.use("Agg")

from lockstep.guide.drawing import publish
from lockstep.provenance import stale

if __name__ == "__main__":
    for lesson in publish(stale=stale):
        print(f"{lesson.problem.title}: {len(lesson.observations)} cells on {lesson.machine}")
