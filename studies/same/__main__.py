"""Compare this tree with an older commit on one machine.

``make same BASE=<commit>`` takes an hour on two cores, with ``QUICK=1`` five minutes. Both
trees run the same commands at the same time, one process each. A result is identical, agrees to
1e-12, or differs. Simulated runs are compared on one history (`replay`): the new tree drives the
routes and learns the measurements of the old one. Rounds, posterior, index and energies must agree
at every choice; a run whose own choice of a route differs somewhere nevertheless is `replayed`.
``ONLY=simulate`` compares one family (with the networks and the plans on Denver that it starts
from), ``TABLE=same.csv`` writes the verdict on every result as soon as it is known and continues
the simulations of a table that is there, and
``IGNORE=half50_wh,half80_wh`` leaves out columns that changed on purpose.

The status is 0 if all results agree, 1 if some differ, and 2 if the old tree fails.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np
from compare import HEADER, VOLATILE, Comparison, Family, in_order
from doors import (
    Roads,
    asked,
    cold,
    fleets,
    matrices,
    money,
    needs,
    other_map,
    positions,
    ranges,
    refusals,
    risk,
    stations,
    stops,
    tours,
)
from families import (
    Simulation,
    Tasks,
    bandit,
    learned,
    networks,
    on_one_history,
    plans,
    report,
    write_edge_table,
    write_gps_table,
    write_requests,
)
from grid import in_cities, simulations, unlisted, write_trips
from trees import CommandError, Tree, Units, check_import, checked_out, side_by_side

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOORS = (
    *("positions", "stops", "risk", "range", "refusals", "needs", "matrix", "tour", "money"),
    *("fleets", "other-map", "cold"),
)
"""Families of `doors`, which ask for what a user may wish."""
FAMILIES = ("plans", *DOORS, "learn", "simulate", "bandit")
"""Families that can be compared alone; the reports belong to the simulations."""
SHOWN = 5
"""Differences of each family that are printed."""
QUICK = {"exact", "independent", "bkb", "recommended", "exact turns", "world everything"}
"""Simulations of a quick comparison."""
REPORTED = {"recommended", "physics+gp", "bbkb", "vehicles", "world everything"}
"""Simulations whose reports are compared."""


class Bench:
    """Both trees, the files that both read, and the families compared so far."""

    def __init__(self, old: Tree, new: Tree, inputs: Path, table: Path | None = None) -> None:
        self.old = old
        self.new = new
        self.inputs = inputs
        self.table = table
        self.families: list[Family] = []
        self._started = monotonic()

    def run(self, name: str, tasks: Tasks) -> dict[str, Units]:
        """Compare the tasks of a family, print the summary, and return the old results."""
        before, after = side_by_side(tasks, self.old, self.new)
        family = Family(name)
        for task, units in before.items():
            answer = after[task]
            if isinstance(answer, CommandError):
                self.add(family, task, "", Comparison(differences=[str(answer)]))
                continue
            for unit, each in in_order(units.items(), answer):
                self.add(family, task, unit, each)
        self.close(family)
        return before

    def simulate(self, simulations: Sequence[Simulation]) -> None:
        """Compare simulations, two at a time, but for those that the table has already."""
        family, known = Family("simulate"), self.known("simulate")
        left = [each for each in simulations if each.name not in known]
        with ThreadPoolExecutor(2) as pool:
            for each, (old, new) in zip(left, pool.map(self.followed, left), strict=True):
                if isinstance(old, CommandError):
                    print(f"    {each.name} is not compared, it fails in the old tree: {old}")
                    self.write(["simulate", each.name, "", "not compared", "", old])
                elif isinstance(new, CommandError):
                    self.add(family, each.name, "", Comparison(differences=[str(new)]))
                else:
                    for index, (found, flips) in on_one_history(old, new).items():
                        self.add(family, each.name, index, found, flips)
        self.close(family)

    def followed(self, simulation: Simulation) -> tuple[Any, Any]:
        """Return the results of a simulation in the old tree, and of the new one following it."""
        tape = self.inputs / "tapes" / f"{simulation.name}.npz"
        found: list[Any] = []
        for tree, mode in ((self.old, "record"), (self.new, "follow")):
            try:
                found.append(simulation.played(tree, mode, tape))
            except CommandError as error:
                return (found[0], error) if found else (error, None)
        for file in (tape, tape.with_suffix(".new.npz")):
            file.unlink()
        return found[0], found[1]

    def add(self, family: Family, task: str, unit: str, found: Comparison, flips: int = 0) -> None:
        """Add the comparison of a unit to its family and to the table."""
        verdict = family.add(f"{task} {unit}".rstrip(), found, flips=flips)
        self.write([family.name, task, unit, *verdict])

    def known(self, family: str) -> set[str]:
        """Return the tasks of a family that the table has from an interrupted comparison."""
        if self.table is None:
            return set()
        with self.table.open(newline="", encoding="utf-8") as handle:
            return {row[1] for row in csv.reader(handle) if row[0] == family}

    def write(self, row: list[object]) -> None:
        """Add a row to the table of all results, if one is written."""
        if self.table is not None:
            with self.table.open("a", newline="", encoding="utf-8") as handle:
                csv.writer(handle).writerow(row)

    def close(self, family: Family) -> None:
        """Print the summary of a family and its first differences."""
        self.families.append(family)
        print(f"{family.line()}  {monotonic() - self._started:.0f} s", flush=True)
        for difference in family.differences[:SHOWN]:
            print(f"    {difference}")
        if (more := len(family.differences) - SHOWN) > 0:
            print(f"    and {more} more")


def compare(bench: Bench, *, quick: bool, only: Sequence[str] = FAMILIES) -> None:
    """Run all families; later ones take their inputs from earlier results of the old tree.

    ``only`` names some families; the plans on Denver that the others read always run.
    """
    rng = np.random.default_rng(18)
    inputs, old = bench.inputs, bench.old
    chosen = set(only)
    offered = old.evroute("network", "list")
    cities = [name for name in ("monaco", "luxembourg") if name in offered]
    if len(cities) < 2:
        print("monaco, luxembourg: not compared; set EVROUTE_DATA_DIR to their data")
    roads = bench.run("networks", networks(["denver", *cities]))
    edge_id = {name: units[name]["edge_id"] for name, units in roads.items()}

    def ends(name: str, trips: int) -> list[list[str]]:
        return [rng.choice(edge_id[name], 2, replace=False).tolist() for _ in range(trips)]

    found: dict[str, Units] = {}
    for name in edge_id:
        requests = write_requests(inputs / f"{name}.csv", edge_id[name], 10 if quick else 100, rng)
        tasks = plans(name, requests, ends(name, 20 if quick else 60), quick=quick)
        if "plans" not in chosen:
            read = {"denver python", "denver trip A"}
            tasks = {task: each for task, each in tasks.items() if task in read}
        found |= bench.run(name, tasks) if tasks else {}

    driven = list(found["denver python"].values())
    half = len(driven) * 2 // 3
    first = write_edge_table(inputs / "first.csv", driven[:half], rng)
    second = write_edge_table(inputs / "second.csv", driven, rng)
    lines = list(found["denver trip A"]["geojson"].values())
    gps = write_gps_table(inputs / "gps.csv", lines * 2, rng)
    requests = write_requests(
        inputs / "believed.csv", edge_id["denver"], 5 if quick else 25, rng, vehicles=[""]
    )
    trips = write_trips(inputs / "trips.csv", ends("denver", 12))

    rows = 8 if quick else 40
    for name, tasks in of_doors(bench, first, rows, city=cities[0] if cities else "").items():
        if name in chosen:
            bench.run(name, tasks)
    if "learn" in chosen:
        tasks = learned("edges", [first, second], [], requests)
        tasks |= learned("turns", [first], ["--model", "exact", "--option", "arms=turns"], requests)
        tasks |= learned("gps", [gps], [], requests)
        if not quick:
            for model in ("exact", "svgp", "bkb"):
                tasks |= learned(model, [first], ["--model", model], requests)
        bench.run("learn", tasks)
    if "simulate" in chosen:
        compare_simulations(bench, trips, first, quick=quick, cities=bool(cities))
    if "bandit" in chosen:
        tasks = bandit("bandit", HERE / "bandit.toml")
        if not quick:
            tasks |= bandit("matern", HERE / "matern.toml")
        bench.run("bandit", tasks | bandit("starvation", HERE / "starvation.toml"))


def of_doors(bench: Bench, measured: Path, rows: int, *, city: str) -> dict[str, Tasks]:
    """Return the tasks of each family of `DOORS`.

    Parameters
    ----------
    bench
        Both trees.
    measured
        A table of trips measured on Denver.
    rows
        Number of requests of a family of plans.
    city
        Another network for the belief of Denver, or "" if there is none.
    """
    rng, folder = np.random.default_rng(49), bench.inputs
    roads = Roads.of(bench.old, "denver", rng)
    charged = {"stations": stations(folder, roads)}
    tables = {"positions": positions, "risk": risk, "money": money, "refusals": refusals}
    found = {
        name: asked(folder, roads.name, name, table(roads, rows)) for name, table in tables.items()
    }
    found["stops"] = charged | asked(folder, None, "stops", stops(roads, rows))
    found["cold"] = charged | asked(folder, None, "cold", cold(roads, rows))
    found["range"] = ranges(roads, rows // 2)
    found["tour"] = tours(roads, rows // 2)
    found["matrix"] = matrices(folder, roads, rows)
    found["needs"] = needs(folder, roads, rows)
    found["fleets"] = fleets(folder, roads, ROOT / "data", rows)
    if city:
        elsewhere = Roads.of(bench.old, city, rng)
        found["other-map"] = other_map(folder, measured, elsewhere, rows)
    return {name: found[name] for name in DOORS if name in found}


def compare_simulations(
    bench: Bench, trips: Path, measured: Path, *, quick: bool, cities: bool
) -> None:
    """Compare simulated runs, and the reports of some of them.

    Parameters
    ----------
    bench
        Both trees.
    trips, measured
        Tables of trips, as `grid.simulations` takes them.
    quick
        Whether few simulations are compared.
    cities
        Whether the networks of the data folder are there.
    """
    if names := unlisted(bench.old):
        print(f"    not simulated, name them in grid.py: {', '.join(names)}")
    runs = simulations(10 if quick else 30, trips, measured)
    if quick:
        runs = [replace(each, indices=each.indices[:5]) for each in runs if each.name in QUICK]
    elif cities:
        runs += in_cities(10)
    reported = ({"recommended"} if quick else REPORTED) - bench.known("simulate")
    bench.simulate(runs)
    pages = [report(each) for each in runs if each.name in reported]
    bench.run("report", {name: task for page in pages for name, task in page.items()})


def main() -> int:
    """Compare, print a line for each family, and return the exit status."""
    parser = argparse.ArgumentParser(prog="make same", description=__doc__.partition("\n")[0])
    parser.add_argument("base", help="the commit to compare with, such as HEAD~1")
    parser.add_argument(
        "--quick", action="store_true", help="few plans and methods, in about a minute"
    )
    parser.add_argument("--only", action="append", choices=FAMILIES, help="one family of results")
    parser.add_argument("--table", type=Path, help="a CSV file for the verdict on each result")
    parser.add_argument("--ignore", default="", help="columns that changed on purpose: A,B")
    chosen = parser.parse_args()
    VOLATILE.update(chosen.ignore.split(","))
    with TemporaryDirectory(prefix="evroute-same-") as folder:
        place = Path(folder)
        inputs = place / "inputs"
        inputs.mkdir()
        try:
            root = checked_out(chosen.base, ROOT, place / "base")
            old, new = Tree("old", root, place / "old"), Tree("new", ROOT, place / "new")
            for tree in (old, new):
                check_import(tree)
            print(HEADER)
            bench = Bench(old, new, inputs, chosen.table)
            if chosen.table is None or not chosen.table.exists():
                bench.write(["family", "task", "unit", "verdict", "largest", "differences"])
            compare(bench, quick=chosen.quick, only=chosen.only or FAMILIES)
        except CommandError as error:
            print(f"make same: {error}", file=sys.stderr)
            return 2
    different = sum(len(family.differences) for family in bench.families)
    compared = sum(family.compared for family in bench.families)
    verdict = f"{different} differ" if different else "all the same"
    print(f"{compared} results compared with {chosen.base}: {verdict}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
