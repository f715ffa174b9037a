"""Energy of changes of speed, over the metres of the road in which a car changes its speed.

A car that enters an edge at speed u and drives it at a higher speed v accelerates over the metres
``d = (v^2 - u^2) / (2 a)`` of the road ahead (`Ahead`). Its kinetic energy grows evenly along them.
On each metre the gain and the work of driving are joined before they are divided or multiplied by
an efficiency by their sign: a descent helps a car to accelerate. A car that was driving before
takes no less than it gains, so that no turn takes less than the rise of its potential. Beyond these
metres it drives at steady speed. Braking, which ends where an edge begins, is that of a level road
(`braking`).

`ACCELERATION_MPS2` is the usual acceleration of cars in towns: M. Treiber, A. Kesting, Traffic Flow
Dynamics, Springer 2013, Table 11.2, read in the authors' simulator MovSim, whose model parameters
refer to this table.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.pieces import summed

ACCELERATION_MPS2 = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """Stretches of road on which k cars change their speed, p in all.

    Parameters
    ----------
    car
        (p,) car of each stretch, 0 to k - 1. Every car has one or more, in driving order.
    edge
        (p,) its edge, driven from its beginning.
    driven_m
        (p,) metres driven of it.
    """

    car: IntArray
    edge: IntArray
    driven_m: FloatArray

    @classmethod
    def of(
        cls,
        edge: IntArray,
        distance_m: FloatArray,
        length_m: FloatArray,
        onward: Callable[[IntArray], IntArray],
    ) -> "Ahead":
        """Return the stretches from the beginnings of edges (k,) on.

        The road goes on where a single edge follows that cars enter without a change of speed. It
        ends before every other turn. Speeds change within the metres up to there.

        Parameters
        ----------
        edge
            (k,) edges entered.
        distance_m
            (k,) metres in which the speeds change.
        length_m
            (n,) lengths of all edges, m.
        onward
            Returns the edge by which the road goes on after some edges, (j,), -1 where it ends.
        """
        car, left_m = np.arange(len(edge)), distance_m
        cars = [np.empty(0, dtype=np.int64)]
        edges = [np.empty(0, dtype=np.int64)]
        metres = [np.empty(0)]
        while len(car):
            driven_m = np.minimum(left_m, length_m[edge])
            cars.append(car)
            edges.append(edge)
            metres.append(driven_m)
            far = left_m > driven_m
            following = onward(edge[far])
            goes = following >= 0
            car, left_m = car[far][goes], (left_m - driven_m)[far][goes]
            edge = following[goes]
        return cls(np.concatenate(cars), np.concatenate(edges), np.concatenate(metres))


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work at the wheels along n edges, each in pieces of equal length.

    Parameters
    ----------
    edge
        (n,) rows of the network, rising.
    piece_wh
        (q,) work of each piece at steady speed, Wh, edge by edge in driving order.
    start
        (n + 1,) edge i has the pieces ``start[i]`` to ``start[i + 1]``, at least one.
    piece_m
        (n,) length of one piece of each edge, m.
    """

    edge: IntArray
    piece_wh: FloatArray
    start: IntArray
    piece_m: FloatArray

    @classmethod
    def of(
        cls, edge: IntArray, length_m: FloatArray, piece_wh: FloatArray, place: IntArray
    ) -> "Work":
        """Return the work of edges.

        Parameters
        ----------
        edge, length_m
            (n,) rows of the network, rising, and their lengths, m.
        piece_wh, place
            (q,) work of each piece, Wh, and the position of its edge, 0 to n - 1, rising.
        """
        start = np.searchsorted(place, np.arange(len(edge) + 1))
        return cls(edge, piece_wh, start, length_m / np.diff(start))

    @property
    def at_wheels_wh(self) -> FloatArray:
        """(n,) work at the wheels on each edge at steady speed, Wh."""
        return self._summed(self.piece_wh)

    def battery_wh(self, vehicle: Vehicle) -> FloatArray:
        """Return the energy from the battery at steady speed, (n,) Wh."""
        return self._summed(battery_wh(vehicle, self.piece_wh))

    def changes_wh(
        self, vehicle: Vehicle, gained_wh: FloatArray, ahead: Ahead, moving: BoolArray
    ) -> FloatArray:
        """Return the energy that changes of speed add to steady driving, (k,) Wh.

        Parameters
        ----------
        vehicle
            Efficiencies.
        gained_wh
            (k,) gain of kinetic energy, Wh.
        ahead
            Stretches on which the k speeds change.
        moving
            (k,) cars that were driving before. On no metre do they take less than they gain.
        """
        k = len(gained_wh)
        within_m = np.bincount(ahead.car, ahead.driven_m, minlength=k)
        gained_whpm = gained_wh / np.where(within_m > 0.0, within_m, 1.0)
        place = np.searchsorted(self.edge, ahead.edge)
        piece_m = self.piece_m[place]
        most = np.diff(self.start)[place]
        count = np.clip(np.ceil(ahead.driven_m / piece_m), 1, most).astype(np.int64)
        stretch = np.repeat(np.arange(len(place)), count)
        nth = np.arange(len(stretch)) - (np.cumsum(count) - count)[stretch]
        begins_m = nth * piece_m[stretch]
        driven_m = np.clip(ahead.driven_m[stretch] - begins_m, 0.0, piece_m[stretch])
        piece_wh = self.piece_wh[self.start[place][stretch] + nth]
        car = ahead.car[stretch]
        steady_wh = piece_wh * driven_m / piece_m[stretch]
        joined_wh = steady_wh + gained_whpm[car] * driven_m
        added_wh = battery_wh(vehicle, joined_wh) - battery_wh(vehicle, steady_wh)
        least_wh = np.where(moving[car], joined_wh - steady_wh, -np.inf)
        added_wh = np.maximum(added_wh, least_wh)
        return np.bincount(car, added_wh, minlength=k).astype(np.float64, copy=False)

    def _summed(self, piece_wh: FloatArray) -> FloatArray:
        place = np.repeat(np.arange(len(self.edge)), np.diff(self.start))
        return summed(piece_wh, place, len(self.edge))


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Work at the wheels along parts of k edges, in q pieces of one slope each.

    Parameters
    ----------
    piece_wh, piece_m
        (q,) work of each piece at steady speed, Wh, and its length, m, in driving order.
    place
        (q,) part that each belongs to, 0 to k - 1, rising.
    length_m
        (k,) lengths of the parts, m.
    """

    piece_wh: FloatArray
    piece_m: FloatArray
    place: IntArray
    length_m: FloatArray

    def battery_wh(
        self, vehicle: Vehicle, gained_wh: FloatArray, ahead_m: FloatArray, moving: BoolArray
    ) -> FloatArray:
        """Return the energy from the battery, (k,) Wh.

        Parameters
        ----------
        vehicle
            Efficiencies.
        gained_wh
            (k,) kinetic energy gained from the beginning of each part on, Wh.
        ahead_m
            (k,) metres in which it is gained, at most the length of the part.
        moving
            (k,) cars that were driving before, as in `Work.changes_wh`.
        """
        k, place = len(self.length_m), self.place
        end_m = _ends_m(self.piece_m, np.searchsorted(place, np.arange(k + 1)))
        within_m = np.minimum(ahead_m, self.length_m)
        changing_m = np.clip(within_m[place] - (end_m - self.piece_m), 0.0, self.piece_m)
        per_m = self.piece_wh / np.where(self.piece_m > 0.0, self.piece_m, 1.0)
        slope = (gained_wh / np.where(within_m > 0.0, within_m, 1.0))[place]
        joined_wh, plain_wh = (per_m + slope) * changing_m, per_m * changing_m
        least_wh = battery_wh(vehicle, plain_wh) + (joined_wh - plain_wh)
        joined_wh = battery_wh(vehicle, joined_wh)
        joined_wh = np.where(moving[place], np.maximum(joined_wh, least_wh), joined_wh)
        added_wh = battery_wh(vehicle, per_m * (self.piece_m - changing_m)) + joined_wh
        return np.bincount(place, added_wh, minlength=k).astype(np.float64, copy=False)


def _ends_m(piece_m: FloatArray, start: IntArray) -> FloatArray:
    """Return where each piece ends along its part, (q,) m, by the pieces of that part alone.

    Parameters
    ----------
    piece_m
        (q,) lengths of the pieces, m.
    start
        (k + 1,) part i has the pieces ``start[i]`` to ``start[i + 1]``.
    """
    end_m, count = piece_m.copy(), np.diff(start)
    for nth in range(1, int(count.max(initial=0))):
        here = start[:-1][count > nth] + nth
        end_m[here] += end_m[here - 1]
    return end_m


def distance_m(vehicle: Vehicle, gained_wh: FloatArray) -> FloatArray:
    """Return the metres in which a car accelerates, (k,).

    Parameters
    ----------
    vehicle
        Its mass.
    gained_wh
        (k,) gain of kinetic energy, Wh.
    """
    return gained_wh * J_PER_WH / (vehicle.mass_kg * ACCELERATION_MPS2)


def battery_wh(vehicle: Vehicle, work_wh: FloatArray) -> FloatArray:
    """Return the energy from the battery for work at the wheels, (q,) Wh, negative if regained.

    Parameters
    ----------
    vehicle
        Efficiencies.
    work_wh
        (q,) work, Wh.
    """
    drives = work_wh >= 0.0
    factor = np.where(drives, 1.0 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency)
    return work_wh * factor
