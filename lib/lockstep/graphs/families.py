"""All generators by name."""

from . import generators, task_graphs
from .acyclic import acyclic

GENERATORS = {name: getattr(generators, name) for name in (*generators.FAMILIES, "with_weights")}
GENERATORS |= {"acyclic": acyclic} | {name: getattr(task_graphs, name) for name in task_graphs.FAMILIES}
