"""Arm spaces: what a learner's arms are. Worlds, rounds and feedback speak of edges; only here they become turns.

With `EdgeArms` an arm is an edge. With `TurnArms` it is a row of the table of turns: an edge as
entered from another, or on which a trip starts, so that the kinetic energy carried over has its
place; Dijkstra is the same, on weights of turns shifted by the total-energy potential.
"""

from collections import OrderedDict
from typing import Protocol

import numpy as np

from evroute.arms import Arms, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.model.base import State
from evroute.network import context
from evroute.network.controls import contexts
from evroute.network.turn_table import SPEED
from evroute.planning.search import Search

_KEPT_ROUNDS = 8
LOG_RATIO_SUM, LOG_RATIO_COUNT = "space_log_ratio_sum", "space_log_ratio_count"
"""Of measured to known speeds, by edge."""


class ArmSpace(Protocol):
    """How a learner's arms follow from rounds over edges."""

    search: Search

    def arms(self, request: Round) -> Arms:
        """Return the learner's arms of a round."""

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the potential over each of them, (a,) Wh."""

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight when each arm costs ``weights`` (a,)."""

    def arms_of_route(self, request: Round, route: Route) -> IntArray:
        """Return the positions (k,) among the arms of those that a route passes, in driving order."""

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return what a trip measured, told of the learner's arms."""


class EdgeArms:
    """Every edge is an arm.

    potential_wh: (n,) ``m g dz`` of every edge of the network, Wh.
    """

    def __init__(self, search: Search, potential_wh: FloatArray) -> None:
        self.search = search
        self._potential_wh = potential_wh

    def arms(self, request: Round) -> Arms:
        """Return the arms of the round as they are."""
        return request.arms

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the potential over each arm, (a,) Wh."""
        potential: FloatArray = self._potential_wh[request.arms.id]
        return potential

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight over the open edges."""
        everywhere = np.full(len(self._potential_wh), np.inf)
        everywhere[request.arms.id] = weights
        return self.search.route(everywhere, request.origin, request.destination)

    def arms_of_route(self, request: Round, route: Route) -> IntArray:
        """Return the positions (k,) of the edges of a route."""
        return request.arms.rows_of(route.rows)

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return the feedback as it is."""
        return feedback


class TurnArms:
    """Every turn is an arm, and every edge on which a trip may start.

    energy: of turns, for the vehicle of trips that name none.  braked: trips measure the braking
    for a turn on the edge left, as cars do it; what physics says it gives back is then told of the
    turn. Else speeds change as an edge is entered.  learn_speeds: prior means and the potential go
    by the speeds that trips measured, on average, on the edges driven, relative to those of the
    contexts; the kernel's contexts stay as they are.
    controls: contexts tell of lights, stop signs and right of way, too.

    Raises
    ------
    EvrouteError
        If they are to, and the network knows of none.
    """

    def __init__(
        self,
        search: Search,
        energy: TurnEnergy,
        *,
        braked: bool = False,
        learn_speeds: bool = False,
        controls: bool = False,
    ) -> None:
        self.search = search
        self.braked = braked
        self.learn_speeds = learn_speeds
        self._log_ratio_sum = np.zeros(energy.table.n_edges)
        self._log_ratio_count = np.zeros(energy.table.n_edges)
        self.energy = energy
        self.table = energy.table
        self._speed_scale = float(context.build(energy.network).scale[SPEED])
        self._own = (self.table.angle_rad / (self.table.angle_rad.std() or 1.0))[:, np.newaxis]
        if controls:
            if self.table.control is None:
                raise EvrouteError(
                    f"the source of network '{energy.network.name}' tells nothing of lights, stop signs or right of "
                    "way; leave controls out"
                )
            self._own = np.column_stack([self._own, contexts(self.table.control)])
        self._energies = {"": energy, energy.vehicle.name: energy}
        self._known: OrderedDict[tuple[int, str], tuple[Arms, FloatArray, Arms]] = OrderedDict()
        self._all = np.arange(len(self.table))

    def all_arms(self, edge_arms: Arms, vehicle: str = "") -> Arms:
        """Return the arms that edges as arms leave open; prior means add what turning takes to those of the edges."""
        return self._of(edge_arms, vehicle)[0]

    def arms(self, request: Round) -> Arms:
        """Return the open turns and starts of a round: those between two edges that are open."""
        return self._of(request.arms, request.vehicle)[0]

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the total-energy potential over each arm, (a,) Wh."""
        return self._of(request.arms, request.vehicle)[1]

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight over the open turns, its start included."""
        everywhere = np.full(len(self.table), np.inf)
        everywhere[self.arms(request).id] = weights
        m = self.table.n_turns
        start = float(everywhere[m + request.origin])
        return self.search.route_by_turns(
            everywhere[:m], start, request.origin, request.destination
        )

    def arms_of_route(self, request: Round, route: Route) -> IntArray:
        """Return the positions (k,) of the start and the turns of a route."""
        return self.arms(request).rows_of(self.table.rows_along(route.rows))

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return the feedback with the first edge as a start and every other as the turn into it."""
        rows = self.table.rows_along(feedback.id)
        known_mps = self.energy.network.speed_mps.copy()
        known_mps[feedback.id] = self._speeds(feedback.features)
        speed_mps = self._driven_speeds(feedback, known_mps) if self.learn_speeds else known_mps
        energy_wh = feedback.energy_wh
        if self.braked:
            braked_wh = self._energy_of(feedback.vehicle).braked_wh(rows, speed_mps)
            energy_wh = energy_wh + braked_wh - np.append(braked_wh[1:], 0.0)
        return Feedback(
            id=rows,
            features=self._features(rows, feedback.features, known_mps),
            prior_mean_wh=feedback.prior_mean_wh
            + self._added_wh(feedback.vehicle, rows, known_mps, speed_mps),
            energy_wh=energy_wh,
            trip_id=feedback.trip_id,
            vehicle=feedback.vehicle,
            departed_s=feedback.departed_s,
            travel_s=feedback.travel_s,
        )

    def state(self) -> State:
        """Return what was learned of speeds; nothing where none are."""
        if not self.learn_speeds:
            return {}
        return {
            LOG_RATIO_SUM: self._log_ratio_sum.copy(),
            LOG_RATIO_COUNT: self._log_ratio_count.copy(),
        }

    def restore(self, state: State) -> None:
        """Take over a state; what else it holds is left alone."""
        if self.learn_speeds:
            self._log_ratio_sum = state[LOG_RATIO_SUM].copy()
            self._log_ratio_count = state[LOG_RATIO_COUNT].copy()
            self._known.clear()

    def _driven_speeds(self, feedback: Feedback, known_mps: FloatArray) -> FloatArray:
        """Take note of the speeds of a trip and return those that are known since, (n,) m/s."""
        measured = np.isfinite(feedback.travel_s) & (feedback.travel_s > 0)
        edge = feedback.id[measured]
        driven_mps = self.energy.network.length_m[edge] / feedback.travel_s[measured]
        np.add.at(self._log_ratio_sum, edge, np.log(driven_mps / known_mps[edge]))
        np.add.at(self._log_ratio_count, edge, 1.0)
        self._known.clear()
        return self._as_driven(known_mps)

    def _as_driven(self, known_mps: FloatArray) -> FloatArray:
        speed: FloatArray = known_mps * np.exp(
            self._log_ratio_sum / np.maximum(self._log_ratio_count, 1.0)
        )
        return speed

    def _of(self, edge_arms: Arms, vehicle: str) -> tuple[Arms, FloatArray, Arms]:
        # kept with the edges' arms, so that no others have their identity
        key = (id(edge_arms), vehicle)
        if key not in self._known:
            self._known[key] = (*self._make(edge_arms, vehicle), edge_arms)
            if len(self._known) > _KEPT_ROUNDS:
                self._known.popitem(last=False)
        return self._known[key]

    def _make(self, edge_arms: Arms, vehicle: str) -> tuple[Arms, FloatArray]:
        n = self.table.n_edges
        place = np.full(n, -1)
        place[edge_arms.id] = np.arange(len(edge_arms))
        rows = self._all[(place[self.table.left] >= 0) & (place[self.table.entered] >= 0)]
        speed_mps = self.energy.network.speed_mps.copy()
        speed_mps[edge_arms.id] = self._speeds(edge_arms.features)
        driven_mps = self._as_driven(speed_mps)
        entered = place[self.table.entered[rows]]
        prior_mean_wh = edge_arms.prior_mean_wh[entered] + self._added_wh(
            vehicle, rows, speed_mps, driven_mps
        )
        arms = Arms(
            rows, self._features(rows, edge_arms.features[entered], speed_mps), prior_mean_wh
        )
        return arms, self._energy_of(vehicle).potential_wh(rows, driven_mps)

    def _speeds(self, features: FloatArray) -> FloatArray:
        speed: FloatArray = features[:, SPEED] * self._speed_scale
        return speed

    def _features(self, rows: IntArray, of_edges: FloatArray, speed_mps: FloatArray) -> FloatArray:
        entry_mps = np.where(rows < self.table.n_turns, speed_mps[self.table.left[rows]], 0.0)
        return np.column_stack([of_edges, entry_mps / self._speed_scale, self._own[rows]])

    def _added_wh(
        self, vehicle: str, rows: IntArray, known_mps: FloatArray, driven_mps: FloatArray
    ) -> FloatArray:
        """Return what turns take at the speeds driven beyond the edges that they enter at those known, (a,) Wh."""
        energy = self._energy_of(vehicle)
        added: FloatArray = (
            energy.mean_wh(rows, driven_mps) - energy.edge_wh(known_mps)[self.table.entered[rows]]
        )
        return added

    def _energy_of(self, vehicle: str) -> TurnEnergy:
        if vehicle not in self._energies:
            self._energies[vehicle] = self.energy.with_vehicle(load_vehicle(vehicle))
        return self._energies[vehicle]
