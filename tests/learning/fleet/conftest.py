"""Trips of a fleet on Denver: physics with climb, times a factor of the car and of the trip."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from evroute.learning.base import Belief
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.methods.setting import Setting, load_setting

LEAF = "nissan-leaf-40"
FACTORS = {"van-1": 0.85, "van-2": 1.0, "van-3": 1.25}


@pytest.fixture(scope="session")
def leaf_setting() -> Setting:
    return load_setting("denver", LEAF)


def rows_of(
    setting: Setting, n: int, seed: int, factors: dict[str, float] = FACTORS
) -> dict[str, list]:
    """Return n trips by turns of the cars, as a table with a row for each edge."""
    rng = np.random.default_rng(seed)
    cars, rows = list(factors), {"trip": [], "car": [], "edge": [], "energy_wh": []}
    network = setting.network
    ends = rng.integers(0, network.n_edges, (2 * n, 2)).tolist()
    for number, (origin, destination) in enumerate([each for each in ends if each[0] != each[1]]):
        if number == n:
            break
        car = cars[number % len(cars)]
        own = factors[car] * rng.lognormal(0.0, 0.05)
        for edge in setting.search.route(network.time_s, origin, destination).edges:
            rows["trip"].append(f"{seed}-{number}")
            rows["car"].append(car)
            rows["edge"].append(network.edge_id[edge])
            rows["energy_wh"].append(
                own * setting.prior.dissipated_wh[edge] + setting.potential_wh[edge]
            )
    return rows


@pytest.fixture
def table(leaf_setting: Setting, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a table of trips, with columns changed or left out."""

    def write(
        n: int = 90, seed: int = 0, *, without: Sequence[str] = (), name: str = "t.csv", **changes
    ) -> Path:
        rows = rows_of(leaf_setting, n, seed) | changes
        for column in without:
            del rows[column]
        pyarrow.csv.write_csv(pa.table(rows), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture(scope="session")
def folder(leaf_setting: Setting, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a fleet of three cars with 150 trips."""
    place = tmp_path_factory.mktemp("fleet")
    pyarrow.csv.write_csv(pa.table(rows_of(leaf_setting, 150, 1)), place / "t.csv")
    learn(place / "t.csv", place / "fleet", vehicle=LEAF)
    return place / "fleet"


@pytest.fixture(scope="session")
def belief(folder: Path) -> Belief:
    return load_belief(folder)
