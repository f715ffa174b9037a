"""Families through every door of a plan: the command line, the Python calls and the service.

Each family asks a few questions twice. The half ``eq8`` asks by ``physics=eq8`` without a limit of
risk and compares expected values alone: a change of forecasts leaves them as they are. The half
``default`` asks as a user does, without an option that is not wished, and compares every number.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
from families import Json, Tasks, columns_of
from trees import CommandError, Tree, Units

Row = dict[str, Any]
Halves = Mapping[str, tuple[str, ...]]
OF_ROUTES: Halves = {"eq8": ("--physics", "eq8", "--terrain", "edge"), "default": ()}
OF_LEARNING: Halves = {
    "eq8": ("--option", "physics=eq8", "--option", "terrain=edge"),
    "default": (),
}
OF_BELIEFS = ("forecast", "interval", "p_reserve", "risk", "safety", "saving", "sd_", "std")
"""Parts of the names of values that depend on more than expected energies."""
NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?(?!\w|,\d)")
"""A number of a sentence; ids with commas have none."""
PLACES = """
import json, sys, evroute
n = evroute.load_network(sys.argv[1])
lon, lat = n.junction_lon_lat
print(json.dumps({"edge_id": list(n.edge_id), "length_m": n.length_m.tolist(),
    "ends": [[[lat[a], lon[a]], [lat[b], lon[b]]] for a, b in zip(n.tail, n.head)]}))
"""
RANGES = """
import json, sys, evroute
for asked in json.loads(sys.argv[1]):
    day = evroute.DrivingConditions(**asked.pop("conditions", {}))
    try:
        found = evroute.reachable(**asked, conditions=day)
    except ValueError as error:
        print(json.dumps({"error": str(error)}))
        continue
    print(json.dumps({"within": found.within.tolist(), "length_m": found.length_m,
        "charge_percent": {f"{p:g}": each.tolist() for p, each in found.charge_percent.items()}}))
"""
TOURS = """
import json, sys, evroute
for asked in json.loads(sys.argv[1]):
    day = evroute.DrivingConditions(**asked.pop("conditions", {}))
    found = evroute.tour(**asked, conditions=day)
    print(json.dumps({"leg_wh": found.leg_wh, "leg_s": found.leg_s, "mean_wh": found.mean_wh,
        "std_wh": found.std_wh, "p_reserve": found.p_reserve, "time_s": found.time_s}))
"""


def expected_only(value: Any) -> Any:
    """Return a value without the parts of dicts that depend on deviations (`OF_BELIEFS`)."""
    if isinstance(value, dict):
        return {
            name: expected_only(each)
            for name, each in value.items()
            if not any(part in name for part in OF_BELIEFS)
        }
    return [expected_only(each) for each in value] if isinstance(value, list) else value


def kept(half: str, units: Units) -> Units:
    """Return the values of answers that a half compares."""
    return expected_only(units) if half == "eq8" else units


@dataclass(frozen=True, slots=True)
class Roads:
    """Places of a network, drawn from one generator."""

    name: str
    edge_id: list[str]
    ends: list[list[list[float]]]
    length_m: list[float]
    rng: np.random.Generator

    @classmethod
    def of(cls, tree: Tree, name: str, rng: np.random.Generator) -> "Roads":
        """Return the roads that a tree knows by a name."""
        found = json.loads(tree.python("-c", PLACES, name))
        return cls(name, found["edge_id"], found["ends"], found["length_m"], rng)

    def edges(self, number: int) -> list[str]:
        """Draw edges."""
        rows = self.rng.choice(len(self.edge_id), number, replace=False)
        return [self.edge_id[row] for row in rows]

    def positions(self, number: int) -> list[str]:
        """Draw positions beside the middle half of an edge, ``LAT,LON``."""
        rows = self.rng.choice(len(self.edge_id), number, replace=False)
        found = []
        for row in rows:
            tail, head = np.array(self.ends[row])
            lat, lon = tail + self.rng.uniform(0.25, 0.75) * (head - tail)
            found.append(f"{lat:.6f},{lon:.6f}")
        return found

    def one_of(self, *values: Any) -> Any:
        """Draw one of some values."""
        return values[self.rng.integers(len(values))]


# --- tables of requests


def positions(roads: Roads, rows: int) -> list[Row]:
    """Return trips between positions inside edges, a third via another one."""
    found = []
    for number in range(rows):
        origin, via, destination = roads.positions(3)
        row = {"from": origin, "to": destination, "soc": roads.one_of("", 30)}
        found.append(row | {"via": via} if number % 3 == 2 else row)
    return found


def stops(roads: Roads, rows: int) -> list[Row]:
    """Return trips on little charge that may charge on the way, with wishes for the stops."""
    found: list[Row] = []
    for number in range(rows):
        origin, via, destination = roads.edges(3)
        row: Row = {"from": origin, "to": destination, "soc": roads.one_of(2.5, 3, 4)}
        row |= {"reserve": 2, "charge": "true", "stop_minutes": roads.one_of(2, 5)}
        wishes: list[Row] = [
            {},
            {"arrive": 10},
            {"arrive": "charger"},
            {"stop_from": 2.2, "stop_to": 60},
            {"least_kw": 20},
            {"avoid_stations": "station 1", "via": via},
        ]
        found.append(row | wishes[number % len(wishes)])
    return found


def risk(roads: Roads, rows: int) -> list[Row]:
    """Return trips on little charge that keep a reserve with a probability."""
    found = []
    for number in range(rows):
        origin, destination = roads.edges(2)
        row = {"from": origin, "to": destination, "soc": roads.one_of(2.7, 3.0, 4.0)}
        found.append(row | {"reserve": 2, "risk": ("5%", "1%", "20%")[number % 3]})
    return found


def money(roads: Roads, rows: int) -> list[Row]:
    """Return trips with prices, values of time, rules of detours and further routes."""
    found: list[Row] = []
    for number in range(rows):
        origin, destination = roads.edges(2)
        wishes: list[Row] = [
            {"price": 0.35, "time_value": 12},
            {"price": 0.35},
            {"detour_wh_per_minute": 30, "detour_saving_wh": 5},
            {"detour_extra_time": "40%", "detour_saving_share": "1%"},
            {"max_extra_time": "10%", "alternatives": 3, "depart": "08:15"},
        ]
        found.append({"from": origin, "to": destination} | wishes[number % len(wishes)])
    return found


def cold(roads: Roads, rows: int) -> list[Row]:
    """Return trips on cold days: parked or preheated, on little charge, via and in a time limit."""
    found: list[Row] = []
    for number in range(rows):
        origin, via, destination = roads.edges(3)
        row = {
            "from": origin,
            "to": destination,
            "temperature": (-15, -10, -5, 0, 5, 10)[number % 6],
        }
        wishes: list[Row] = [
            {},
            {"soc": roads.one_of(3, 4, 6), "reserve": 2},
            {"preheated": "true", "via": via},
            {"parked": 20, "max_extra_time": "10%"},
            {"soc": roads.one_of(4, 5), "reserve": 2, "risk": "5%"},
            {"soc": 4, "reserve": 2, "charge": "true"},
            {"payload": 200, "alternatives": 2},
        ]
        found.append(row | wishes[number % len(wishes)])
    return found


def refusals(roads: Roads, rows: int) -> list[Row]:
    """Return requests that cannot be met, and as many trips with too little charge."""
    origin, destination = roads.edges(2)
    trip: Row = {"from": origin, "to": destination}
    wrong: list[Row] = [
        trip | {"to": "Nowhere Street"},
        trip | {"soc": 120},
        trip | {"reserve": 10},
        trip | {"soc": 5, "reserve": 10},
        trip | {"risk": "5%"},
        trip | {"avoid": destination},
        trip | {"temperature": "cold"},
        trip | {"search": "quick"},
        trip | {"arrive": 10},
        trip | {"from": "0,0"},
    ]
    return wrong + [_too_little(roads) for _ in range(rows)]


def _too_little(roads: Roads) -> Row:
    origin, destination = roads.edges(2)
    return {"from": origin, "to": destination, "soc": 2, "reserve": 2}


def asked(
    folder: Path, network: str | None, name: str, rows: Sequence[Row], *options: object
) -> Tasks:
    """Return the tasks of both halves that plan the rows of a table.

    Parameters
    ----------
    folder
        Where the table is written.
    network
        Name of the network, or None for Denver with the made stations (`stations`).
    name
        Name of the family.
    rows
        Requests, by columns of ``evroute route --batch``.
    options
        Further options of ``evroute route``.
    """

    def task(half: str) -> Callable[[Tree], Units]:
        left_out = {"risk"} if half == "eq8" else set()
        some = [{each: row[each] for each in row if each not in left_out} for row in rows]
        table = write_rows(folder / f"{name} {half}.csv", some)
        on = ("--network", network or "stations.npz", "--batch", table)
        return lambda tree: kept(half, answers(tree, *on, *OF_ROUTES[half], *options))

    return {half: task(half) for half in OF_ROUTES}


def write_rows(path: Path, rows: Sequence[Row]) -> Path:
    """Write a table of requests, with the columns that some row has."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        columns = dict.fromkeys(name for row in rows for name in row)
        table = csv.DictWriter(handle, ["id", *columns], restval="")
        table.writeheader()
        table.writerows({"id": number} | row for number, row in enumerate(rows))
    return path


def answers(tree: Tree, *options: object) -> Units:
    """Return the answers of ``evroute route --batch`` by the id of their rows.

    A refusal has the numbers of its sentence, such as the charge that suffices: its words may
    change, they may not.
    """
    out = tree.as_typed("route", *options, statuses=(0, 1))
    found = {str(answer["id"]): answer for answer in map(json.loads, out.splitlines())}
    for answer in found.values():
        if "error" in answer:
            answer["numbers"] = [float(each) for each in NUMBER.findall(answer["error"])]
    return found


def stations(folder: Path, roads: Roads) -> Callable[[Tree], Units]:
    """Return the task that stores Denver with twelve stations as ``stations.npz``."""
    table = folder / "stations.csv"
    places = roads.positions(12)
    with table.open("w", newline="", encoding="utf-8") as handle:
        rows = csv.writer(handle)
        rows.writerow(["name", "lat", "lon", "socket", "kw"])
        for number, place in enumerate(places):
            socket, power = (("ccs", 50), ("type2", 11), ("chademo", 50))[number % 3]
            rows.writerow([f"station {number}", *place.split(","), socket, power])
    return lambda tree: {
        "": tree.as_typed("network", "chargers", "denver", table, "--out", "stations.npz")[:0]
    }


# --- ranges, tours and matrices


def in_python(script: str, requests: Sequence[Row]) -> Tasks:
    """Return the tasks of both halves that put requests to a function of ``import evroute``."""

    def task(half: str) -> Callable[[Tree], Units]:
        physics = {"physics": "eq8"} if half == "eq8" else {}

        def ask(tree: Tree) -> Units:
            given = json.dumps([request | physics for request in requests])
            lines = tree.python("-c", script, given).splitlines()
            return kept(half, {str(n): json.loads(line) for n, line in enumerate(lines)})

        return ask

    return {half: task(half) for half in OF_ROUTES}


def ranges(roads: Roads, rows: int) -> Tasks:
    """Return the tasks that ask for ranges, every second one cold."""
    requests: list[Row] = []
    for number in range(rows):
        request = {"network": roads.name, "origin": roads.positions(1)[0]}
        request |= {"soc": roads.one_of(2.5, 3.0, 4.0), "reserve": 2.0}
        requests.append(
            request | {"conditions": {"temperature_c": -10.0}} if number % 2 else request
        )
    found = in_python(RANGES, requests)
    return found | {
        "default with a risk": in_python(RANGES, [each | {"risk": 0.05} for each in requests])[
            "default"
        ]
    }


def tours(roads: Roads, rows: int) -> Tasks:
    """Return the tasks that ask for closed tours over four places, every second one cold."""
    requests: list[Row] = []
    for number in range(rows):
        places = roads.positions(4)
        request: Row = {"network": roads.name, "places": [*places, places[0]], "soc": 5.0}
        requests.append(
            request | {"conditions": {"temperature_c": -10.0}} if number % 2 else request
        )
    return in_python(TOURS, requests)


def matrices(folder: Path, roads: Roads, places: int) -> Tasks:
    """Return the tasks that write matrices by energy, time and recommendation, and a cold one."""
    ends = write_rows(
        folder / "places.csv", [{"place": place} for place in roads.positions(places)]
    )
    kinds: Mapping[str, tuple[object, ...]] = {
        "energy": ("--sd", "--reduced"),
        "time": ("--by", "time"),
        "recommended": ("--by", "recommended"),
        "cold": ("--temperature", -10, "--reduced"),
    }

    def task(half: str, kind: str) -> Callable[[Tree], Units]:
        def write(tree: Tree) -> Units:
            file = tree.scratch / f"{half} {kind}.parquet"
            options = [each for each in kinds[kind] if half != "eq8" or each != "--sd"]
            on = ("--network", roads.name, "--matrix", ends, ends, "--out", file)
            tree.as_typed("route", *on, *OF_ROUTES[half], *options)
            return {"": columns_of(file)}

        return write

    return {f"{half} {kind}": task(half, kind) for half in OF_ROUTES for kind in kinds}


# --- needs, by the service


@contextmanager
def served(tree: Tree) -> Iterator[Callable[..., Json]]:
    """Start the service of a tree, and yield a function that asks it.

    Raises
    ------
    CommandError
        If it does not start.
    """
    tree.scratch.mkdir(parents=True, exist_ok=True)
    process = Popen(
        tree.command("-m", "evroute", "serve", "--port", 0),
        cwd=tree.scratch,
        env=tree.environment,
        stdout=DEVNULL,
        stderr=PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline().strip()
        address = line.removeprefix("evroute: ")
        if not address.startswith("http://127.0.0.1:"):
            raise CommandError(f"the service of the {tree.name} tree does not start: {line}")

        def ask(path: str, body: Json | None = None, **query: object) -> Json:
            url = f"{address}{path}?{urlencode(query)}"
            data = None if body is None else json.dumps(body).encode()
            try:
                with urlopen(Request(url, data, {"Content-Type": "application/json"})) as answer:
                    found: Json = json.load(answer)
            except HTTPError as refused:
                return {"status": refused.code, "error": refused.read().decode()}
            return found

        yield ask
    finally:
        process.terminate()
        process.communicate()


def needs(folder: Path, roads: Roads, rows: int) -> Tasks:
    """Return the tasks that ask which charge trips and days need.

    By eq. 8 the refusals of trips with too little charge have it, by default the service.
    """
    short = asked(folder, roads.name, "needs", [_too_little(roads) for _ in range(rows)])
    trips = [roads.positions(2) for _ in range(rows)]
    weathers = ({}, {"temperature_c": -10.0})

    def task(tree: Tree) -> Units:
        found: Units = {}
        with served(tree) as ask:
            for number, (origin, destination) in enumerate(trips):
                trip = {"network": roads.name, "from": origin, "to": destination, "reserve": 5}
                weather = weathers[number % 2]
                found[f"trip {number}"] = ask("/v1/needed", **trip, **weather, p=0.95)
            for number, pair in enumerate(pairwise(trips)):
                day = [{"from": origin, "to": destination} for origin, destination in pair]
                body = {"network": roads.name, "trips": day, "p": 0.9}
                body["conditions"] = weathers[number % 2]
                found[f"day {number}"] = ask("/v1/needed", body)
        return found

    return {"eq8": short["eq8"], "default": task}


# --- learned energies


def fleets(folder: Path, roads: Roads, data: Path, rows: int) -> Tasks:
    """Return the tasks that learn a fleet, and plan for its cars and for a car without trips."""
    cars = [f"van-0{number}" for number in range(1, 4)]
    table = [{"from": a, "to": b, "soc": 3} for a, b in (roads.edges(2) for _ in range(rows))]
    table = [row | {"car": [*cars, ""][n % 4]} for n, row in enumerate(table)]
    trips = (data / "examples" / "fleet.csv", "--cars", data / "examples" / "cars.csv")
    return _believed(folder, "fleets", trips, roads.name, table)


def other_map(folder: Path, measured: Path, roads: Roads, rows: int) -> Tasks:
    """Return the tasks that learn trips of Denver, and plan on them in another city."""
    table = [{"from": a, "to": b, "soc": 5} for a, b in (roads.edges(2) for _ in range(rows))]
    return _believed(folder, "other-map", (measured,), roads.name, table)


def _believed(
    folder: Path, name: str, trips: Iterable[object], network: str, rows: Sequence[Row]
) -> Tasks:
    """Return the tasks that learn trips of Denver, and plan the rows of a table on the belief."""
    table = write_rows(folder / f"{name}.csv", rows)

    def task(half: str) -> Callable[[Tree], Units]:
        belief = Path("believed", f"{name} {half}")

        def learn(tree: Tree) -> Units:
            tree.as_typed("learn", *trips, "--out", belief, "--quiet", *OF_LEARNING[half])
            on = ("--network", network, "--batch", table, "--belief", belief)
            return kept(half, answers(tree, *on))

        return learn

    return {half: task(half) for half in OF_LEARNING}
