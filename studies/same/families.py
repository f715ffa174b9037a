"""The families of results: networks, plans, learned folders, simulated runs, bandits, reports.

They use the command line and the public names of ``import evroute`` alone. A family is a table of
tasks; a task is a function of a tree and returns its results by name.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from compare import Comparison
from trees import Tree, Units, as_flags, flags_of

Tasks = dict[str, Callable[[Tree], Units]]
Json = dict[str, Any]
REPLAY = Path(__file__).with_name("replay.py")

NETWORK = """
import json, sys, evroute
n = evroute.load_network(sys.argv[1])
columns = {"edge_id": list(n.edge_id), "n_edges": n.n_edges, "turns": n.turns.ravel().tolist()}
print(json.dumps(columns | {name: getattr(n, name).tolist() for name in ("length_m", "climb_m")}))
"""
PLANS = """
import json, sys, evroute
n = evroute.load_network(sys.argv[1])
for ends in json.loads(sys.argv[2]):
    plan = evroute.plan(n, waypoints=ends, vehicle="reference", physics="eq8")
    routes = {name: plan.routes[name] for name in ("energy", "time", "distance")}
    print(json.dumps({"routes": {name: {
        "edges": list(r.edges), "edge_wh": r.edge_wh.tolist(), "energy_wh": r.energy_wh,
        "time_s": r.time_s, "length_m": r.length_m} for name, r in routes.items()}}))
"""
NUMBER = re.compile(r"-?\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?")
"""A cell of a report that holds a number; edge ids with commas are none."""
WINTER = ["--temperature", "-5", "--wind", "8", "--wind-from", "270", "--payload", "150"]
WINTER += ["--speed-factor", "0.9", "--search", "potential-rectified"]
VEHICLES = ["", "", "renault-zoe", "tesla-model-3"]


# --- networks and plans


def networks(names: Iterable[str]) -> Tasks:
    """Return the tasks that load networks by name."""
    return {
        name: lambda tree, n=name: {n: json.loads(tree.python("-c", NETWORK, n))} for name in names
    }


def write_requests(
    path: Path,
    edge_id: list[str],
    rows: int,
    rng: np.random.Generator,
    *,
    vehicles: Sequence[str] = VEHICLES,
) -> Path:
    """Write random trips: 40 % with a charge, 25 % via a place, 25 % with a time limit."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        table = csv.DictWriter(
            handle, ["id", "from", "via", "to", "vehicle", "soc", "reserve", "max_extra_time"]
        )
        table.writeheader()
        for number in range(rows):
            origin, via, destination = (
                edge_id[row] for row in rng.choice(len(edge_id), 3, replace=False)
            )
            row = {"id": number, "from": origin, "to": destination, "vehicle": rng.choice(vehicles)}
            if rng.random() < 0.4:
                row |= {"soc": rng.choice([2, 4, 6, 10, 30, 80]), "reserve": rng.choice([0, 5])}
            if rng.random() < 0.25:
                row["via"] = via
            if rng.random() < 0.25:
                row["max_extra_time"] = rng.choice(["5%", "20%"])
            table.writerow(row)
    return path


def plans(network: str, requests: Path, ends: list[list[str]], *, quick: bool) -> Tasks:
    """Return the tasks that plan on a network: requests, pairs of edges, trip A."""
    of = ("--network", network, "--vehicle", "reference")
    pairs = requests.with_suffix(".pairs.csv")
    rows = "".join(
        f'{number},"{origin}","{destination}"\n'
        for number, (origin, destination) in enumerate(ends)
    )
    pairs.write_text(f"id,from,to\n{rows}", encoding="utf-8")

    def answers(tree: Tree, table: Path, *options: str) -> Units:
        out = tree.evroute("route", *of, "--batch", table, *options, statuses=(0, 1))
        return {str(answer["id"]): answer for answer in map(json.loads, out.splitlines())}

    def shown(tree: Tree) -> Units:
        file = tree.scratch / f"{network}.geojson"
        options = ["--trip", "A", "--soc", 60, "--reserve", 5, "--json", "--geojson", file]
        plan = json.loads(tree.evroute("route", *of, "--alternatives", 3, *options))
        return {"plan": plan, "geojson": coordinates(file)}

    def in_python(tree: Tree) -> Units:
        lines = tree.python("-c", PLANS, network, json.dumps(ends)).splitlines()
        return {str(number): json.loads(line) for number, line in enumerate(lines)}

    tasks: Tasks = {
        f"{network} any day": lambda tree: answers(tree, requests),
        f"{network} winter": lambda tree: answers(tree, requests, *WINTER),
        f"{network} python": in_python,
        f"{network} trip A": shown,
    }
    if not quick:
        tasks[f"{network} energies"] = lambda tree: answers(tree, pairs, "--only", "energy")
    return tasks


def coordinates(geojson: Path) -> dict[str, list[float]]:
    """Return the longitudes and latitudes, by turns, of each route of a GeoJSON file."""
    features = json.loads(geojson.read_text(encoding="utf-8"))["features"]
    return {
        each["properties"]["route"]: np.ravel(each["geometry"]["coordinates"]).tolist()
        for each in features
        if each["properties"]["kind"] == "route"
    }


# --- learning from measured trips


def write_edge_table(path: Path, plans: list[Json], rng: np.random.Generator) -> Path:
    """Write trips measured edge by edge: routes of plans, 16 % above eq. 8, with noise."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        table = csv.writer(handle)
        table.writerow(["trip", "edge", "energy_wh", "travel_s"])
        for number, plan in enumerate(plans):
            route = plan["routes"][["energy", "time"][number % 2]]
            factor = 1.16 * (1 + 0.05 * rng.standard_normal())
            second = route["time_s"] / len(route["edges"])
            for edge, energy_wh in zip(route["edges"], route["edge_wh"], strict=True):
                measured_wh = (
                    energy_wh + (factor - 1) * abs(energy_wh) + 0.1 * rng.standard_normal()
                )
                table.writerow([f"trip {number}", edge, f"{measured_wh:.6f}", f"{second:.3f}"])
    return path


def write_gps_table(path: Path, lines: list[list[float]], rng: np.random.Generator) -> Path:
    """Write trips as GPS points every 3 s at 8 m/s with 4 m of noise, and a meter of energy."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        table = csv.writer(handle)
        table.writerow(["trip", "time", "lat", "lon", "energy_wh"])
        for number, line in enumerate(lines):
            lon, lat = np.reshape(line, (-1, 2)).T
            east, north = 111_320 * np.cos(np.radians(lat[0])), 111_320
            way_m = np.concatenate(
                [[0], np.cumsum(np.hypot(np.diff(lon) * east, np.diff(lat) * north))]
            )
            for point, at_m in enumerate(np.arange(0, way_m[-1], 24.0)):
                noise_m = 4 * rng.standard_normal(2)
                lats, lons = np.interp(at_m, way_m, lat), np.interp(at_m, way_m, lon)
                row = [f"{lats + noise_m[0] / north:.7f}", f"{lons + noise_m[1] / east:.7f}"]
                table.writerow([f"drive {number}", 3 * point, *row, f"{0.17 * at_m:.3f}"])
    return path


def learned(name: str, tables: list[Path], options: list[str], requests: Path) -> Tasks:
    """Return the task that learns tables into one folder, then plans on it.

    Parameters
    ----------
    name
        Name of the task and of the folder.
    tables
        Measured trips, learned one table after the other.
    options
        Options of ``evroute learn``.
    requests
        A table of trips to plan.
    """

    def task(tree: Tree) -> Units:
        folder = Path("learned", name)
        for table in tables:
            of = ("--network", "denver", "--vehicle", "reference", "--out", folder)
            tree.evroute("learn", table, *of, "--quiet", *options)
        batch = [
            "route",
            "--network",
            "denver",
            "--vehicle",
            "reference",
            "--belief",
            folder,
            "--batch",
            requests,
        ]
        found = {"trips": columns_of(tree.scratch / folder / "trips.parquet")}
        lines = tree.evroute(*batch, statuses=(0, 1)).splitlines()
        return found | {f"plan {answer['id']}": answer for answer in map(json.loads, lines)}

    return {name: task}


# --- simulated runs


@dataclass(frozen=True, slots=True)
class Simulation:
    """One ``evroute simulate`` command, with a run for each index; none if its method has one."""

    name: str
    options: tuple[object, ...]
    indices: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The run folder, below the folder that a tree's commands run in."""
        return Path("runs", self.name)

    def __call__(self, tree: Tree) -> Units:
        """Play and record all runs in a tree."""
        return self.played(tree, "record", tree.scratch / "tapes" / f"{self.name}.npz")

    def played(self, tree: Tree, mode: str, tape: Path) -> Units:
        """Play all runs in a tree and return, by index, their rounds and their agents' numbers.

        Parameters
        ----------
        tree
            The tree whose command is run.
        mode
            ``record``, or ``follow`` for the choices and measurements that a tape has recorded.
        tape
            The file of `replay`; ``record`` writes it.
        """
        chosen = [argument for index in self.indices for argument in ("--index", index)]
        command = ["simulate", *self.options, *chosen, "--out", self.folder, "--quiet"]
        tree.python(REPLAY, mode, tape, *as_flags(command, flags_of(tree, "simulate")))
        rounds = columns_of(tree.scratch / self.folder / "rounds.parquet")
        file = tape if mode == "record" else tape.with_suffix(".new.npz")
        with np.load(file) as stored:
            numbers = dict(stored)
        found = {}
        for place, index in enumerate(self.indices or [""]):
            rows = np.array([each == index or not index for each in rounds["index"]])
            found[index] = {
                "rounds": {name: _taken(column, rows) for name, column in rounds.items()},
                "agent": _share(numbers, place, len(self.indices) or 1),
            }
        return found


def on_one_history(old: Units, new: Units) -> dict[str, tuple[Comparison, int]]:
    """Compare runs by index, and count the choices in which the new tree took another route."""
    found = {}
    for index, before in old.items():
        after, compared, flips = new[index], Comparison(), 0
        for name in [each for each in before["agent"] if each.startswith("route/")]:
            own = after["agent"].get(name)
            flips += not np.array_equal(before["agent"].pop(name), own)
        compared.add(before, after)
        found[index] = compared, flips
    return found


def _share(numbers: dict[str, Any], place: int, runs: int) -> dict[str, Any]:
    """Return the numbers of one of ``runs`` equally long runs that follow each other on a tape."""
    totals = Counter(name.partition("/")[0] for name in numbers)
    found = {}
    for name, array in numbers.items():
        kind, _, number = name.partition("/")
        run, at = divmod(int(number), totals[kind] // runs)
        if run == place:
            found[f"{kind}/{at}"] = array
    return found


def _taken(column: Any, rows: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    return [value for value, kept in zip(column, rows, strict=True) if kept]


def columns_of(path: Path) -> dict[str, Any]:
    """Read a Parquet table: numbers as arrays, texts as lists."""
    table = pq.read_table(path)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    return {name: each.tolist() if each.dtype == object else each for name, each in columns.items()}


# --- plain bandits and reports


def bandit(name: str, experiment: Path) -> Tasks:
    """Return the task that plays a plain bandit."""

    def task(tree: Tree) -> Units:
        folder = Path("bandits", name)
        tree.evroute("bandit", experiment, "--out", folder, "--quiet")
        rounds = columns_of(tree.scratch / folder / "rounds.parquet")
        if "method" not in rounds:
            return {"": rounds}
        labels = np.array(rounds["method"])
        return {
            str(label): {n: _taken(c, labels == label) for n, c in rounds.items()}
            for label in np.unique(labels)
        }

    return {name: task}


def report(simulation: Simulation) -> Tasks:
    """Return the task that writes the report of a simulation and reads its tables."""

    def task(tree: Tree) -> Units:
        page = tree.scratch / f"{simulation.name}.html"
        tree.evroute("report", simulation.folder, "--out", page)
        parser = _Tables()
        parser.feed(page.read_text(encoding="utf-8"))
        units: Units = {}
        for head, *body in parser.tables:  # another tree may put further tables in between
            alike = sum(name.startswith(f"{len(head)} columns") for name in units)
            units[f"{len(head)} columns, table {alike + 1}"] = {"numbers": numbers_of(head, body)}
        return units

    return {simulation.name: task}


class _Tables(HTMLParser):
    """Collects the cells of every table: ``tables[i][row][column]``."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.tables[-1][-1].append("".join(self._cell).strip())
            self._cell = None


def numbers_of(head: list[str], body: list[list[str]]) -> list[list[float]]:
    """Return the numbers of each row of a table, but for columns in milliseconds."""
    kept = [place for place, title in enumerate(head) if "(ms)" not in title]
    rows = [[row[place] for place in kept if place < len(row)] for row in body]
    return [
        [float(cell.replace(",", "")) for cell in row if NUMBER.fullmatch(cell)] for row in rows
    ]
