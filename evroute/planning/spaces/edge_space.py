"""EdgeSpace: every edge of a network is an arm."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import (
    COMFORT_C,
    TEMPERATURE_UNIT_K,
    DrivingConditions,
    temperature_feature,
)
from evroute.energy.longitudinal import EnergyParts, piece_energy, potential_wh
from evroute.energy.prior import (
    DEFAULT_SPREAD,
    EQ8_CONDITIONS,
    EnergyPrior,
    edge_parts,
    spread_around,
)
from evroute.energy.regressors import Regressors
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.model.base import State
from evroute.network import context
from evroute.network.heights.pieces import summed
from evroute.network.heights.stretches import Stretches
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import SPEED
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_states import ArmStates

if TYPE_CHECKING:
    from evroute.model.kernels.arms import ArmGraph


TEMPERATURE_STEP_K, SPEED_STEP_MPS = 1.0, 5 / 3.6
"""Grid of contexts that vary: 1 K and 5 km/h."""
KEPT_PARTS = 1000
"""Number of parts of edges whose energies by cause are kept."""


Varied = TypeVar("Varied", Arms, Feedback)


class EdgeSpace:
    """The arm space whose arms are the n edges of a network. See `arm_space.SearchSpace`.

    Parameters
    ----------
    network, vehicle
        Roads, and the vehicle that drives them.
    conditions
        Conditions of the day in the prior and the potential.
    temperature
        Whether contexts have the temperature as a further feature. Its effect is then learned: the
        temperature of the day chooses the contexts and leaves the prior as it is.
    junction_wh
        (v,) potential of the junctions, Wh. The loaded vehicle's potential at their heights if
        None.
    exact_contexts
        With ``temperature``: keep every context. Otherwise temperatures merge on a grid of 1 K and
        speeds other than the map's on one of 5 km/h, so that arms return.
    """

    noun = "edges"

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        *,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        temperature: bool = False,
        junction_wh: FloatArray | None = None,
        exact_contexts: bool = False,
    ) -> None:
        self.network = network
        self.vehicle = vehicle
        self.conditions = replace(conditions, temperature_c=None) if temperature else conditions
        day_c = conditions.temperature_c
        self._feature_c = COMFORT_C if day_c is None else day_c
        self.temperature = temperature
        self.junction_wh = junction_wh
        self.exact_contexts = exact_contexts

    @property
    def edges(self) -> "EdgeSpace":
        """The space itself."""
        return self

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.network.n_edges

    @cached_property
    def search(self) -> Search:
        """A search over all edges."""
        return Search(LineGraph.from_network(self.network))

    @cached_property
    def parts(self) -> EnergyParts:
        """Eq. 8 of every edge by cause, under the conditions of the space."""
        return edge_parts(self.network, self.vehicle, self.conditions)

    @cached_property
    def piece_wh(self) -> FloatArray:
        """(q,) eq. 8 of every piece of the network's profile, or of every edge without one, Wh."""
        parts, _ = piece_energy(
            self.network,
            self._loaded,
            np.arange(self.size),
            self.conditions.speed_factor * self.network.speed_mps,
            headwind_mps=self.conditions.headwind_mps(self.network),
            air_density_kgpm3=self.conditions.air_density_kgpm3,
        )
        return parts.total_wh

    @cached_property
    def reference(self) -> Arms:
        """All edges in free flow. At the temperature of the day, or 21 °C, if it is a feature."""
        features = context.build(self.network).features
        if self.temperature:
            features = np.column_stack(
                [features, np.full(self.size, temperature_feature(self._feature_c))]
            )
        return Arms(np.arange(self.size), features, self.parts.total_wh)

    @property
    def time_s(self) -> FloatArray:
        """(n,) travel time of every edge at the speeds of the map under the conditions, s."""
        return self.network.time_s / self.conditions.speed_factor

    @cached_property
    def regressors(self) -> Regressors:
        """Derivatives of eq. 8 by its coefficients."""
        return Regressors(self.network, self.vehicle)

    @property
    def lengthscale_factors(self) -> FloatArray:
        """(d,) 1 for each feature."""
        return np.ones(self.reference.features.shape[1])

    def prior(self, spread: str = DEFAULT_SPREAD) -> EnergyPrior:
        """Return the prior of every edge: eq. 8 and its spread. ``spread`` is one of `SPREADS`."""
        return spread_around(self.parts.total_wh, self._potentials_wh[""], spread)

    def graph(self, of_edges: "ArmGraph") -> "ArmGraph":
        """Return the graph kernel of the edges unchanged."""
        return of_edges

    def under(self, conditions: DrivingConditions) -> "EdgeSpace":
        """Return the space under other conditions of the day."""
        return EdgeSpace(
            self.network,
            self.vehicle,
            conditions=conditions,
            temperature=self.temperature,
            exact_contexts=self.exact_contexts,
        )

    def with_potential(self, junction_wh: FloatArray, conditions: DrivingConditions) -> "EdgeSpace":
        """Return the space with another potential. It shares all that does not depend on it.

        Parameters
        ----------
        junction_wh
            (v,) potential of the junctions, Wh.
        conditions
            Conditions of the space at any date and departure.
        """
        _ = self.parts, self.piece_wh, self._headwind_mps  # computed once for all
        _ = self._loaded, self._part_sums
        other = copy(self)
        vars(other).pop("states", None)
        other.junction_wh, other.conditions = junction_wh, conditions
        return other

    def with_exact_contexts(self) -> "EdgeSpace":
        """Return the space that keeps every context. It shares all that does not depend on it."""
        other = copy(self)
        other.exact_contexts = True
        return other

    def arms(self, request: Round) -> Arms:
        """Return the open edges of a round in their merged contexts."""
        return self.merged(request.arms)

    def potential_wh(self, request: Round) -> FloatArray:
        """Return ``m g dz`` of the open edges of a round, (a,) Wh."""
        name = request.vehicle
        if name not in self._potentials_wh:
            self._potentials_wh[name] = potential_wh(
                self.conditions.load(load_vehicle(name)), self.network.climb_m
            )
        return self._potentials_wh[name][request.arms.id]

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight over the open edges, ``weights`` (a,)."""
        everywhere = np.full(self.size, np.inf)
        everywhere[request.arms.id] = weights
        return self.search.route(everywhere, request.origin, request.destination)

    def arms_of_route(self, route: Route) -> IntArray:
        """Return the edges of a route, (k,)."""
        return route.rows

    def feedback(self, feedback: Feedback) -> Feedback:
        """Return feedback on edges in their merged contexts."""
        return self.merged(feedback)

    def merged(self, varied: Varied) -> Varied:
        """Return arms or feedback with temperature and changed speeds on the grid."""
        if self.exact_contexts or not self.temperature:
            return varied
        kelvin = TEMPERATURE_STEP_K / TEMPERATURE_UNIT_K
        step = SPEED_STEP_MPS / context.build(self.network).scale[SPEED]
        features = varied.features.copy()
        features[:, -1] = kelvin * np.round(features[:, -1] / kelvin)
        changed = features[:, SPEED] != self.reference.features[varied.id, SPEED]
        features[changed, SPEED] = step * np.maximum(np.round(features[changed, SPEED] / step), 1.0)
        return replace(varied, features=features)

    def state(self) -> State:
        """Return an empty state: the space learns nothing itself."""
        return {}

    def restore(self, state: State) -> None:
        """Do nothing: the model has the whole state."""

    def parts_wh(self, route: Route) -> dict[str, float]:
        """Return eq. 8 of a route by cause, Wh each. ``held`` only where it is on some edge."""
        parts, rows = self.parts, route.rows
        cut = None
        if not route.whole:
            ends = np.unique([0, len(rows) - 1])
            cut = Stretches.of_route(self.network, route)[ends]
            rows = rows[1:-1]
        names = [name for name in parts.__slots__ if name != "held_wh" or parts.held_wh.any()]
        found = {name: float(getattr(parts, name)[rows].sum()) for name in names}
        if cut is not None:
            for part in zip(cut.edge.tolist(), cut.from_m.tolist(), cut.to_m.tolist(), strict=True):
                of_part = self._part_sums(*part)
                found = {name: sum_wh + of_part[name] for name, sum_wh in found.items()}
        return {name.removesuffix("_wh"): sum_wh for name, sum_wh in found.items()}

    @cached_property
    def _part_sums(self) -> Callable[[int, float, float], dict[str, float]]:
        """Eq. 8 by cause of an edge and metres along it, Wh. The last ones are kept."""

        @lru_cache(KEPT_PARTS)
        def sums(edge: int, from_m: float, to_m: float) -> dict[str, float]:
            one = Stretches(np.array([edge]), np.array([from_m]), np.array([to_m]))
            parts, _ = self.stretch_parts(one)
            return {name: float(getattr(parts, name).sum()) for name in parts.__slots__}

        return sums

    @property
    def whole_wh(self) -> FloatArray:
        """(n,) eq. 8 of whole edges, as of `stretch_wh`, Wh."""
        return self.parts.total_wh

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return eq. 8 of parts of edges, (k,) Wh. The arms are these edges."""
        parts, place = self.stretch_parts(stretches)
        return summed(parts.total_wh, place, len(stretches))

    def stretch_parts(self, stretches: Stretches) -> tuple[EnergyParts, IntArray]:
        """Return eq. 8 of the pieces of parts of edges by cause, and each piece's stretch, (q,)."""
        return piece_energy(
            self.network,
            self._loaded,
            stretches,
            self.conditions.speed_factor * self.network.speed_mps[stretches.edge],
            headwind_mps=self._headwind_mps[stretches.edge],
            air_density_kgpm3=self.conditions.air_density_kgpm3,
        )

    @cached_property
    def _headwind_mps(self) -> FloatArray:
        return self.conditions.headwind_mps(self.network)

    @property
    def halts(self) -> bool:
        """False: eq. 8 has no kinetic energy."""
        return False

    @property
    def halt_wh(self) -> FloatArray:
        """(n,) zeros."""
        return np.zeros(self.size)

    def edge_belief(self, belief: Belief) -> Belief:
        """Return the posterior of the edges unchanged."""
        return belief

    @cached_property
    def states(self) -> ArmStates:
        """The junctions at both ends of the edges, with their potential."""
        network, height_wh = self.network, self.junction_wh
        if height_wh is None:
            height_wh = potential_wh(self._loaded, network.elevation_m)
        return ArmStates(np.arange(self.size), network.tail, network.head, height_wh)

    def arms_of_routes(self, edge: IntArray, start: IntArray) -> IntArray:
        """Return the edges unchanged."""
        return edge

    @cached_property
    def _loaded(self) -> Vehicle:
        return self.conditions.load(self.vehicle)

    @cached_property
    def _potentials_wh(self) -> dict[str, FloatArray]:
        """(n,) ``m g dz`` by the name of the vehicle. The empty name is the space's vehicle."""
        own = potential_wh(self._loaded, self.network.climb_m)
        return {"": own, self.vehicle.name: own}
