"""Trips with odd numbers never keep later trips from being learned, by three ways in.

As a command, with the number of odd trips, by each of the ways in turn, and a seed: ``python
tests/safety/test_odd_trips.py 5000 1``.
"""

import csv
import http.client
import io
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import evroute
from evroute.energy.defaults import VEHICLE
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.gate import LIMITS, SINGLE
from evroute.learning.learn import learn
from evroute.methods.setting import Setting, load_setting
from evroute.network.road_network import RoadNetwork
from evroute.resources import app_path

TOGETHER = 20
"""Odd trips learned by one call."""
DRAWN = TOGETHER - 2
"""Odd trips among them that are drawn; the other two are known."""
BATCHES = 3
"""Calls by each way among the tests."""
EDGES_OF_FLOATS = (
    *(0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e-160, 1e-9, -1.0, -60.0, 1e3, 1e6, 1e9, 2.0**53),
    *(1e18, -1e18, 1e77, 1e150, -1e150, 1e154, 1e155, 1e160, 1e300, 1.797e308, -1.797e308),
    *(sys.float_info.max, -sys.float_info.max, math.inf, -math.inf, math.nan),
)
PER_EDGE = ("energy_wh", "travel_s", "time")
WAYS = ("python", "service", "my car")

Row = dict[str, Any]


@cache
def setting() -> Setting:
    return load_setting("denver", VEHICLE, terrain=None)


@cache
def ways(number: int = 12) -> list[list[int]]:
    """Return edges of routes between random places."""
    rng, found = np.random.default_rng(5), []
    while len(found) < number:
        ends = rng.choice(setting().network.n_edges, 2, replace=False)
        found.append(
            setting().search.route(setting().network.time_s, *map(int, ends)).rows.tolist()
        )
    return found


def rows_of(name: str, way: Sequence[int]) -> list[Row]:
    """Return a trip that takes 1.1 times the energy by eq. 8 at the limit of speed."""
    network, prior = setting().network, setting().prior
    return [
        {
            "trip": name,
            "edge": network.edge_id[edge],
            "energy_wh": 1.1 * float(prior.mean_wh[edge]),
            "travel_s": float(network.time_s[edge]),
        }
        for edge in way
    ]


def numbers(name: str) -> st.SearchStrategy[float]:
    """Return values of a field: any float, edges of floats, plausible ones, and their limits."""
    low, high = {"energy_wh": (-500.0, 2000.0), "travel_s": (0.0, 2000.0), "time": (0.0, 1e5)}.get(
        name, (0.0, 0.0)
    )
    if name in LIMITS:
        low, high = LIMITS[name].low, LIMITS[name].high
    limits = [np.nextafter(end, to) for end in (low, high) for to in (-math.inf, math.inf)]
    return st.one_of(
        st.floats(),
        st.floats(low, high),
        st.sampled_from([*EDGES_OF_FLOATS, low, high, *map(float, limits)]),
    )


@st.composite
def odd_rows(draw: st.DrawFn) -> list[Row]:
    """Draw a trip with odd numbers in some of its fields, on one edge or on all."""
    rows = rows_of("odd", draw(st.sampled_from(ways())))
    for name in draw(st.sets(st.sampled_from((*PER_EDGE, *SINGLE)), min_size=1, max_size=4)):
        value = draw(numbers(name))
        at = draw(st.integers(-len(rows), len(rows) - 1)) if name in PER_EDGE else -1
        entered_s = 0.0
        for k, row in enumerate(rows):
            usual = entered_s if name == "time" else row.get(name, value)
            row[name] = value if at in (k, -1) else usual
            entered_s += row["travel_s"]
    return rows


def plain_and_impossible() -> list[list[Row]]:
    """Return a plain trip, which is learned, and one with 1e300 Wh an edge, which is set aside."""
    rows = rows_of("odd", ways()[2])
    return [rows, [{**row, "energy_wh": 1e300} for row in rows]]


def finite(rows: Sequence[Row]) -> list[Row]:
    """Return rows as JSON can hold them."""
    return [
        {name: v for name, v in row.items() if isinstance(v, str) or math.isfinite(v)}
        for row in rows
    ]


class Python:
    """`evroute.learn` of a table."""

    one_by_one = False

    def __init__(self, place: Path) -> None:
        self.place = place

    def learn(self, folder: str, rows: Sequence[Row]) -> None:
        table = self.place / "trips.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows)), table)
        learn(table, self.place / folder, vehicle=None)

    def planned(self, folder: str) -> tuple[list[str], float, float]:
        """Return the trips learned, and energy and time of a plan on the belief."""
        return planned(self.place / folder)


def planned(folder: Path) -> tuple[list[str], float, float]:
    roads: RoadNetwork = setting().network
    belief = load_belief(folder, network=roads)
    origin, destination = ends_of(0)
    route = evroute.plan(roads, origin=origin, destination=destination, belief=belief).routes[
        "energy"
    ]
    names = pq.read_table(folder / "trips.parquet")["trip"].to_pylist()
    return names, route.energy_wh, route.time_s


def ends_of(way: int) -> tuple[str, str]:
    ids = setting().network.edge_id
    return ids[ways()[way][0]], ids[ways()[way][-1]]


class MyCar:
    """The function behind the upload on the page My car."""

    one_by_one = False

    def __init__(self, place: Path) -> None:
        sys.path.insert(0, str(app_path()))
        import own_trips

        self.place = place
        self.own_trips = own_trips

    @contextmanager
    def inside(self, folder: str) -> Iterator[None]:
        """Work in a folder, whose ``runs`` are those of the dashboard."""
        before = Path.cwd()
        (self.place / folder).mkdir(parents=True, exist_ok=True)
        os.chdir(self.place / folder)
        try:
            yield
        finally:
            os.chdir(before)

    def learn(self, folder: str, rows: Sequence[Row]) -> None:
        file = io.StringIO()
        names = dict.fromkeys(name for row in rows for name in row)
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(rows)
        with self.inside(folder):
            self.own_trips.add_log(
                setting().network, load_vehicle(VEHICLE), "log.csv", file.getvalue().encode()
            )

    def planned(self, folder: str) -> tuple[list[str], float, float]:
        with self.inside(folder):
            kept = self.own_trips.folder_of(setting().network, load_vehicle(VEHICLE)).path
            return planned(kept)


class Service:
    """``POST /v1/trips`` of a running service, which refuses a request with an invalid field."""

    one_by_one = True

    def __init__(self, place: Path) -> None:
        self.place = place
        command = [sys.executable, "-m", "evroute", "serve", "--port", "0", "--beliefs", str(place)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("evroute: http://127.0.0.1:"), line
        self.host = line.removeprefix("evroute: http://").strip()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        with closing(http.client.HTTPConnection(self.host, timeout=300)) as line:
            line.request(
                method, path, json.dumps(body).encode(), {"content-type": "application/json"}
            )
            answer = line.getresponse()
            status, content = answer.status, json.loads(answer.read())
        assert status < 500, content
        if status >= 400:
            raise EvrouteError(str(content))
        return content

    def learn(self, folder: str, rows: Sequence[Row]) -> None:
        trips: dict[str, dict[str, Any]] = {}
        of_edge = ("edge", "energy_wh", "travel_s")
        for row in finite(rows):
            first = {name: v for name, v in row.items() if name not in (*of_edge, "time")}
            first.pop("known_variance_wh2", None)
            trip = trips.setdefault(row["trip"], first | {"edges": []})
            trip["edges"].append({name: row[name] for name in of_edge if name in row})
        request = {"belief": folder, "network": "denver", "trips": list(trips.values())}
        self.ask("POST", "/v1/trips", request)

    def planned(self, folder: str) -> tuple[list[str], float, float]:
        origin, destination = ends_of(0)
        request = {"origin": origin, "destination": destination, "belief": folder}
        route = self.ask("POST", "/v1/plan", request)["routes"]["energy"]
        names = pq.read_table(self.place / folder / "trips.parquet")["trip"].to_pylist()
        assert self.ask("GET", f"/v1/beliefs/{folder}")["trips"] == len(names)
        return names, route["energy_wh"], route["time_s"]

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate()


def check(way: Any, folder: str, odd: Sequence[list[Row]]) -> Counter[str]:
    """Learn odd trips, then good ones, and plan on the belief; return what became of the odd."""
    named = [[{**row, "trip": f"odd {k}"} for row in rows] for k, rows in enumerate(odd)]
    calls = named if way.one_by_one else [[row for rows in named for row in rows]]
    for rows in calls:
        with suppress(EvrouteError):  # none of them can be used
            way.learn(folder, rows)
    good = [row for k in range(2) for row in rows_of(f"good {k}", ways()[k])]
    way.learn(folder, good)
    names, energy_wh, time_s = way.planned(folder)
    assert {"good 0", "good 1"} <= set(names)
    assert math.isfinite(energy_wh)
    assert 0 < time_s < math.inf
    learned = len(names) - 2
    return Counter(trips=len(odd), learned=learned, aside=len(odd) - learned)


def run(place: Path, way: str, batches: int, number: int) -> Counter[str]:
    """Check batches of odd trips by one way in; return counts."""
    makers: dict[str, Callable[[Path], Any]]
    makers = {"python": Python, "service": Service, "my car": MyCar}
    door, total, done = makers[way](place), Counter[str](), iter(range(batches + 1))

    @seed(number)
    @settings(
        max_examples=batches,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(odd_rows(), min_size=DRAWN, max_size=DRAWN))
    def batch(odd: list[list[Row]]) -> None:
        total.update(check(door, f"b{next(done)}", [*odd, *plain_and_impossible()]))

    try:
        batch()
    finally:
        if isinstance(door, Service):
            door.close()
    return total


@pytest.mark.parametrize("way", WAYS)
def test_trips_with_odd_numbers_lock_no_belief(tmp_path: Path, way: str) -> None:
    count = run(tmp_path, way, BATCHES, 31)
    assert count["trips"] == BATCHES * TOGETHER
    assert count["learned"] >= BATCHES
    assert count["aside"] >= BATCHES


def main(trips: int = 5000, number: int = 1) -> None:
    """Print how many odd trips were learned and set aside; end at the first that locks a belief."""
    warnings.simplefilter("error", RuntimeWarning)
    begun, total = time.monotonic(), Counter[str]()
    for way in WAYS:
        with TemporaryDirectory() as place:
            count = run(Path(place), way, -(-trips // TOGETHER // len(WAYS)), number)
        print(f"{way}: {dict(count)}", flush=True)
        total += count
    print(f"{dict(total)}, 0 beliefs locked; {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
