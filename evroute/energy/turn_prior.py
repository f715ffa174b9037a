"""Energy of turns: entering an edge, with the change of kinetic energy from the edge before it.

Every edge has its speed v. Entering edge e' from edge e takes

    F = m g dz' + m (v'^2 - v^2) / 2 + rolling + drag

at the wheels, to which the efficiencies of eq. 8 apply as a whole. A trip starts at v = 0. On an
edge of several slopes they apply to each piece, and to the change of speed as in `at_battery`. In
free flow they apply to each metre, and speeds change as in `energy.speed_change`. With the
total-energy potential ``P(e) = m (g z_head + v_e^2 / 2)`` again no turn takes less than the
rise of P, and P telescopes along a route. A turn that is slower than both edges brakes and
accelerates in between, which loses ``m (min(v, v')^2 - v_turn^2) / 2`` times the round-trip loss of
the two efficiencies.

In free flow a trip also ends at v = 0 (`TurnEnergy.halt_wh`). Braking for the end returns the
kinetic energy times the recuperation efficiency, as braking for a turn does.

The speed of a turn by angle theta is the speed on an arc that leaves either road `CORNER_M` before
the corner, radius ``CORNER_M / tan(theta / 2)``, at a lateral acceleration of `LATERAL_MPS2`, the
limit that SUMO's netconvert sets (``junctions.limit-turn-speed``).
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from evroute.arrays import FloatArray, IntArray, distinct
from evroute.energy.constants import J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.free_flow import BRAKING, speed_factors, stop_probability
from evroute.energy.longitudinal import EnergyParts, piece_energy, potential_wh, split_energy
from evroute.energy.prior import EQ8_CONDITIONS, NOISE_SHARE, SPREADS, EnergyPrior, check_spread
from evroute.energy.speed_change import Ahead, Stretch, Work, distance_m
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.pieces import summed
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable

CORNER_M = 8.0
LATERAL_MPS2 = 5.5


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
        Cars stop, brake for turns and lose time as in `free_flow`. The speeds are those between.
        Speeds change over the metres of `energy.speed_change`, otherwise over the edge entered.
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
        self.table = table
        self.conditions = conditions
        self.vehicle = conditions.load(vehicle)
        self.at_wheels = replace(
            self.vehicle, propulsion_efficiency=1.0, recuperation_efficiency=1.0, auxiliary_w=0.0
        )
        self._headwind_mps = conditions.headwind_mps(network)
        self._density_kgpm3 = conditions.air_density_kgpm3
        self._height_wh = potential_wh(self.vehicle, network.climb_m)

    def with_vehicle(self, vehicle: Vehicle) -> "TurnEnergy":
        """Return the energy of the same turns for another vehicle."""
        return TurnEnergy(
            self.network, vehicle, self.table, self.conditions, free_flow=self.free_flow
        )

    @property
    def limits_mps(self) -> FloatArray:
        """(n,) speed limits times the speed factor of the conditions, m/s."""
        return self.conditions.speed_factor * self.network.speed_mps

    @cached_property
    def limits_wh(self) -> FloatArray:
        """(a,) energy of all rows of the table at `limits_mps`, Wh."""
        return self.mean_wh(np.arange(len(self.table)), self.limits_mps)

    def potential_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the rise of the potential (a,) over some turns at edge speeds (n,), Wh."""
        return self._height_wh[self.table.entered[rows]] + self._gained_wh(rows, speed_mps)

    def mean_wh(self, rows: IntArray, speed_mps: FloatArray) -> FloatArray:
        """Return the energy (a,) of some rows of the table at edge speeds (n,), Wh."""
        edge, place = np.arange(self.network.n_edges), self.table.entered[rows]
        if len(rows) < len(edge):
            edge, place = np.unique(place, return_inverse=True)
        time_s = self.network.length_m[edge] / speed_mps[edge]
        if self.free_flow:
            time_s = time_s / speed_factors(self.network)[edge]
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
        """Return the energy of turns with changes of speed along the road ahead, (a,) Wh.

        A car that brakes beyond the edge saves work there, which counts as far as the edge and the
        turn lose energy: no turn takes less than the potential rises. A start may take less, since
        nothing is driven before it.

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
        changing = np.flatnonzero(gained_wh)
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
        energy_wh[changing] += work.changes_wh(self.vehicle, gained_wh[changing], ahead)
        rise_wh = self._height_wh[entered] + gained_wh
        least_wh = np.minimum(rise_wh, work.at_wheels_wh[place] + gained_wh)
        return np.where(rows < self.table.n_turns, np.maximum(energy_wh, least_wh), energy_wh)

    def _onward(self, edges: IntArray, speed_mps: FloatArray) -> IntArray:
        """Return the edge by which the road goes on after edges (j,), -1 before another turn.

        It goes on if one turn alone leaves an edge, at one speed, and cars need not brake for it.
        """
        first, count = self.table.turns_from(edges)
        row = np.where(count == 1, first, 0)
        left, entered = self.table.left[row], self.table.entered[row]
        same = (count == 1) & (speed_mps[left] == speed_mps[entered])
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
            length_m, _, _ = stretches.pieces(self.network)
            along = Stretch(parts.total_wh, length_m, place, stretches.length_m)
            ahead_m = distance_m(self.vehicle, gained_wh)
            beyond, beyond_wh = self._beyond_wh(stretches, ahead_m, gained_wh, speed_mps)
            work_wh = along.battery_wh(self.vehicle, gained_wh * (1.0 - beyond), ahead_m)
            work_wh += beyond_wh
        else:
            taken, returned = split_energy(parts, place, k)
            work_wh, *_ = at_battery(self.vehicle, taken.total_wh, returned.total_wh, gained_wh)
        time_s = stretches.length_m / speed_mps[stretches.edge]
        if self.free_flow:
            time_s = time_s / speed_factors(self.network)[stretches.edge]
        auxiliary_wh = self.vehicle.auxiliary_w * time_s / J_PER_WH
        return work_wh + auxiliary_wh + self.wasted_wh(rows, speed_mps)

    def _beyond_wh(
        self,
        stretches: Stretches,
        ahead_m: FloatArray,
        gained_wh: FloatArray,
        speed_mps: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the energy of the share of changes of speed beyond edges, (k,) Wh.

        Parameters
        ----------
        stretches
            The driven parts of k edges.
        ahead_m, gained_wh
            (k,) metres in which the speeds change, and gains of kinetic energy, Wh.
        speed_mps
            (n,) speeds of the edges, m/s.
        """
        share, added_wh = np.zeros(len(stretches)), np.zeros(len(stretches))
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
            added_wh[far] = work.changes_wh(self.vehicle, share[far] * gained_wh[far], ahead)
        return share, added_wh

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
        turn_mps = np.minimum(turn_speed_mps(self.table.angle_rad[rows]), slower_mps)
        dip_wh = self._round_trip_wh(slower_mps) - self._round_trip_wh(turn_mps)
        if self.free_flow:
            dip_wh = BRAKING * dip_wh + self._stops[rows] * self._round_trip_wh(turn_mps)
        return np.where(rows < self.table.n_turns, dip_wh, 0.0)

    @cached_property
    def _stops(self) -> FloatArray:
        """(a,) probability of a stop before each row of the table."""
        return stop_probability(self.table.control, len(self.table))

    def halt_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return the energy of braking from edge speeds (n,) to standstill, (n,) Wh, at most 0."""
        kinetic_wh = 0.5 * self.vehicle.mass_kg * speed_mps**2 / J_PER_WH
        return -self.vehicle.recuperation_efficiency * kinetic_wh

    def _round_trip_wh(self, speed_mps: FloatArray) -> FloatArray:
        """Return the energy lost by stopping from speeds and reaching them again, (a,) Wh."""
        lost = 1.0 / self.vehicle.propulsion_efficiency - self.vehicle.recuperation_efficiency
        return 0.5 * self.vehicle.mass_kg * speed_mps**2 / J_PER_WH * lost

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
        kinetic_wh = 0.5 * self.vehicle.mass_kg * speed_mps**2 / J_PER_WH
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
            speed_mps[row],
            headwind_mps=self._headwind_mps[row],
            air_density_kgpm3=self._density_kgpm3,
        )


def at_battery(
    vehicle: Vehicle, taken_wh: FloatArray, returned_wh: FloatArray, gained_wh: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the energy of work at the wheels with a change of speed, (a,) Wh, and its factors.

    A car that slows down saves work on the pieces that take energy. One that speeds up is helped by
    the pieces that return some. Work and change of speed are joined there, or, where an edge has no
    such piece, over the whole edge, and divided or multiplied by an efficiency by their sign.

    Parameters
    ----------
    vehicle
        Efficiencies.
    taken_wh, returned_wh
        (a,) work at the wheels over the pieces that take energy, >= 0, and return some, <= 0, Wh.
    gained_wh
        (a,) gain of kinetic energy, Wh.

    Returns
    -------
    energy_wh
        (a,) energy from the battery, Wh.
    of_gain, of_taken, of_returned
        (a,) factors of the gain and of the two kinds of work.
    """
    slows = gained_wh < 0.0
    drive, recuperate = 1.0 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency
    opposite_wh = np.where(slows, taken_wh, returned_wh)
    apart = opposite_wh != 0.0
    joined_wh = np.where(apart, opposite_wh, taken_wh + returned_wh) + gained_wh
    factor, other = np.where(joined_wh >= 0, drive, recuperate), np.where(slows, recuperate, drive)
    rest_wh = np.where(apart, np.where(slows, returned_wh, taken_wh), 0.0)
    of_taken = np.where(apart & ~slows, other, factor)
    of_returned = np.where(apart & slows, other, factor)
    return joined_wh * factor + rest_wh * other, factor, of_taken, of_returned


def turn_speed_mps(angle_rad: FloatArray) -> FloatArray:
    """Return the speed of turns by angles (a,), m/s. Infinite straight on."""
    with np.errstate(divide="ignore"):
        radius_m = CORNER_M / np.tan(angle_rad / 2)
    return np.sqrt(LATERAL_MPS2 * np.maximum(radius_m, 0.0))


def fit(energy: TurnEnergy, spread: str) -> EnergyPrior:
    """Return the prior of all turns and starts at the speed limits. ``spread`` is one of `SPREADS`.

    If the spread follows the dissipated energy of the turn, the noise does too, with the root mean
    square of the paper. Otherwise the noise is the paper's on every turn.

    Raises
    ------
    UnknownNameError
        If the spread is unknown. The message lists the names.
    """
    mean_wh, speed_mps = energy.limits_wh, energy.limits_mps
    rise_wh = energy.potential_wh(np.arange(len(energy.table)), speed_mps)
    starts = slice(energy.table.n_turns, None)
    rise_wh[starts] = np.minimum(rise_wh[starts], mean_wh[starts])
    edge_wh = energy.edge_wh(speed_mps)
    std_wh = SPREADS[check_spread(spread)](edge_wh[energy.table.entered], mean_wh - rise_wh)
    noise_wh = NOISE_SHARE * edge_wh.std()
    scale_wh = np.sqrt(np.mean(std_wh**2)) or 1.0  # all turns alike
    return EnergyPrior(mean_wh, std_wh, noise_wh * std_wh / scale_wh, rise_wh)
