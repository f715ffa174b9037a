"""A simulated run that ships with evroute, on which the dashboard shows the learning at once.

It is the file ``data/learned/denver.json``, which ``studies/learned_run.py`` makes from the
experiment beside it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle, numbers_of
from evroute.errors import EvrouteError, require
from evroute.files import replacing
from evroute.limits import parse_json, read_text
from evroute.network.road_network import RoadNetwork
from evroute.resources import data_path

LEVEL = 0.9
"""Share of the worlds in the band of a curve."""


@dataclass(frozen=True, slots=True)
class DrivenTrip:
    """One trip of the run.

    Parameters
    ----------
    learned, physics
        Positions in `LearnedRun.routes` of the driven route and of the route of least energy by
        physics.
    road
        Network row of the road on one of the two routes alone whose learned energy exceeds that of
        physics most, or None if no road does.
    learned_wh, physics_wh
        Energy of this road as learned before the trip and by physics, Wh. 0 without a road.
    """

    learned: int
    physics: int
    road: int | None
    learned_wh: float
    physics_wh: float


@dataclass(frozen=True, slots=True)
class LearnedRun:
    """The worlds of an experiment in short, and the trips of one of them.

    Parameters
    ----------
    network, digest
        Name and digest of the network.
    vehicle, numbers
        Name of the vehicle and its numbers (`numbers_of`).
    seed
        Seed of the world whose trips are kept: that of the median regret at the end.
    learned_wh, physics_wh
        For each world the regret so far after each trip, by the learned routes and by those of
        physics alone, Wh.
    routes
        Network rows of each different route.
    routes_wh
        Energy of each route by physics, Wh.
    trips
        The trips of the world, in their order.
    """

    network: str
    digest: str
    vehicle: str
    numbers: Mapping[str, Any]
    seed: int
    learned_wh: list[list[float]]
    physics_wh: list[list[float]]
    routes: list[list[int]]
    routes_wh: list[float]
    trips: list[DrivenTrip]

    @classmethod
    def read(cls, path: Path | None = None) -> "LearnedRun":
        """Return the run of a file, by default of the shipped one.

        Parameters
        ----------
        path
            File of `write`.

        Raises
        ------
        EvrouteError
            If it is not of this form.
        """
        path = data_path("learned", "denver.json") if path is None else path
        table = parse_json(read_text(path, "json_mb"), str(path))
        try:
            trips = [DrivenTrip(**trip) for trip in table.pop("trips")]
            return cls(**table, trips=trips)
        except (AttributeError, KeyError, TypeError) as error:
            raise EvrouteError(
                f"{path} holds no learned run ({error}). Make it with studies/learned_run.py"
            ) from None

    def write(self, path: Path) -> None:
        """Write the run as JSON."""
        with replacing(path) as temporary:
            text = json.dumps(asdict(self), separators=(",", ":"))
            temporary.write_text(f"{text}\n", encoding="utf-8")

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Check that the run was driven on a network with a vehicle.

        Parameters
        ----------
        network, vehicle
            As they are today.

        Raises
        ------
        EvrouteError
            If one of them differs from that of the run.
        """
        advice = "Make it again with studies/learned_run.py"
        require(
            network.digest == self.digest,
            f"the learned run is of other roads than '{network.name}' of today. {advice}",
        )
        require(
            json.loads(json.dumps(numbers_of(vehicle))) == self.numbers,
            f"the learned run is of another car than '{vehicle.name}' of today. {advice}",
        )

    def bands_kwh(self) -> dict[str, FloatArray]:
        """Return mean, low and high end of the regret so far over the worlds, (trips, 3) kWh.

        ``learned``, ``physics``, and ``saved``: what learning has saved against physics. The ends
        hold `LEVEL` of the worlds.
        """
        learned, physics = (np.array(each) / 1000 for each in (self.learned_wh, self.physics_wh))
        tail = 50 * (1 - LEVEL)
        return {
            name: np.column_stack(
                [each.mean(axis=0), *np.percentile(each, [tail, 100 - tail], axis=0)]
            )
            for name, each in {
                "learned": learned,
                "physics": physics,
                "saved": physics - learned,
            }.items()
        }

    def sentence(self, trip: int) -> str:
        """Return a sentence on what learning has saved up to a trip, also where it does not pay.

        Parameters
        ----------
        trip
            Number of the trip, from 1.
        """
        mean, low, high = self.bands_kwh()["saved"][trip - 1]
        worlds = len(self.learned_wh)
        pays = sum(
            learned[trip - 1] < physics[trip - 1]
            for learned, physics in zip(self.learned_wh, self.physics_wh, strict=True)
        )
        trips = f"{trip} trip{'s' * (trip > 1)}"
        if round(mean, 2) == 0:
            return f"after {trips} the learned routes took as much energy as those by physics"
        less = "less" if mean > 0 else "more"
        return (
            f"after {trips} the learned routes have taken {abs(mean):.2f} kWh {less} than those by "
            f"physics (90 % of the worlds: {low:.2f} to {high:.2f} kWh less), and less in {pays} "
            f"of {worlds} worlds"
        )
