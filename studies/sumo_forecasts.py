"""Forecasts of other routes after fastest trips in SUMO (`docs/figures/sumo.md`).

    python studies/sumo_forecasts.py luxembourg 1           # network and seed
    python studies/sumo_forecasts.py luxembourg 1 60 20     # learned trips and tested pairs

Random pairs of 3 to 15 km. SUMO drives the fastest route of the learned pairs, and beliefs learn
energies and times by edge. On the tested pairs SUMO drives three routes, each once. Printed are
forecast energies and times over SUMO's. The energy is counted by the world `sumo`, for
`nissan-leaf-40`, with evroute's inclines. Needs ``evroute[sumo]`` and ``EVROUTE_DATA_DIR``.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.base import Belief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.worlds.sumo_drive import simulation
from evroute.worlds.sumo_options import SumoOptions
from evroute.worlds.world import load_world

SHORTEST_M, LONGEST_M = 3_000, 15_000
DRIVER_STD = 0.1


class Course:
    """SUMO on one network, and random pairs of its edges."""

    def __init__(self, name: str, seed: int) -> None:
        self.setting = Setting(load_network(name), load_vehicle())
        self.network, self.vehicle = self.setting.network, self.setting.vehicle
        world = load_world({"kind": "sumo"})
        assert isinstance(world, SumoOptions)
        self.world = world
        self.simulation = simulation(self.network, self.world.source(self.setting))
        self.driving = Planner(self.network, self.vehicle, physics="driving")
        self.steady = Planner(self.network, self.vehicle, physics="eq8")
        self.seed = seed

    def pairs(self) -> Iterator[Plan]:
        """Yield plans by the driver's physics between random edges."""
        rng = default_rng(self.seed)
        while True:
            a, b = rng.choice(self.network.n_edges, 2, replace=False).tolist()
            try:
                plan = self.driving.plan(self.network.edge_id[a], self.network.edge_id[b])
            except EvrouteError:
                continue
            if SHORTEST_M <= plan.routes["time"].length_m <= LONGEST_M:
                yield plan

    def drive(self, rows: IntArray, pair: int) -> tuple[FloatArray, FloatArray]:
        """Return energies, Wh, and times, s, of the edges of a drive by the pair's driver."""
        seeds = SeedSequence([self.seed, pair, 0])
        trace = self.simulation.drive(rows, self.network.speed_mps, DRIVER_STD, seeds)
        energy_wh = self.world.energy_wh(trace, self.network, self.vehicle)
        return energy_wh, trace.travel_s(self.network.length_m[rows])

    def rows(self, edges: tuple[str, ...]) -> IntArray:
        """Return the rows of edges by their ids."""
        return np.array([self.network.row_of[edge] for edge in edges])


def main(name: str, seed: int, learned: int = 60, tested: int = 20) -> None:
    """Print forecasts over SUMO's energies and times."""
    course = Course(name, seed)
    beliefs: dict[str, Belief] = {
        "default belief": TripEnergies(course.setting),
        "belief by the driver's physics": TripEnergies(course.setting, physics="driving"),
        "belief at steady speeds": TripEnergies(course.setting, physics="eq8"),
    }
    pairs = course.pairs()
    for k in range(learned):
        rows = course.rows(next(pairs).routes["time"].edges)
        trip = MeasuredTrip(f"trip {k}", rows, *course.drive(rows, k + 1))
        for belief in beliefs.values():
            belief.learn(trip)
    planners = {"eq. 8": course.steady, "driver's physics": course.driving} | {
        name: Planner(course.network, course.vehicle, belief) for name, belief in beliefs.items()
    }
    told: dict[tuple[str, str], list[list[float]]] = {}
    for pair in range(learned + 1, learned + tested + 1):
        plan = next(pairs)
        ends = [course.network.edge_id[int(plan.routes["time"].route.edges[i])] for i in (0, -1)]
        for kind, edges in {
            "fastest": plan.routes["time"].edges,
            "least energy, driver's physics": plan.routes["energy"].edges,
            "least energy, eq. 8": course.steady.plan(*ends).routes["energy"].edges,
        }.items():
            rows = course.rows(edges)
            counted_wh, counted_s = (float(values.sum()) for values in course.drive(rows, pair))
            for by, planner in planners.items():
                planned = planner.describe(Route(tuple(rows.tolist())))
                told.setdefault((kind, by), []).append(
                    [planned.energy_wh, counted_wh, planned.time_s, counted_s]
                )
    print("| route | forecast by | energy / SUMO | median pair | time / SUMO |")
    print("| --- " * 5 + "|")
    for (kind, by), values in told.items():
        each = np.array(values)
        sums = each.sum(axis=0)
        print(
            f"| {kind} | {by} | {sums[0] / sums[1]:.2f} | {np.median(each[:, 0] / each[:, 1]):.2f} "
            f"| {sums[2] / sums[3]:.2f} |"
        )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
