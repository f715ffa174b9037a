"""Steps: the nodes that planning searches walk over, with what each of them takes.

`EdgeSteps` are the edges. `TurnSteps` are for beliefs about turns: a node for every turn and start
of the table, and one at the end of every edge, which costs nothing. So every search on costs of
nodes, those with a battery or a time limit included, works on turns as it does on edges, with the
total-energy potential in the place of ``m g z``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evroute.arms import Arms, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.longitudinal import J_PER_WH, potential_wh
from evroute.energy.prior import EnergyPrior
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import Vehicle
from evroute.model.base import EnergyModel, mean_of
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecast import RouteForecast, forecast, forecast_arms
from evroute.planning.guarantee import Guarantee, RouteGuarantee, guarantee_arms
from evroute.planning.turn_belief import TurnBelief


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """What N nodes take.

    edge: (N,) edge row of each.  mean_wh, noise_std_wh: (N,) Wh.  tail_wh, head_wh: (N,) potential
    before and after.
    share: (N,) of the edge's length and time that the node stands for, 1 or 0.
    """

    edge: IntArray
    mean_wh: FloatArray
    noise_std_wh: FloatArray
    tail_wh: FloatArray
    head_wh: FloatArray
    share: FloatArray


class Steps(Protocol):
    """How routes over edges and walks over nodes belong together."""

    nodes: Nodes

    def line_graph(self, via: Sequence[int]) -> LineGraph:
        """Return the graph of the nodes, or layers of it for a trip by way of these edges."""

    def ends(self, origin: int, destination: int) -> tuple[int, int]:
        """Return the nodes at which walks between two edges begin and end."""

    def driven(self, walk: Route) -> Route:
        """Return the edges that a walk drives."""

    def mean_wh(self, route: Route) -> FloatArray:
        """Return the mean energy of each edge of a route, (k,) Wh."""

    def prior_wh(self, route: Route) -> FloatArray:
        """Return what was believed before any trip of each edge of a route, (k,) Wh."""

    def forecast(self, route: Route) -> RouteForecast:
        """Forecast the energy of one trip along a route."""

    def guarantee(self, route: Route, wanted: Guarantee) -> RouteGuarantee:
        """Bound the expected energy of a route."""


class EdgeSteps:
    """Every edge is a node; model: of edges, None for eq. 8."""

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        prior: EnergyPrior,
        arms: Arms,
        model: EnergyModel | None,
    ) -> None:
        height_wh = potential_wh(vehicle, network.elevation_m)
        self._graph = LineGraph.from_network(network)
        self._model, self._arms = model, arms
        self.nodes = Nodes(
            edge=arms.id,
            mean_wh=prior.mean_wh if model is None else mean_of(model, arms),
            noise_std_wh=prior.noise_std_wh,
            tail_wh=height_wh[network.tail],
            head_wh=height_wh[network.head],
            share=np.ones(network.n_edges),
        )

    def line_graph(self, via: Sequence[int]) -> LineGraph:
        """Return the line graph, or layers of it."""
        return self._graph.through(via) if via else self._graph

    def ends(self, origin: int, destination: int) -> tuple[int, int]:
        """Return the edges as they are."""
        return origin, destination

    def driven(self, walk: Route) -> Route:
        """Return the walk, its layers forgotten."""
        n = len(self.nodes.edge)
        return Route(tuple(row % n for row in walk.edges))

    def mean_wh(self, route: Route) -> FloatArray:
        """Return the mean energy of each edge of a route, (k,) Wh."""
        mean: FloatArray = self.nodes.mean_wh[route.rows]
        return mean

    def prior_wh(self, route: Route) -> FloatArray:
        """Return eq. 8 of each edge of a route, (k,) Wh."""
        prior: FloatArray = self._arms.prior_mean_wh[route.rows]
        return prior

    def forecast(self, route: Route) -> RouteForecast:
        """Forecast the energy of one trip from the joint posterior of its edges."""
        if self._model is None:
            raise TypeError("eq. 8 has no posterior, which a forecast needs")
        return forecast(self._model, self._arms, route)

    def guarantee(self, route: Route, wanted: Guarantee) -> RouteGuarantee:
        """Bound the expected energy of a route."""
        if self._model is None:
            raise TypeError("eq. 8 was learned from nothing, which a guarantee needs")
        return guarantee_arms(self._model, self._arms, self._arms.rows_of(route.rows), wanted)


class TurnSteps:
    """Every turn, start and end of an edge is a node; belief: about turns, in their reference contexts."""

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        belief: TurnBelief,
        conditions: DrivingConditions,
    ) -> None:
        table = self._table = belief.space.table
        n, m, rows = table.n_edges, table.n_turns, np.arange(len(table))
        speed_mps = conditions.speed_factor * network.speed_mps
        prior_wh = TurnEnergy(network, vehicle, table, conditions).mean_wh(rows, speed_mps)
        self._arms = Arms(rows, belief.turns.features, prior_wh)
        self._model = belief.model
        self._graph = LineGraph.from_network(network)
        loaded = conditions.load(vehicle)
        height_wh = potential_wh(loaded, network.elevation_m)
        after_wh = height_wh[network.head] + 0.5 * loaded.mass_kg * speed_mps**2 / J_PER_WH
        before_wh = np.concatenate([after_wh[table.left[:m]], height_wh[network.tail]])
        self.nodes = Nodes(
            edge=np.concatenate([table.entered, np.arange(n)]),
            mean_wh=np.concatenate([self._model.posterior(self._arms).mean_wh, np.zeros(n)]),
            noise_std_wh=np.concatenate([self._model.noise_std(self._arms), np.ones(n)]),
            tail_wh=np.concatenate([before_wh, after_wh]),
            head_wh=np.concatenate([after_wh[table.entered], after_wh]),
            share=np.concatenate([np.ones(m + n), np.zeros(n)]),
        )

    def line_graph(self, via: Sequence[int]) -> LineGraph:
        """Return the graph of turns; walks by way of an edge go through the node at its end."""
        n, m, graph = self._table.n_edges, self._table.n_turns, self._graph
        leaving = np.diff(graph.indptr)
        entered = np.concatenate([self._table.entered, np.arange(n)])
        counts = leaving[entered]
        counts[m + n :] *= np.isin(np.arange(n), via)
        source = np.repeat(np.arange(m + 2 * n), counts)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        turn = graph.indptr[entered[source]] + np.arange(len(source)) - first
        # every turn and start leads to the end of its edge, too
        source = np.concatenate([source, np.arange(m + n)])
        target = np.concatenate([turn, m + n + self._table.entered])
        order = np.lexsort((target, source))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=m + 2 * n))])
        whole = LineGraph(
            indptr.astype(np.int32), target[order].astype(np.int32), source[order].astype(np.int32)
        )
        return whole.through([m + n + edge for edge in via]) if via else whole

    def ends(self, origin: int, destination: int) -> tuple[int, int]:
        """Return the start on the origin and the end of the destination."""
        m, n = self._table.n_turns, self._table.n_edges
        return m + origin, m + n + destination

    def driven(self, walk: Route) -> Route:
        """Return the edges that the turns of a walk enter."""
        node = walk.rows % len(self.nodes.edge)
        return Route(tuple(self.nodes.edge[node[node < len(self._table)]].tolist()))

    def mean_wh(self, route: Route) -> FloatArray:
        """Return the mean energy of each edge of a route as it is entered, (k,) Wh."""
        mean: FloatArray = self.nodes.mean_wh[self._table.rows_along(route.rows)]
        return mean

    def prior_wh(self, route: Route) -> FloatArray:
        """Return the prior mean of each edge of a route as it is entered, (k,) Wh."""
        prior: FloatArray = self._arms.prior_mean_wh[self._table.rows_along(route.rows)]
        return prior

    def forecast(self, route: Route) -> RouteForecast:
        """Forecast the energy of one trip from the joint posterior of its turns."""
        return forecast_arms(self._model, self._arms, self._table.rows_along(route.rows))

    def guarantee(self, route: Route, wanted: Guarantee) -> RouteGuarantee:
        """Bound the expected energy of a route from its turns."""
        return guarantee_arms(self._model, self._arms, self._table.rows_along(route.rows), wanted)
