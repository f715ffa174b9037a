"""Terms of arms at a pace, over whole edges or the parts of them that are driven."""

from functools import partial

import numpy as np

from evroute.arrays import FloatArray, IntArray, by_row
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import flow_on
from evroute.energy.turn_prior import TurnEnergy
from evroute.energy.vehicle import Vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    FADE,
    TURNING,
    DrivenEdges,
    departed,
    edge_terms,
    full_battery_term,
    halted,
    returned_by_pieces,
    with_level,
)
from evroute.methods.setting import Setting
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.of_physics import of_any_date, shared_edges, shared_turns


def terms_at_pace(
    vehicle: Vehicle,
    network: RoadNetwork,
    edge: IntArray,
    moving: FloatArray,
    conditions: DrivingConditions,
    stretches: Stretches | None,
    pace_spm: FloatArray,
) -> FloatArray:
    """Return the terms of edges, (k, 12).

    Parameters
    ----------
    vehicle, network
        Car and roads.
    edge
        (k,) network rows.
    moving
        (k,) mean speed over the speed that has the mean drag.
    conditions
        Conditions of the day.
    stretches
        The driven parts of the edges, or None for whole edges.
    pace_spm
        (k,) paces, s/m.
    """
    length_m, up_m = network.length_m[edge], network.ascent_m[edge]
    lost_m = network.descent_m[edge]
    if stretches is not None:
        length_m, (up_m, lost_m) = stretches.length_m, stretches.heights(network)
    driven = DrivenEdges(
        length_m,
        up_m,
        0.0 - lost_m,
        pace_spm / conditions.speed_factor,
        conditions.headwind_mps(network)[edge],
        moving,
    )
    return edge_terms(
        vehicle,
        driven,
        auxiliary_w=conditions.auxiliary_w,
        heating=conditions.heating(vehicle).per_minute,
        air_density_kgpm3=conditions.air_density_kgpm3,
        payload_kg=conditions.payload_kg,
    )


class ArmTerms:
    """Terms of the arms of a network: its edges, or its turns with the driver's physics.

    Parameters
    ----------
    setting
        Network and vehicle.
    driving
        Whether the arms are turns, with a term of stops and turns.
    prior
        Prior of the coefficients.
    map_pace
        Pace of the network before any trip.

    Attributes
    ----------
    edge
        (a,) edge that each arm enters.
    """

    def __init__(
        self, setting: Setting, driving: bool, prior: CoefficientPrior, map_pace: Pace
    ) -> None:
        network = setting.network
        self.setting, self.driving = setting, driving
        self.prior = prior
        self._map_spm = map_pace.paces(np.arange(network.n_edges))
        self.edge, self._moving = np.arange(network.n_edges), np.ones(network.n_edges)
        if driving:
            self.edge, self._moving = setting.turn_table.entered, flow_on(network).moving

    def of_trip(
        self, pace: Pace, trip: MeasuredTrip, known: DrivingConditions, b: FloatArray
    ) -> FloatArray:
        """Return the terms of a trip by the values known at its departure, (k, p).

        Parameters
        ----------
        pace
            Learned pace of the edges.
        trip
            Trip on the network.
        known
            Its conditions.
        b
            (p,) coefficients, by which the charge falls along the trip.
        """
        arms, stretches = self.along(trip.edge), trip.stretches(self.setting.network)
        terms = self.at(pace, arms, known, stretches=stretches)
        if np.isfinite(trip.soc_percent):
            expected_wh = terms @ b * (trip.routes == 1)  # the charge at departure on all routes
            used_wh = np.cumsum(expected_wh) - expected_wh
            percent = trip.soc_percent - used_wh / (self.setting.vehicle.battery_kwh * 10.0)
            terms = self.at(pace, arms, known, np.minimum(percent, 100.0), stretches)
        return terms

    def row(
        self, pace: Pace, trip: MeasuredTrip, known: DrivingConditions, b: FloatArray
    ) -> FloatArray:
        """Return the terms of a whole trip by the values known at its departure, (p,).

        Parameters
        ----------
        pace, trip, known, b
            As in `of_trip`.
        """
        terms = self.of_trip(pace, trip, known, b)
        total = self.halted(terms.sum(axis=0), trip.edge, known)
        heating = known.heating(self.setting.vehicle)
        return departed(total / trip.routes, heating, self.prior)

    def along(self, edge: IntArray) -> IntArray:
        """Return the arms of a trip over edges (k,), (k,)."""
        if not self.driving:
            return edge
        return self.setting.turn_table.rows_along(edge, self._begins(edge))

    def halted(
        self, total: FloatArray, edge: IntArray, conditions: DrivingConditions
    ) -> FloatArray:
        """Return the terms of a trip that ends at standstill, (p,).

        Parameters
        ----------
        total
            (p,) sum of the terms of its arms.
        edge
            (k,) its edges. Each of several routes one after another ends at standstill.
        conditions
            Conditions of the day.
        """
        if not self.driving:
            return total
        last = np.append(self._begins(edge)[1:], len(edge)) - 1
        return halted(total, self.halt_wh(conditions)[edge[last]].sum(), self.prior)

    def halt_wh(self, conditions: DrivingConditions) -> FloatArray:
        """Return the energy of coming to a standstill at the end of each edge, (n,) Wh.

        It is empty at steady speed, where trips do not end at standstill.

        Parameters
        ----------
        conditions
            Conditions of the day.
        """
        if not self.driving:
            return np.empty(0)
        energy = self._energy(conditions)
        return energy.halt_wh(energy.usual_mps)

    def space(
        self, conditions: DrivingConditions, junction_wh: FloatArray, b: FloatArray
    ) -> SearchSpace:
        """Return the arms with the potential of a belief.

        Parameters
        ----------
        conditions
            Conditions of the day.
        junction_wh
            (v,) potential of the junctions, Wh.
        b
            (p,) coefficients. The coefficient of stops and turns is the share of the kinetic
            energy.
        """
        roads = self.setting.network, self.setting.vehicle, of_any_date(conditions)
        edges = shared_edges(*roads).with_potential(junction_wh, conditions)
        if not self.driving:
            return edges
        return shared_turns(*roads).with_potential(edges, float(b[TURNING]))

    def _begins(self, edge: IntArray) -> IntArray:
        """Return the positions at which the routes of a trip over edges (k,) begin."""
        return np.append(0, np.flatnonzero(~self.setting.network.has_turns(edge)) + 1)

    def _energy(self, conditions: DrivingConditions) -> TurnEnergy:
        setting = self.setting
        table, vehicle = setting.turn_table, setting.vehicle
        return TurnEnergy(setting.network, vehicle, table, conditions, free_flow=True)

    def at(
        self,
        pace: Pace,
        arms: IntArray,
        conditions: DrivingConditions,
        soc_percent: FloatArray | float = np.nan,
        stretches: Stretches | None = None,
    ) -> FloatArray:
        """Return the terms of arms, (k, p).

        Parameters
        ----------
        pace
            Learned pace of the edges.
        arms
            (k,) arms.
        conditions
            Conditions of the day.
        soc_percent
            (k,) charge at the start of each arm, or one for all, %, or NaN where unknown.
        stretches
            The driven parts of the edges, or None for whole edges.
        """
        network, vehicle = self.setting.network, self.setting.vehicle
        edge, prior = self.edge[arms], self.prior.mean
        at_pace = partial(
            terms_at_pace, vehicle, network, edge, self._moving[edge], conditions, stretches
        )
        terms = at_pace(pace.paces(edge, conditions.departed_s))
        if self.driving:
            energy = self._energy(conditions)
            plan_wh = energy.stretch_wh(arms, stretches, energy.usual_mps)
            at_map_pace = at_pace(self._map_spm[edge])
            terms = np.column_stack([terms, plan_wh - by_row(at_map_pace, prior[:TURNING])])
        if np.isfinite(soc_percent).any() and stretches is not None:
            whole = self.at(pace, arms, conditions, soc_percent)
            terms[:, FADE] = stretches.share(network) * whole[:, FADE]
        elif np.isfinite(soc_percent).any():
            returned_wh = returned_by_pieces(
                network, edge, terms, prior, 1.0 + conditions.payload_kg / vehicle.mass_kg
            )
            terms[:, FADE] = full_battery_term(vehicle, soc_percent, returned_wh)
        return with_level(terms, self.prior)
