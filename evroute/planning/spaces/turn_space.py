"""TurnSpace: every turn of a network is an arm, and every start of a trip on an edge.

An arm is a row of the table of turns: an edge as it is entered from another, or from standstill.
The carried kinetic energy therefore belongs to an arm, and the total-energy potential replaces
``m g z``. The searches are those over edges.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import DEFAULT_SPREAD, EnergyPrior
from evroute.energy.regressors import TurnRegressors
from evroute.energy.turn_prior import TurnEnergy, fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.model.base import State
from evroute.model.kernels.arms import ArmGraph, TurnGraph
from evroute.network import context
from evroute.network.controls import CONTEXTS, contexts
from evroute.network.heights.stretches import Stretches
from evroute.network.turn_table import NAMES, SPEED, TurnTable
from evroute.planning.forecasts.day_profile import QUARTER_S, quarter_of
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_states import ArmStates
from evroute.planning.spaces.driven_speeds import DrivenSpeeds
from evroute.planning.spaces.edge_posterior import over_edges
from evroute.planning.spaces.edge_space import KEPT_PARTS, EdgeSpace

TURN_LENGTHSCALE = 4.0
"""Factor for entry speed and turn angle: most errors of an edge do not depend on its entry."""
CONTROL_LENGTHSCALE = 0.5
"""Factor for the contexts of `network.controls`, 0 or 1. See docs/results/learning.md."""
_KEPT_ROUNDS = 8


class TurnSpace:
    """The arm space of the turns and starts of a network. See `arm_space.SearchSpace`.

    Parameters
    ----------
    edges
        The space of the edges of the same network, with the vehicle of trips that name none.
    table
        The turns and starts of the network.
    braked
        Trips measure the braking for a turn on the edge left, as cars do. Feedback then moves the
        energy that physics expects to be regenerated there to the turn. Otherwise speeds change
        as an edge is entered.
    learn_speeds
        Prior means and the potential use the speeds of past trips (`DrivenSpeeds`). The contexts
        keep the known speeds.
    controls
        Contexts have lights, stop signs and right of way as further features.
    free_flow
        Cars stop, brake for turns and lose time as in `energy.free_flow`.
    kinetic
        Share of the kinetic energy in the potential.

    Raises
    ------
    EvrouteError
        If ``controls`` is True and the network has none.
    """

    noun = "turns"

    def __init__(
        self,
        edges: EdgeSpace,
        table: TurnTable,
        *,
        braked: bool = False,
        learn_speeds: bool = False,
        controls: bool = False,
        free_flow: bool = False,
        kinetic: float = 1.0,
    ) -> None:
        self.edges = edges
        self.kinetic = kinetic
        self.table = table
        self.braked = braked
        self.learn_speeds = learn_speeds
        self.controls = controls
        self.energy = TurnEnergy(
            edges.network, edges.vehicle, table, edges.conditions, free_flow=free_flow
        )
        self._speeds = DrivenSpeeds(edges.network)
        self._speed_scale = float(context.build(edges.network).scale[SPEED])
        if controls and table.control is None:
            raise EvrouteError(
                f"the source of network '{edges.network.name}' has no lights, stop signs "
                "or right of way. Leave controls out"
            )
        self._energies = {"": self.energy, edges.vehicle.name: self.energy}

    @property
    def size(self) -> int:
        """Number of turns and starts."""
        return len(self.table)

    @cached_property
    def reference(self) -> Arms:
        """All turns and starts in free flow, with their energies at the expected speeds."""
        edges = self.edges.reference
        features = self._features(
            self._rows, edges.features[self.table.entered], self._speeds_of(edges.features)
        )
        return Arms(self._rows, features, self._expected_wh)

    @cached_property
    def _expected_wh(self) -> FloatArray:
        """(a,) energies of all turns and starts at the expected speeds, Wh."""
        return (
            self.energy.mean_wh(self._rows, self._expected_mps)
            if self._speeds.trips
            else self.energy.usual_wh
        )

    @cached_property
    def _expected_mps(self) -> FloatArray:
        """(n,) speeds of the map under the conditions, corrected by learned speeds, m/s."""
        return self._speeds.driven_mps(self.energy.usual_mps, self.edges.conditions.departed_s)

    @cached_property
    def time_s(self) -> FloatArray:
        """(n,) travel time of every edge at the expected speeds, s."""
        network = self.edges.network
        every = np.arange(network.n_edges)
        return self.energy.time_s(every, network.length_m, self._expected_mps)

    @cached_property
    def regressors(self) -> TurnRegressors:
        """Derivatives of the energy of turns by the coefficients of physics."""
        return TurnRegressors(self.energy)

    @property
    def lengthscale_factors(self) -> FloatArray:
        """(d,) `TURN_LENGTHSCALE` and `CONTROL_LENGTHSCALE` for turns, 1 for features of edges."""
        of_edges, own = len(context.NAMES), len(NAMES) - len(context.NAMES)
        return np.repeat(
            [1.0, TURN_LENGTHSCALE, CONTROL_LENGTHSCALE, 1.0],
            (of_edges, own, len(CONTEXTS) * self.controls, self.edges.temperature),
        )

    def prior(self, spread: str = DEFAULT_SPREAD) -> EnergyPrior:
        """Return the prior of turns: energies and their spread. ``spread`` is one of `SPREADS`."""
        return fit(self.energy, spread)

    def graph(self, of_edges: ArmGraph) -> ArmGraph:
        """Return the graph kernel of the turns, derived from the graph kernel of the edges."""
        return TurnGraph(of_edges, self.table.left, self.table.entered)

    def under(self, conditions: DrivingConditions) -> "TurnSpace":
        """Return the space under other conditions of the day, with the speeds learned so far."""
        space = TurnSpace(
            self.edges.under(conditions),
            self.table,
            braked=self.braked,
            learn_speeds=self.learn_speeds,
            controls=self.controls,
            free_flow=self.energy.free_flow,
            kinetic=self.kinetic,
        )
        space.restore(self.state())
        return space

    def with_potential(self, edges: EdgeSpace, kinetic: float) -> "TurnSpace":
        """Return the space with another potential. It shares all that does not depend on it.

        Parameters
        ----------
        edges
            Space of the same edges with their potential.
        kinetic
            Share of the kinetic energy in the potential.
        """
        _ = self._expected_wh, self.time_s, self.halt_wh, self._part_wh  # computed once for all
        other = copy(self)
        vars(other).pop("states", None)
        other.edges, other.kinetic = edges, kinetic
        return other

    def arms(self, request: Round) -> Arms:
        """Return the open turns and starts of a round, between two edges that are open.

        Their prior means are the prior means of the edges entered, plus the energy of turning.
        """
        return self._of(request.arms, request.vehicle, quarter_of(request.departed_s))[0]

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the total-energy potential over each open turn and start, (a,) Wh."""
        return self._of(request.arms, request.vehicle, quarter_of(request.departed_s))[1]

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight over the open turns, its start included."""
        everywhere = np.full(self.size, np.inf)
        everywhere[self.arms(request).id] = weights
        return self.search.route(everywhere, request.origin, request.destination)

    def arms_of_route(self, route: Route) -> IntArray:
        """Return the start and the turns of a route, (k,)."""
        return self.table.rows_along(route.rows)

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return feedback on edges as feedback on a start and the turns into the other edges."""
        rows = self.table.rows_along(feedback.id)
        known_mps, merged = self._known_speeds(feedback), self.edges.merged(feedback)
        speed_mps = self._driven_speeds(feedback, known_mps) if self.learn_speeds else known_mps
        energy_wh = feedback.energy_wh
        if self.braked:
            braked_wh = self._energy_of(feedback.vehicle).braked_wh(rows, speed_mps)
            energy_wh = energy_wh + braked_wh - np.append(braked_wh[1:], 0.0)
        return replace(
            feedback,
            id=rows,
            features=self._features(rows, merged.features, self._known_speeds(merged)),
            prior_mean_wh=feedback.prior_mean_wh
            + self._added_wh(feedback.vehicle, rows, known_mps, speed_mps),
            energy_wh=energy_wh,
        )

    def time_error(self, feedback: Feedback) -> float:
        """Return ``log(measured/expected time)`` on the edges of a trip that were driven before.

        NaN if they are less than half of its edges, or speeds are not learned.
        """
        return self._speeds.error(feedback, self._known_speeds(feedback))

    def state(self) -> State:
        """Return the learned speeds, or empty if speeds are not learned."""
        return self._speeds.state() if self.learn_speeds else {}

    def restore(self, state: State) -> None:
        """Restore the state of the space. Other entries are ignored."""
        if self.learn_speeds:
            self._speeds.restore(state)
            self._forget()

    def parts_wh(self, route: Route) -> dict[str, float]:
        """Return the prior energy of a route by cause, Wh each.

        ``auxiliary`` is for the expected time. ``turning`` is all else above eq. 8, in free flow at
        the drag of `free_flow`.
        """
        arms, stretches = self.arms_of_route(route), Stretches.of_route(self.edges.network, route)
        parts = self.edges.parts_wh(route)
        if self.energy.free_flow:
            parts |= self.energy.steady_wh(stretches, self._expected_mps)
        time_s = self.energy.time_s(stretches.edge, stretches.length_m, self._expected_mps)
        expected_wh = self._expected_wh[arms]
        if not route.whole:
            cut = np.unique([0, len(arms) - 1])
            ends = arms[cut].tolist(), stretches.from_m[cut].tolist(), stretches.to_m[cut].tolist()
            expected_wh[cut] = [self._part_wh(*end) for end in zip(*ends, strict=True)]
        parts["auxiliary"] = self.energy.vehicle.auxiliary_w * float(time_s.sum()) / J_PER_WH
        whole_wh = float(expected_wh.sum()) + float(self.halt_wh[route.edges[-1]])
        return parts | {"turning": whole_wh - sum(parts.values())}

    @cached_property
    def _part_wh(self) -> Callable[[int, float, float], float]:
        """`stretch_wh` of one arm and metres along its edge. The last ones are kept."""
        return lru_cache(KEPT_PARTS)(self._one_wh)

    def _one_wh(self, arm: int, from_m: float, to_m: float) -> float:
        one = Stretches(self.table.entered[[arm]], np.array([from_m]), np.array([to_m]))
        return float(self.stretch_wh(np.array([arm]), one)[0])

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) energy of all turns and starts with whole edges, as of `stretch_wh`, Wh."""
        return self._expected_wh

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the energy (k,) of parts of the edges of arms at expected speeds, Wh."""
        return self.energy.stretch_wh(arms, stretches, self._expected_mps)

    @property
    def halts(self) -> bool:
        """Whether trips end at standstill: in free flow."""
        return self.energy.free_flow

    @cached_property
    def halt_wh(self) -> FloatArray:
        """(n,) energy of coming to a standstill at the end of each edge, Wh, at most 0."""
        return self.energy.halt_wh(self._expected_mps) * self.halts

    def edge_belief(self, belief: Belief) -> Belief:
        """Return the posterior of each edge from all turns and starts (`over_edges`)."""
        edges, turns = self.edges.reference, self.reference
        return over_edges(self.table, belief, edges.prior_mean_wh, turns.prior_mean_wh)

    @property
    def search(self) -> Search:
        """The search over the turns."""
        return self.edges.search.by_turns

    @cached_property
    def states(self) -> ArmStates:
        """The ends of the edges, then their starts, with height and kinetic energy.

        The potential before a start is higher where the start takes less than the rise.
        """
        network, table = self.edges.network, self.table
        mass_kg = self.energy.vehicle.mass_kg
        kinetic_wh = 0.5 * mass_kg * self._expected_mps**2 / J_PER_WH
        height_wh = self.edges.states.state_wh
        after_wh = height_wh[network.head] + self.kinetic * kinetic_wh
        begin_wh = after_wh - self._expected_wh[table.n_turns :]
        before_wh = np.maximum(height_wh[network.tail], begin_wh)
        state_wh = np.concatenate([after_wh, before_wh])
        return ArmStates(table.entered, table.state_before, table.entered, state_wh)

    def arms_of_routes(self, edge: IntArray, start: IntArray) -> IntArray:
        """Return the turns of routes, each after its start."""
        return self.table.rows_along(edge, start)

    @cached_property
    def _rows(self) -> IntArray:
        return np.arange(self.size)

    def _driven_speeds(self, feedback: Feedback, known_mps: FloatArray) -> FloatArray:
        """Learn the speeds of a trip and return the expected speeds, (n,) m/s."""
        self._speeds.learn(feedback, known_mps)
        self._forget()
        return self._speeds.driven_mps(known_mps, feedback.departed_s)

    def _forget(self) -> None:
        """Drop the values that depend on learned speeds."""
        of_speeds = ("reference", "states", "time_s", "halt_wh", "_expected_wh", "_expected_mps")
        for name in ("_of", "_part_wh", *of_speeds):
            self.__dict__.pop(name, None)

    @cached_property
    def _of(self) -> Callable[[Arms, str, int | None], tuple[Arms, FloatArray]]:
        """`_make`, with the results of the last rounds kept."""
        return lru_cache(_KEPT_ROUNDS)(self._make)

    def _make(self, edges: Arms, vehicle: str, quarter: int | None) -> tuple[Arms, FloatArray]:
        """Return the turns and starts between open edges, and their potential, (a,) Wh."""
        place = np.full(self.table.n_edges, -1)
        place[edges.id] = np.arange(len(edges))
        rows = self._rows[(place[self.table.left] >= 0) & (place[self.table.entered] >= 0)]
        speed_mps, merged = self._known_speeds(edges), self.edges.merged(edges)
        driven_mps = self._speeds.driven_mps(
            speed_mps, None if quarter is None else quarter * QUARTER_S
        )
        entered = place[self.table.entered[rows]]
        added_wh = self._added_wh(vehicle, rows, speed_mps, driven_mps)
        arms = Arms(
            rows,
            self._features(rows, merged.features[entered], self._known_speeds(merged)),
            edges.prior_mean_wh[entered] + added_wh,
        )
        rise_wh = self._energy_of(vehicle).potential_wh(rows, driven_mps)
        starts = (rows >= self.table.n_turns) & self.energy.free_flow
        rise_wh[starts] = np.minimum(rise_wh, arms.prior_mean_wh)[starts]
        return arms, rise_wh

    def _known_speeds(self, given: Arms | Feedback) -> FloatArray:
        """Return the speeds in the contexts of edges, elsewhere the map's speeds, (n,) m/s."""
        known_mps = self.edges.network.speed_mps.copy()
        known_mps[given.id] = self._speeds_of(given.features)
        return known_mps

    def _speeds_of(self, features: FloatArray) -> FloatArray:
        return features[:, SPEED] * self._speed_scale

    def _features(self, rows: IntArray, of_edges: FloatArray, speed_mps: FloatArray) -> FloatArray:
        """Return contexts of rows, the temperature last, from contexts of edges entered, (k, d)."""
        entry_mps = np.where(rows < self.table.n_turns, speed_mps[self.table.left[rows]], 0.0)
        of_road, of_day = np.split(of_edges, [len(context.NAMES)], axis=1)
        own = [entry_mps / self._speed_scale, self.table.angle_rad[rows] / self.table.angle_scale]
        if self.controls and self.table.control is not None:
            own.append(contexts(self.table.control[rows]))
        return np.column_stack([of_road, *own, of_day])

    def _added_wh(
        self, vehicle: str, rows: IntArray, known_mps: FloatArray, driven_mps: FloatArray
    ) -> FloatArray:
        """Return the energy of turns at driven speeds minus eq. 8 at known speeds, (a,) Wh."""
        energy = self._energy_of(vehicle)
        return (
            energy.mean_wh(rows, driven_mps) - energy.edge_wh(known_mps)[self.table.entered[rows]]
        )

    def _energy_of(self, vehicle: str) -> TurnEnergy:
        if vehicle not in self._energies:
            self._energies[vehicle] = self.energy.with_vehicle(load_vehicle(vehicle))
        return self._energies[vehicle]
