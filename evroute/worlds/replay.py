"""Replay: a world whose energies are a user's measurements by edge, resampled by the seed.

Driving an edge takes the energy of one of its measurements, with equal probability. The true
energy is their mean. An edge without measurements takes its climb and the median multiple of its
dissipated energy by eq. 8, without noise. So all roads can be used, but the choice among
unmeasured roads cannot be evaluated.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.given import located
from evroute.learning.measured import Measured
from evroute.learning.readers.formats import read_measured
from evroute.methods.setting import Setting
from evroute.worlds.demand.trips import Trips
from evroute.worlds.environment import best_by_edges, child
from evroute.worlds.world import World


class ReplayWorld(World):
    """Options of the world that replays measured trips.

    Parameters
    ----------
    table
        CSV or Parquet table of trips, as for ``evroute learn``.
    """

    kind: Literal["replay"] = "replay"
    table: Path

    def build(self, setting: Setting, trips: Trips, seeds: np.random.SeedSequence) -> "Replay":
        """Return the world of these seeds.

        Parameters
        ----------
        setting
            Network, vehicle and prior of the learner.
        trips
            Trips to drive.
        seeds
            Seeds of the world.
        """
        return Replay(
            _measured(located(self.table), setting),
            setting=setting,
            trips=trips,
            seeds=seeds,
        )

    def files(self, setting: Setting) -> dict[str, Path]:
        """Return the table of measured trips."""
        return {str(self.table): self.table}

    def provenance(self, setting: Setting) -> dict[str, Any]:
        """Return the digest of the table, and the number of trips and edges measured."""
        measured = _measured(located(self.table), setting)
        driven = np.unique(np.concatenate([trip.edge for trip in measured.trips]))
        n_edges = setting.network.n_edges
        note = f"{len(measured.trips)} trips measured {len(driven)} of {n_edges} edges"
        note += f", {len(measured.skipped)} trips set aside" if measured.skipped else ""
        note += ". The others take a multiple of eq. 8" if len(driven) < n_edges else ""
        return {"sha256": hashlib.sha256(self.table.read_bytes()).hexdigest(), "note": note}


@cache
def _measured(table: Path, setting: Setting) -> Measured:
    return read_measured(table, setting, [setting.vehicle.name], with_routes=True)


class Replay:
    """Trips over edges with resampled measurements.

    Parameters
    ----------
    measured
        Trips over edges of the setting's network.
    setting
        Network, vehicle and prior of the learner.
    trips
        Trips to drive.
    seeds
        Seeds of the draws.
    """

    def __init__(
        self,
        measured: Measured,
        *,
        setting: Setting,
        trips: Trips,
        seeds: np.random.SeedSequence,
    ) -> None:
        self.setting = setting
        self.trips = trips
        self._seeds = seeds
        edge = np.concatenate([trip.edge for trip in measured.trips])
        energy_wh = np.concatenate([trip.energy_wh for trip in measured.trips])
        travel_s = np.concatenate([trip.travel_s for trip in measured.trips])
        self._draws = _Draws(edge, energy_wh, setting)
        timed, n = np.isfinite(travel_s), setting.network.n_edges
        times = np.bincount(edge[timed], minlength=n)
        total_s = np.bincount(edge[timed], travel_s[timed], minlength=n)
        self.time_s: FloatArray = np.where(
            times > 0, total_s / np.maximum(times, 1), setting.network.time_s
        )

    def observe(self, t: int) -> Round:
        """Return the request of round ``t`` over all edges."""
        trip = self.trips.trip(t)
        ends = trip.origin, trip.destination
        return Round(t, self.setting.arms, *ends, departed_s=trip.departed_s, vehicle=trip.vehicle)

    def drive(self, request: Round, route: Route) -> Feedback:
        """Draw one measurement for every passage of an edge, independent of other edges."""
        passage = np.array([route.edges[:i].count(edge) for i, edge in enumerate(route.edges)])
        shape = passage.max() + 1, self.setting.network.n_edges
        chance = np.random.default_rng(child(self._seeds, request.t)).random(shape)[
            passage, route.rows
        ]
        return Feedback.of_route(
            request.arms,
            route,
            self._draws.drawn_wh(route.rows, chance),
            trip_id=self.trips.trip(request.t).trip_id,
            vehicle=request.vehicle,
            departed_s=request.departed_s,
            travel_s=self.time_s[route.rows],
        )

    def expected_wh(self, request: Round) -> FloatArray:
        """Return the mean measurement of each edge, (n,) Wh."""
        return self._draws.mean_wh

    def travel_s(self, request: Round) -> FloatArray:
        """Return mean measured travel times, (n,) s, at the speed limit where none was measured."""
        return self.time_s

    def route_wh(self, request: Round, route: Route) -> float:
        """Return the expected energy of a whole route, Wh."""
        return float(self._draws.mean_wh[route.rows].sum())

    def best_route(self, request: Round) -> Route:
        """Return the route of least expected energy."""
        return best_by_edges(
            request, self.expected_wh(request), self.setting.potential_wh, self.setting.search
        )


class _Draws:
    """Measurements of each of n edges, ``values[start[e] : start[e + 1]]``, Wh.

    mean_wh: (n,) mean, Wh. Scaled eq. 8 for edges without measurements.
    """

    def __init__(self, edge: IntArray, energy_wh: FloatArray, setting: Setting) -> None:
        n = setting.network.n_edges
        count = np.bincount(edge, minlength=n)
        self.start = np.concatenate([[0], np.cumsum(count)])
        total_wh = np.bincount(edge, weights=energy_wh, minlength=n)
        seen = count > 0
        mean_wh = total_wh / np.maximum(count, 1)
        dissipated_wh, climb_wh = setting.prior.dissipated_wh, setting.potential_wh
        if seen.any():
            multiple = float(np.median((mean_wh[seen] - climb_wh[seen]) / dissipated_wh[seen]))
            mean_wh = np.where(seen, mean_wh, climb_wh + max(multiple, 0.0) * dissipated_wh)
        self.values = energy_wh[np.argsort(edge, kind="stable")]
        self.mean_wh: FloatArray = mean_wh

    def drawn_wh(self, edges: IntArray, chance: FloatArray) -> FloatArray:
        """Return one value of each edge, (k,) Wh, by its uniform number in [0, 1)."""
        count = self.start[edges + 1] - self.start[edges]
        place = self.start[edges] + (chance * count).astype(np.int64)
        values = np.append(self.values, np.nan)[np.minimum(place, len(self.values))]
        return np.where(count > 0, values, self.mean_wh[edges])
