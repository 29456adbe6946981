"""What the studies compute on: the CSR graph, readers, generators, and the registry of data sets."""

from . import generators
from .acyclic import acyclic
from .graph import Graph, GraphError, GraphWarning
from .reading import read

__all__ = ["Graph", "GraphError", "GraphWarning", "acyclic", "generators", "read"]
