"""The backend `lockstep` of NetworkX: its functions. NetworkX imports this at its own import, so it must be light."""

SERVED = (
    "is_directed_acyclic_graph", "topological_generations", "topological_sort", "connected_components",
    "number_connected_components", "strongly_connected_components", "number_strongly_connected_components", "pagerank",
    "single_source_dijkstra_path_length", "single_source_shortest_path_length", "greedy_color", "triangles",
    "betweenness_centrality", "closeness_centrality", "harmonic_centrality", "all_pairs_shortest_path_length",
)


def info() -> dict:
    """The backend's entry in NetworkX's configuration and documentation."""
    return {
        "backend_name": "lockstep",
        "project": "lockstep",
        "package": "lockstep",
        "short_summary": "Compiled code and GPU kernels: paths, sorting, components, coloring, centralities.",
        "functions": {name: {} for name in SERVED},
    }
