"""The backend `lockstep` of NetworkX: what it serves. NetworkX reads this at its own import, so it imports nothing."""


# {function: nodes and edges from which it is faster than NetworkX, conversion included; None: only with a graph that is
# converted already}. From `python -m lockstep.networkx_backend` without a GPU: random graphs of eight edges a node.
WORTH = {
    "is_directed_acyclic_graph": 2_500,
    "topological_generations": 2_500,
    "topological_sort": 2_500,
    "connected_components": None,
    "number_connected_components": None,
    "strongly_connected_components": 700,
    "number_strongly_connected_components": 700,
    "pagerank": 100,
    "single_source_dijkstra_path_length": None,
    "single_source_shortest_path_length": None,
    "greedy_color": 900,
    "triangles": 500,
    "betweenness_centrality": 100,
    "closeness_centrality": 250,
    "harmonic_centrality": 200,
    "all_pairs_shortest_path_length": 20_000,
}


def info() -> dict:
    """What NetworkX shows of the backend."""
    return {
        "backend_name": "lockstep",
        "project": "lockstep",
        "package": "lockstep",
        "short_summary": "Compiled code and GPU kernels: paths, sorting, components, coloring, centralities.",
        "functions": {name: {} for name in WORTH},
    }
