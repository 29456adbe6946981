"""All generators by name, and a digest of what each makes."""

from . import digests, generators, task_graphs
from .acyclic import acyclic
from .graph import GraphError

GENERATORS = {name: getattr(generators, name) for name in (*generators.FAMILIES, "with_weights")}
GENERATORS |= {"acyclic": acyclic} | {name: getattr(task_graphs, name) for name in task_graphs.FAMILIES}


def digest(name):
    """A digest of the source text that decides what generator ``name`` makes, its helpers included.

    Recordings carry it: measurements on a graph that would now be made differently are stale."""
    if name not in GENERATORS:
        raise GraphError(f"no generator {name!r}; expected one of {', '.join(GENERATORS)}")
    return digests.source_digest(GENERATORS[name])
