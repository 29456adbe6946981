"""The backend `lockstep` of NetworkX: what it serves. NetworkX reads this at its own import, so it imports nothing."""

LINEAR, QUADRATIC = "linear", "quadratic"  # in nodes and edges; more
COST = {
    **dict.fromkeys(("is_directed_acyclic_graph", "topological_generations", "topological_sort", "connected_components",
                     "single_source_dijkstra_path_length", "single_source_shortest_path_length", "greedy_color",
                     "number_connected_components"), LINEAR),
    **dict.fromkeys(("betweenness_centrality", "closeness_centrality", "harmonic_centrality", "triangles",
                     "all_pairs_shortest_path_length"), QUADRATIC),
}  # fmt: skip


def info():
    """What NetworkX shows of the backend."""
    return {
        "backend_name": "lockstep",
        "project": "lockstep",
        "package": "lockstep",
        "short_summary": "Compiled code and GPU kernels for shortest paths, sorting, coloring and centralities.",
        "functions": {name: {} for name in COST},
    }
