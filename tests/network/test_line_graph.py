import numpy as np

from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork


def test_entries_of_the_csr_are_the_turns_in_their_order(denver: RoadNetwork) -> None:
    graph = LineGraph.from_network(denver)
    assert graph.n_edges == denver.n_edges
    assert np.array_equal(np.column_stack([graph.source, graph.indices]), denver.turns)
    rows = [
        graph.indices[graph.indptr[e] : graph.indptr[e + 1]].tolist() for e in range(denver.n_edges)
    ]
    assert [[a, b] for a, targets in enumerate(rows) for b in targets] == denver.turns.tolist()


def test_an_edge_that_leads_nowhere_has_an_empty_row(hill: RoadNetwork) -> None:
    part = hill.subset(np.array([edge in ("in", "up") for edge in hill.edge_id]))
    graph = LineGraph.from_network(part)
    assert graph.indptr.tolist() == [0, 1, 1]
    assert graph.indices.tolist() == [1]
