"""Routes with what a belief expects of them, to which numbers of other planners are fitted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.errors import NoRouteError, require
from evroute.methods.setting import Setting
from evroute.planning.planner import Planner

LEAST_M = 1000.0
"""Length of the shortest route, m."""
LEAST_WH_PER_KM = 50.0
"""Errors of routes that take less are shares of this, Wh per km."""
TRIES = 10
"""Pairs of roads that are drawn for each route."""


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Routes over q passages of roads, one route after the other.

    Parameters
    ----------
    first
        (r,) position of the first passage of each route.
    length_m, speed_mps, ascent_m, descent_m
        (q,) length, m, usual speed, m/s, and metres up and down of each passage.
    energy_wh
        (r,) energy that the belief expects of each route, Wh.
    physics_wh
        (r,) energy by the physics of the vehicle file, Wh.
    vehicle
        The car.
    """

    first: IntArray
    length_m: FloatArray
    speed_mps: FloatArray
    ascent_m: FloatArray
    descent_m: FloatArray
    energy_wh: FloatArray
    physics_wh: FloatArray
    vehicle: Vehicle

    def __len__(self) -> int:
        """Return the number of routes."""
        return len(self.first)

    def sums(self, of_passages: FloatArray) -> FloatArray:
        """Return sums over each route, (r, ...), of numbers of passages, (q, ...)."""
        return np.add.reduceat(of_passages, self.first, axis=0)

    @property
    def scale_wh(self) -> FloatArray:
        """(r,) energy of which errors are shares, Wh: a descent that takes little counts by km."""
        km = self.sums(self.length_m) / 1000.0
        return np.maximum(self.energy_wh, LEAST_WH_PER_KM * km)

    @property
    def minutes(self) -> FloatArray:
        """(r,) travel time, minutes."""
        return self.sums(self.length_m / self.speed_mps) / 60.0

    @property
    def speed_kmh(self) -> FloatArray:
        """(r,) mean speed, km/h."""
        return self.sums(self.length_m) / 1000.0 / (self.minutes / 60.0)

    @property
    def potential_wh(self) -> FloatArray:
        """(r, 2) potential energy gained uphill and lost downhill, Wh."""
        weight_wh = self.vehicle.mass_kg * GRAVITY_MPS2 / J_PER_WH
        return weight_wh * self.sums(np.column_stack([self.ascent_m, self.descent_m]))

    @property
    def kinetic_wh(self) -> FloatArray:
        """(r, 2) kinetic energy gained and lost between roads, Wh, from standstill to standstill.

        Speeds within a road are taken to be even.
        """
        squares, last = self.speed_mps**2, np.append(self.first[1:], len(self.speed_mps)) - 1
        before = np.append(0.0, squares[:-1])
        before[self.first] = 0.0
        faster = self.sums(np.maximum(squares - before, 0.0))
        slower = self.sums(np.maximum(before - squares, 0.0)) + squares[last]
        return 0.5 * self.vehicle.mass_kg / J_PER_WH * np.column_stack([faster, slower])

    def some(self, rows: IntArray) -> "Routes":
        """Return some of the routes."""
        ends = np.append(self.first[1:], len(self.length_m))
        kept = np.concatenate([np.arange(self.first[row], ends[row]) for row in rows])
        counts = (ends - self.first)[rows]
        return Routes(
            np.append(0, np.cumsum(counts[:-1])),
            self.length_m[kept],
            self.speed_mps[kept],
            self.ascent_m[kept],
            self.descent_m[kept],
            self.energy_wh[rows],
            self.physics_wh[rows],
            self.vehicle,
        )


def drawn(planner: Planner, count: int, seed: int = 0) -> Routes:
    """Return fastest routes between random roads.

    Parameters
    ----------
    planner
        Planner of the belief.
    count
        Number of routes.
    seed
        Seed of the draw.

    Raises
    ------
    EvrouteError
        If the network has too few routes of `LEAST_M`.
    """
    network, rng = planner.network, np.random.default_rng(seed)
    search, found = Setting(network, planner.vehicle).search, list[Route]()
    pairs = rng.integers(0, network.n_edges, (TRIES * count, 2)).tolist()
    for origin, destination in dict.fromkeys(map(tuple, pairs)):
        try:
            route = search.route(planner.time_s, origin, destination)
        except NoRouteError:
            continue
        if network.length_m[route.rows].sum() >= LEAST_M:
            found.append(route)
        if len(found) == count:
            break
    require(
        len(found) == count,
        f"network '{network.name}' has {len(found)} routes of {LEAST_M:.0f} m among "
        f"{TRIES * count} pairs of roads, expected {count}. Take a larger one",
    )
    return _numbers(planner, found)


def _numbers(planner: Planner, routes: Sequence[Route]) -> Routes:
    """Return the numbers of routes by a planner, and by the physics of its vehicle."""
    network, physics = planner.network, Planner(planner.network, planner.vehicle)
    driven, first = planner.numbers.driven_by(routes)
    by_physics, _ = physics.numbers.driven_by(routes)
    edges = driven.stretches.edge
    return Routes(
        first,
        driven.length_m,
        driven.length_m / driven.time_s,
        network.ascent_m[edges],
        network.descent_m[edges],
        np.add.reduceat(driven.energy_wh, first),
        np.add.reduceat(by_physics.energy_wh, first),
        planner.vehicle,
    )
