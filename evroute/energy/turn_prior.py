"""Energy of turns: entering an edge, with the change of kinetic energy from the edge before it.

Every edge has its speed v. Entering edge e' from edge e takes

    F = m g dz' + m (v'^2 - v^2) / 2 + rolling + drag

at the wheels, to which the efficiencies of eq. 8 apply as a whole. A trip starts at v = 0. On an
edge of several slopes they apply to each piece, and to the change of speed as in `at_battery`. In
free flow they apply to each metre, and speeds change as in `energy.speed_change`. Drag is that of
the mean square of the speed, which is less than that of the speed between stops. With the
total-energy potential ``P(e) = m (g z_head + v_e^2 / 2)`` again no turn takes less than the
rise of P, and P telescopes along a route. A turn that is slower than both edges brakes and
accelerates in between, which loses ``m (min(v, v')^2 - v_turn^2) / 2`` times the round-trip loss of
the two efficiencies.

In free flow a trip also ends at v = 0 (`TurnEnergy.halt_wh`). Braking for the end returns the
kinetic energy times the recuperation efficiency, as braking for a turn does.

Speeds of turns are those of `crossings`.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray, distinct
from evroute.energy.braking import Braking
from evroute.energy.constants import J_PER_WH
from evroute.energy.crossings import speed_kept, stop_probability, turn_speed_mps
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import flow_on
from evroute.energy.longitudinal import (
    EnergyParts,
    at_battery,
    piece_energy,
    potential_wh,
    split_energy,
)
from evroute.energy.prior import EQ8_CONDITIONS, NOISE_SHARE, SPREADS, EnergyPrior, check_spread
from evroute.energy.speed_change import Ahead, Stretch, Work, distance_m
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.pieces import summed
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable

ALIKE_MPS = 1e-5
"""Difference of speeds between which a car does not change its speed, m/s."""


class TurnEnergy:
    """Energy of the turns and starts of a table for one vehicle, at given speeds of the edges.

    Parameters
    ----------
    network, table
        A network of n edges, and its turns and starts.
    vehicle
        The vehicle without payload, heating or cooling.
    conditions
        Conditions of the day. The methods take speeds after their speed factor.
    free_flow
        Cars reach their speeds, stop, brake for turns and lose time as in `free_flow`. The speeds
        are those between stops. They change over the metres of `energy.speed_change`, otherwise
        over the edge entered.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        table: TurnTable,
        conditions: DrivingConditions = EQ8_CONDITIONS,
        *,
        free_flow: bool = False,
    ) -> None:
        self.network = network
        self.free_flow = free_flow
        self._flow = flow_on(network) if free_flow else None
        self.table = table
        self.conditions = conditions
        self.vehicle = conditions.load(vehicle)
        self.at_wheels = replace(
            self.vehicle, propulsion_efficiency=1.0, recuperation_efficiency=1.0, auxiliary_w=0.0
        )
        self._headwind_mps = conditions.headwind_mps(network)
        self._density_kgpm3 = conditions.air_density_kgpm3
        self._height_wh = potential_wh(self.vehicle, network.climb_m)
        self._braking = Braking(self.vehicle, self._density_kgpm3, free_flow)

    def with_vehicle(self, vehicle: Vehicle) -> "TurnEnergy":
        """Return the energy of the same turns for another vehicle."""
        return TurnEnergy(
            self.network, vehicle, self.table, self.conditions, free_flow=self.free_flow
        )

    @property
    def usual_mps(self) -> FloatArray:
        """(n,) limits, or in free flow speeds between stops, times the day's factor, m/s."""
        of_roads = self.network.speed_mps if self._flow is None else self._flow.speed_mps
        return self.conditions.speed_factor * of_roads

    @cached_property
    def usual_wh(self) -> FloatArray:
        """(a,) energy of all rows of the table at `usual_mps`, Wh."""
        return self.mean_wh(np.arange(len(self.table)), self.usual_mps)

    def time_s(self, edge: IntArray, length_m: FloatArray, speed_mps: FloatArray) -> FloatArray:
        """Return the time that edges or parts of them take, (k,) s, with stops in free flow.

        Parameters
        ----------
        edge, length_m
            (k,) rows of the network, and the metres driven of each.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        going = 1.0 if self._flow is None else self._flow.going[edge]
        return length_m / (speed_mps[edge] * going)

    def potential_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the rise of the potential (a,) over some turns at edge speeds (n,), Wh."""
        return self._height_wh[self.table.entered[rows]] + self._gained_wh(rows, speed_mps)

    def mean_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the energy (a,) of some rows of the table at edge speeds (n,), Wh."""
        edge, place = np.arange(self.network.n_edges), self.table.entered[rows]
        if len(rows) < len(edge):
            edge, place = np.unique(place, return_inverse=True)
        time_s = self.time_s(edge, self.network.length_m[edge], speed_mps)
        auxiliary_wh = (self.vehicle.auxiliary_w * time_s / J_PER_WH)[place]
        wasted_wh = self.wasted_wh(rows, speed_mps)
        if self.free_flow:
            return self._along_road_wh(rows, speed_mps, auxiliary_wh + wasted_wh)
        return self._over_edge_wh(rows, edge, place, speed_mps) + auxiliary_wh + wasted_wh

    def _over_edge_wh(
        self, rows: IntArray, edge: IntArray, place: IntArray, speed_mps: FloatArray
    ) -> FloatArray:
        """Return the energy of turns with changes of speed over whole edges (`at_battery`), (a,).

        Parameters
        ----------
        rows
            (a,) rows of the table.
        edge, place
            (e,) edges that they enter, and (a,) the position of each among them.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        taken, returned = split_energy(*self._pieces(self.at_wheels, edge, speed_mps), len(edge))
        work_wh, *_ = at_battery(
            self.vehicle,
            taken.total_wh[place],
            returned.total_wh[place],
            self._gained_wh(rows, speed_mps),
        )
        return work_wh

    def _along_road_wh(
        self, rows: IntArray, speed_mps: FloatArray, other_wh: FloatArray
    ) -> FloatArray:
        """Return the energy of turns with changes of speed along the road, (a,) Wh.

        Cars accelerate along the road ahead, and brake before the turn. A start may take less than
        its potential rises, since nothing is driven before it.

        Parameters
        ----------
        rows
            (a,) rows of the table.
        speed_mps
            (n,) speeds of the edges, m/s.
        other_wh
            (a,) energy besides the work at the wheels, Wh.
        """
        entered, gained_wh = self.table.entered[rows], self._gained_wh(rows, speed_mps)
        changing = np.flatnonzero(gained_wh > 0.0)
        ahead = Ahead.of(
            entered[changing],
            distance_m(self.vehicle, gained_wh[changing]),
            self.network.length_m,
            lambda edges: self._onward(edges, speed_mps),
        )
        edge = distinct(np.concatenate([entered, ahead.edge]), self.network.n_edges)
        parts, of_piece = self._pieces(self.at_wheels, edge, speed_mps)
        work = Work.of(edge, self.network.length_m[edge], parts.total_wh, of_piece)
        place = np.searchsorted(edge, entered)
        energy_wh = work.battery_wh(self.vehicle)[place] + other_wh
        energy_wh += self._slowed_wh(rows, speed_mps)
        moving = rows[changing] < self.table.n_turns
        energy_wh[changing] += work.changes_wh(self.vehicle, gained_wh[changing], ahead, moving)
        return energy_wh

    def _onward(self, edges: IntArray, speed_mps: FloatArray) -> IntArray:
        """Return the edge by which the road goes on after edges (j,), -1 before another turn.

        It goes on if one turn alone leaves an edge, at one speed, and cars need not brake for it.
        """
        first, count = self.table.turns_from(edges)
        row = np.where(count == 1, first, 0)
        left, entered = self.table.left[row], self.table.entered[row]
        same = (count == 1) & (np.abs(speed_mps[left] - speed_mps[entered]) < ALIKE_MPS)
        return np.where(same & (self.wasted_wh(row, speed_mps) == 0.0), entered, -1)

    def stretch_wh(
        self, rows: IntArray, stretches: Stretches | None, speed_mps: FloatArray
    ) -> FloatArray:
        """Return the energy (k,) of rows of the table of whose edges only a part is driven, Wh.

        The energy of the turn itself counts as on the whole edge. In free flow the speed changes
        within the metres that are driven, and beyond where the road goes on behind them.

        Parameters
        ----------
        rows
            (k,) rows of the table.
        stretches
            The driven part of the edge that each row enters, or None for whole edges.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        if stretches is None:
            return self.mean_wh(rows, speed_mps)
        gained_wh, k = self._gained_wh(rows, speed_mps), len(rows)
        parts, place = self._pieces(self.at_wheels, stretches, speed_mps)
        if self.free_flow:
            work_wh = self._slowed_wh(rows, speed_mps)
            length_m, _, _ = stretches.pieces(self.network)
            along = Stretch(parts.total_wh, length_m, place, stretches.length_m)
            gained_wh = np.maximum(gained_wh, 0.0)
            ahead_m = distance_m(self.vehicle, gained_wh)
            moving = rows < self.table.n_turns
            beyond, beyond_wh = self._beyond_wh(stretches, gained_wh, moving, speed_mps)
            within_wh = gained_wh * (1.0 - beyond)
            work_wh += along.battery_wh(self.vehicle, within_wh, ahead_m, moving)
            work_wh += beyond_wh
        else:
            taken, returned = split_energy(parts, place, k)
            work_wh, *_ = at_battery(self.vehicle, taken.total_wh, returned.total_wh, gained_wh)
        time_s = self.time_s(stretches.edge, stretches.length_m, speed_mps)
        auxiliary_wh = self.vehicle.auxiliary_w * time_s / J_PER_WH
        return work_wh + auxiliary_wh + self.wasted_wh(rows, speed_mps)

    def _beyond_wh(
        self,
        stretches: Stretches,
        gained_wh: FloatArray,
        moving: BoolArray,
        speed_mps: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the energy of the share of changes of speed beyond edges, (k,) Wh.

        Parameters
        ----------
        stretches
            The driven parts of k edges.
        gained_wh
            (k,) gains of kinetic energy, Wh.
        moving
            (k,) cars that were driving before.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        share, added_wh = np.zeros(len(stretches)), np.zeros(len(stretches))
        ahead_m = distance_m(self.vehicle, gained_wh)
        to_end = stretches.to_m == self.network.length_m[stretches.edge]
        far = np.flatnonzero(to_end & (ahead_m > stretches.length_m))
        following = self._onward(stretches.edge[far], speed_mps)
        far, following = far[following >= 0], following[following >= 0]
        if len(far):
            left_m = ahead_m[far] - stretches.length_m[far]
            road = self.network.length_m
            ahead = Ahead.of(following, left_m, road, lambda edges: self._onward(edges, speed_mps))
            within_m = np.bincount(ahead.car, ahead.driven_m, minlength=len(far))
            share[far] = within_m / (within_m + stretches.length_m[far])
            edge = np.unique(ahead.edge)
            parts, of_piece = self._pieces(self.at_wheels, edge, speed_mps)
            work = Work.of(edge, road[edge], parts.total_wh, of_piece)
            beyond_wh = share[far] * gained_wh[far]
            added_wh[far] = work.changes_wh(self.vehicle, beyond_wh, ahead, moving[far])
        return share, added_wh

    def steady_wh(self, stretches: Stretches, speed_mps: FloatArray) -> dict[str, float]:
        """Return the energy of stretches at steady speeds by cause, Wh each.

        Parameters
        ----------
        stretches
            The driven parts of edges.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        parts, _ = self._pieces(self.vehicle, stretches, speed_mps)
        names = ("climb", "rolling", "drag")
        return {name: float(getattr(parts, f"{name}_wh").sum()) for name in names}

    def edge_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return eq. 8 of every edge (n,) at speeds (n,), Wh."""
        parts, place = self._pieces(self.vehicle, np.arange(self.network.n_edges), speed_mps)
        return summed(parts.total_wh, place, self.network.n_edges)

    def wasted_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the energy lost by braking for the turn itself, (a,) Wh, never negative."""
        return self.wasted_between_wh(
            rows, speed_mps[self.table.left[rows]], speed_mps[self.table.entered[rows]]
        )

    def wasted_between_wh(
        self, rows: IntArray, entry_mps: FloatArray, speed_mps: FloatArray
    ) -> FloatArray:
        """Return the energy lost by braking for turns, and by stops in free flow, (a,) Wh.

        Parameters
        ----------
        rows
            (a,) rows of the table.
        entry_mps
            (a,) speeds on the edge left, m/s.
        speed_mps
            (a,) speeds on the edge entered, m/s.
        """
        slower_mps = np.minimum(entry_mps, speed_mps)
        passing_mps = self._kept[rows] * slower_mps if self.free_flow else slower_mps
        turn_mps = np.minimum(turn_speed_mps(self.table.angle_rad[rows]), passing_mps)
        dip_wh = self._braking.round_trip_wh(slower_mps) - self._braking.round_trip_wh(turn_mps)
        if self.free_flow:
            dip_wh = dip_wh + self._stops[rows] * self._braking.round_trip_wh(turn_mps)
        return np.where(rows < self.table.n_turns, dip_wh, 0.0)

    @cached_property
    def _stops(self) -> FloatArray:
        """(a,) probability of a stop before each row of the table."""
        return stop_probability(self.table)

    @cached_property
    def _kept(self) -> FloatArray:
        """(a,) speed at each row of the table over the lower speed of its edges."""
        return speed_kept(self.network, self.table)

    def halt_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return the energy of braking from edge speeds (n,) to standstill, (n,) Wh, at most 0."""
        return self._braking.slowed_wh(speed_mps, np.zeros(len(speed_mps)))

    def _slowed_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the energy of braking from the speed of one edge to the next one's, (a,) Wh."""
        entry_mps, next_mps = speed_mps[self.table.left[rows]], speed_mps[self.table.entered[rows]]
        return self._braking.slowed_wh(np.maximum(entry_mps, next_mps), next_mps)

    def braked_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the energy regained by slowing down to the turn speed, (a,) Wh, never positive."""
        entry_mps, next_mps = speed_mps[self.table.left[rows]], speed_mps[self.table.entered[rows]]
        turn_mps = np.minimum(
            np.minimum(turn_speed_mps(self.table.angle_rad[rows]), next_mps), entry_mps
        )
        slowed_wh = 0.5 * self.vehicle.mass_kg * (entry_mps**2 - turn_mps**2) / J_PER_WH
        return np.where(
            rows < self.table.n_turns, -self.vehicle.recuperation_efficiency * slowed_wh, 0.0
        )

    def _gained_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        kinetic_wh = self._braking.kinetic_wh(speed_mps)
        before_wh = np.where(rows < self.table.n_turns, kinetic_wh[self.table.left[rows]], 0.0)
        return kinetic_wh[self.table.entered[rows]] - before_wh

    def _pieces(
        self, vehicle: Vehicle, edge: IntArray | Stretches, speed_mps: FloatArray
    ) -> tuple[EnergyParts, IntArray]:
        row = edge.edge if isinstance(edge, Stretches) else edge
        return piece_energy(
            self.network,
            vehicle,
            edge,
            speed_mps[row] if self._flow is None else speed_mps[row] * self._flow.rushing[row],
            headwind_mps=self._headwind_mps[row],
            air_density_kgpm3=self._density_kgpm3,
        )


def fit(energy: TurnEnergy, spread: str) -> EnergyPrior:
    """Return the prior of all turns and starts at the speed limits. ``spread`` is one of `SPREADS`.

    If the spread follows the dissipated energy of the turn, the noise does too, with the root mean
    square of the paper. Otherwise the noise is the paper's on every turn.

    Raises
    ------
    UnknownNameError
        If the spread is unknown. The message lists the names.
    """
    mean_wh, speed_mps = energy.usual_wh, energy.usual_mps
    rise_wh = energy.potential_wh(np.arange(len(energy.table)), speed_mps)
    starts = slice(energy.table.n_turns, None)
    rise_wh[starts] = np.minimum(rise_wh[starts], mean_wh[starts])
    edge_wh = energy.edge_wh(speed_mps)
    std_wh = SPREADS[check_spread(spread)](edge_wh[energy.table.entered], mean_wh - rise_wh)
    noise_wh = NOISE_SHARE * edge_wh.std()
    scale_wh = np.sqrt(np.mean(std_wh**2)) or 1.0  # all turns alike
    return EnergyPrior(mean_wh, std_wh, noise_wh * std_wh / scale_wh, rise_wh)
