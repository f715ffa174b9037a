"""Figures of a belief that goes with its car to another place (docs/figures/seasons.md).

python studies/travel_figures.py 8 20       worlds 8 to 19

World i of `season_figures` has seed i. Its car drives 120 trips in Denver, which the belief learns,
and the next 60 trips of the year in Monaco, which are forecast there without being learned. They
are compared with those of a belief before any trip, and with those of the belief that learns on.
"""

import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pandas as pd
from season_figures import figures, made_trips

from evroute.energy.vehicle import load_vehicle
from evroute.learning.base import Belief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network

AT_HOME, AWAY = 120, 60
KINDS = ("the car's belief", "it learns on", "before any trip")


def forecasts(
    belief: Belief, trips: list[MeasuredTrip], *, learns: bool = False
) -> Iterator[dict[str, float]]:
    """Yield the forecast of each trip; the belief learns each afterwards if it ``learns``."""
    for trip in trips:
        yield belief.expected(trip) | {"measured": float(trip.energy_wh.sum())}
        if learns:
            belief.learn(trip)


def played(seed: int) -> pd.DataFrame:
    """Return a row for each trip in Monaco and each kind of belief."""
    car = load_vehicle()
    denver, monaco = (Setting(load_network(name), car) for name in ("denver", "monaco"))
    home = TripEnergies(denver)
    for trip in islice(made_trips(seed, denver), AT_HOME):
        home.learn(trip)
    trips = list(islice(made_trips(seed, monaco), AT_HOME, AT_HOME + AWAY))
    beliefs = (
        home.on(monaco.network, car),
        home.on(monaco.network, car),
        TripEnergies(monaco),
    )
    rows = [
        row | {"seed": seed, "kind": kind}
        for kind, belief in zip(KINDS, beliefs, strict=True)
        for row in forecasts(belief, trips, learns=kind == "it learns on")
    ]
    return pd.DataFrame(rows).assign(regression=np.nan)


def main(first: int, end: int) -> None:
    """Print the table of the worlds from the first up to before the end."""
    rows = pd.concat([played(seed) for seed in range(first, end)], ignore_index=True)
    print(f"year, worlds {first} to {end - 1}: {AT_HOME} trips in Denver, then {AWAY} in Monaco")
    for kind in KINDS:
        figures(kind, rows[rows["kind"] == kind])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
