"""Figures of the worlds that SUMO drives, against eq. 8 (docs/figures/sumo.md).

python studies/world_figures.py sumo-eq8 [monaco luxembourg]
"""

import sys
import time
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, J_PER_WH
from evroute.methods.setting import Setting, load_setting
from evroute.network.catalog import source_path
from evroute.worlds import trace_energy
from evroute.worlds.sumo_drive import Trace, simulation

TRIPS = {"monaco": "ABCD", "luxembourg": "ABCDEF"}
DRIVES, RANDOM_ROUTES, DRIVER_STD = 20, 200, 0.1


def routes(setting: Setting, named: bool) -> list[IntArray]:
    """Return eq. 8's routes of the named trips, or of random ones."""
    n, rng = setting.network.n_edges, default_rng(0)
    ends = (
        [setting.ends(trip) for trip in TRIPS[setting.network.name]]
        if named
        else [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(RANDOM_ROUTES)]
    )
    return [setting.search.route(setting.prior.dissipated_wh, *pair).rows for pair in ends]


def figures(values: FloatArray, reference: FloatArray) -> str:
    """Correlation, root mean square and mean of the difference."""
    error = values - reference
    correlation = np.corrcoef(values, reference)[0, 1]
    return f"{correlation:.3f} | {np.sqrt(np.mean(error**2)):.1f} | {error.mean():+.1f}"


def spread(groups: Mapping[Hashable, Sequence[float]]) -> float:
    """Return the root mean square deviation within groups of at least two."""
    several = [np.array(values) for values in groups.values() if len(values) > 1]
    squares = sum(((values - values.mean()) ** 2).sum() for values in several)
    return float(np.sqrt(squares / sum(len(values) - 1 for values in several)))


@dataclass(frozen=True, slots=True, eq=False)
class Driven:
    """One trip by edge, (k,) Wh: SUMO's model, its kinetic part, eq. 8, the physics of turns."""

    rows: IntArray
    wh: FloatArray
    kinetic: FloatArray
    eq8: FloatArray
    turns: FloatArray


class City:
    """A network on which the reference vehicle drives."""

    def __init__(self, name: str) -> None:
        self.setting = load_setting(name, "reference")
        self.sumo = simulation(self.setting.network, source_path(name))
        self.seconds = 0.0
        self.trips = 0

    def trace(self, rows: IntArray, seed: int) -> Trace:
        """Drive a route."""
        return self.sumo.drive(rows, self.setting.network.speed_mps, DRIVER_STD, SeedSequence(seed))

    def drive(self, rows: IntArray, seed: int) -> Driven:
        """Drive a route and count its energies."""
        network, car, energy = (
            self.setting.network,
            self.setting.vehicle,
            self.setting.on_turns().space.energy,
        )
        began = time.perf_counter()
        trace = self.trace(rows, seed)
        wh = trace_energy.energy_wh(
            trace, network, car, np.zeros(network.n_edges), AIR_DENSITY_KGPM3
        )
        self.seconds, self.trips = self.seconds + time.perf_counter() - began, self.trips + 1
        gained = 0.5 * car.mass_kg * np.diff(trace.speed_mps**2, prepend=0.0) / J_PER_WH
        turns = energy.mean_wh(energy.table.rows_along(rows), network.speed_mps)
        kinetic = trace.by_edge(gained, network.length_m[rows])
        return Driven(rows, wh, kinetic, self.setting.prior.mean_wh[rows], turns)


def sumo_eq8(name: str) -> None:
    """Print how SUMO's energies compare with eq. 8."""
    city = City(name)
    named = {
        trip: [city.drive(rows, seed) for seed in range(DRIVES)]
        for trip, rows in zip(TRIPS[name], routes(city.setting, named=True), strict=True)
    }
    random = [
        city.drive(rows, 1000 + i) for i, rows in enumerate(routes(city.setting, named=False))
    ]
    print(f"\n### {name}: {city.trips} trips, {1e3 * city.seconds / city.trips:.0f} ms a trip\n")
    print(
        "| edges of | passages | against | correlation | RMSE Wh | bias Wh "
        "|\n|---|---|---|---|---|---|"
    )
    for label, trips in (
        ("named trips", [t for drives in named.values() for t in drives]),
        ("random trips", random),
    ):
        wh, kinetic, eq8, turns = (
            np.concatenate([getattr(trip, column) for trip in trips])
            for column in ("wh", "kinetic", "eq8", "turns")
        )
        head = f"| {label} | {len(wh):,} |"
        print(head, "eq. 8 |", figures(wh, eq8), "|")
        print(head, "eq. 8, kinetic part taken out |", figures(wh - kinetic, eq8), "|")
        print(head, "turns (`TurnEnergy`) |", figures(wh, turns), "|")
    print_spreads(random, named)


def print_spreads(random: list[Driven], named: dict[str, list[Driven]]) -> None:
    """Print the spread of an edge between passages, and the correlation of errors in a trip."""
    by_edge, by_turn = defaultdict(list), defaultdict(list)
    for trip in random:
        padded = [-1, *trip.rows.tolist(), -1]
        for i, wh in enumerate(trip.wh, start=1):
            by_edge[padded[i]].append(wh)
            by_turn[tuple(padded[i - 1 : i + 2])].append(wh)
    print(
        f"\nSd within an edge {spread(by_edge):.1f} Wh, within (before, edge, after) "
        f"{spread(by_turn):.1f} Wh.\n"
    )
    print("| trip | mean Wh | sd Wh | to that of independent edges |\n|---|---|---|---|")
    for trip, drives in named.items():
        wh = np.array([drive.wh for drive in drives])
        sd = wh.sum(axis=1).std(ddof=1)
        print(
            f"| {trip} | {wh.sum(axis=1).mean():.0f} | {sd:.0f} | "
            f"{sd / np.sqrt(wh.var(axis=0, ddof=1).sum()):.2f} |"
        )


if __name__ == "__main__":
    command, *cities = sys.argv[1:]
    if command != "sumo-eq8":
        sys.exit(__doc__)
    for name in cities or TRIPS:
        sumo_eq8(name)
