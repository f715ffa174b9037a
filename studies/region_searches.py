"""CPU time of plans, refusals and ranges on a region, of two checkouts in turns.

    python studies/region_searches.py FOLDER OTHER
    python studies/region_searches.py FOLDER OTHER risk 1000 luxembourg

OTHER is a checkout of an older commit. Takes ``region.npz`` from the folder (`charging_region`),
with 200 stations placed by `SEED`. Each checkout answers in a process of its own, one request after
the other in turns, so both have the same load. Times are CPU seconds of one process. The kinds are
in `KINDS`: pairs are 5, 10, 20 and 40 km apart as the crow flies in turns, and each kind has
`REPEATS` of them after three that are not counted, fewer where they take more than ``MOST_S``
CPU seconds. Names of kinds behind OTHER choose some of them.

``risk`` compares plans within a limit of risk on a network by name or path: how many rows differ,
by how much in their own objective, and how the refusals differ.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SEED, STATIONS, REPEATS, UNCOUNTED, CITY_EDGES = 20261123, 200, 20, 3, 50_000
MOST_S = float(os.environ.get("MOST_S", "300"))
"""CPU seconds after which a kind ends."""
KM, KM_IN_CITY = (5.0, 10.0, 20.0, 40.0), (1.0, 2.0, 4.0, 8.0)
CAR, CAPACITY_WH, RESERVE_PERCENT = "volkswagen-id-3-58", 58_000.0, 5.0
KINDS = {
    "plan": {},
    "battery plan": {"charge": 1.3},
    "refused battery plan": {"charge": 0.6},
    "risk, met": {"charge": 2.5, "risk": 0.05},
    "risk, tight": {"charge": 1.8, "risk": 0.05},
    "risk, refused": {"charge": 1.2, "risk": 0.05},
    "one via": {"via": True},
    "range from 20 %": {"range": 20.0},
    "range from 20 %, risk": {"range": 20.0, "risk": 0.05},
    "charge to a place": {"need": True},
    "charging plan": {"charging": 0.75},
    "refused charging plan": {"charging": 0.02},
}
"""Charge above the reserve is a multiple of the least energy between the places."""


def loaded(path: str) -> Any:
    """Return a network by name, or a stored one with stations."""
    from evroute.network import store
    from evroute.network.catalog import load_network

    if not path.endswith(".npz"):
        return load_network(path)
    network, rng = store.load(Path(path)), np.random.default_rng(SEED)
    drawn = rng.choice(network.n_edges, 2 * STATIONS, replace=False).tolist()
    edges = [edge for edge in drawn if "motorway" not in network.road_class[edge]][:STATIONS]
    lon, lat = (each[network.head[edges]] for each in network.junction_lon_lat)
    kw = rng.choice([11.0, 22.0, 50.0, 150.0], len(edges))
    table = {
        "name": tuple(f"station {k}" for k in range(len(edges))),
        **{"lon": lon, "lat": lat, "kw": kw},
        "socket": tuple("ac" if power < 30 else "ccs" for power in kw),
    }
    return network.with_tables({"chargers": table})


def pairs(network: Any, seed: int) -> Iterator[list[int]]:
    """Yield origin, destination and a place on the way, in turns of `KM`."""
    rng, turn = np.random.default_rng(seed), 0
    at_x_m, at_y_m = network.x_m[network.tail], network.y_m[network.tail]

    def near(edge: int, apart: float) -> np.ndarray[Any, Any]:
        apart_m = np.hypot(at_x_m - at_x_m[edge], at_y_m - at_y_m[edge])
        return np.flatnonzero(np.abs(apart_m - 1000.0 * apart) < 300.0)

    while True:
        apart_km = KM if network.n_edges > CITY_EDGES else KM_IN_CITY
        origin, km = int(rng.integers(network.n_edges)), apart_km[turn % len(apart_km)]
        ends, between = near(origin, km), near(origin, km / 2)
        if len(ends) and len(between):
            yield [origin, int(rng.choice(ends)), int(rng.choice(between))]
        turn += 1


def answers(path: str) -> None:
    """Answer requests of standard input, one JSON line each, with times and results."""
    from evroute.learning.physics_belief import physics_belief
    from evroute.planning.planner import Planner

    network = loaded(path)
    planner = Planner(network, CAR, uncertainty=physics_belief)
    print(json.dumps({"edges": network.n_edges}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        call = request_of(planner, asked)
        begun = time.process_time()
        result = call()
        result["s"] = time.process_time() - begun
        print(json.dumps(result), flush=True)


def request_of(planner: Any, asked: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """Return the call that answers a request."""
    from evroute.errors import NoRouteError, NotEnoughChargeError
    from evroute.planning.battery import Battery
    from evroute.planning.reach import charge_needed, reach

    origin, destination, via = asked["pair"]
    reserve_wh = CAPACITY_WH * RESERVE_PERCENT / 100
    name = planner.network.edge_id
    if "range" in asked or "need" in asked:
        start_wh = CAPACITY_WH * asked.get("range", RESERVE_PERCENT) / 100
        battery = Battery(CAPACITY_WH, start_wh, reserve_wh)

        def within() -> dict[str, Any]:
            if "need" in asked:
                percent = charge_needed(planner, destination, battery)
                return {"roads": float(np.minimum(percent, 200.0).sum())}
            found = reach(planner, origin, battery, risk=asked.get("risk"))
            return {"roads": float(found.within.sum()), "m": found.length_m}

        return within
    try:
        usual = planner.plan(origin, destination)
    except NoRouteError:
        return lambda: {"none": True}
    wh = max(usual.routes["energy"].energy_wh, 0.0)
    wishes: dict[str, Any] = {"risk": asked["risk"]} if "risk" in asked else {}
    if "via" in asked:
        wishes["via"] = [name[via]]
    share = asked.get("charge", asked.get("charging"))
    if share is not None:
        start_wh = min(reserve_wh + share * wh, CAPACITY_WH)
        wishes["battery"] = Battery(CAPACITY_WH, start_wh, reserve_wh)
    if "charging" in asked:
        wishes["charge"] = True

    def planned() -> dict[str, Any]:
        try:
            plan = planner.plan(origin, destination, **wishes)
        except NotEnoughChargeError as error:
            return {"refused": str(error), "percent": error.start_percent}
        except NoRouteError:
            return {"none": True}
        numbers = {
            row: [each.energy_wh, each.time_s, each.length_m, hash(each.route.edges)]
            for row, each in plan.routes.items()
        }
        return {"rows": numbers, "proofs": plan.proofs, "recommended": plan.recommended}

    return planned


class Checkout:
    """A process that answers with the code of one checkout."""

    def __init__(self, folder: str, path: str) -> None:
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONHASHSEED": "0"}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--answer", path]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        self.edges = json.loads(self.process.stdout.readline())["edges"]

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()


def times(new: Checkout, old: Checkout, path: str, kinds: list[str]) -> None:
    """Print the table of times in turns."""
    network = loaded(path)
    print(f"{network.n_edges} edges, load {os.getloadavg()[0]:.1f}", flush=True)
    print("| what | answered, refused | before, ms | worst | now, ms | worst |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in kinds:
        took: dict[str, list[float]] = defaultdict(list)
        ends: Counter[str] = Counter()
        for number, pair in enumerate(pairs(network, SEED + len(kind))):
            asked = {"pair": pair} | KINDS[kind]
            sides = [("now", new), ("before", old)]
            found = {name: side.answer(asked) for name, side in sides[:: 1 - 2 * (number % 2)]}
            if any("none" in each for each in found.values()):
                continue
            for name, each in found.items():
                took[name].append(each["s"])
            if len(took["now"]) > UNCOUNTED:
                ends["refused" if "refused" in found["now"] else "answered"] += 1
            spent_s = sum(map(sum, took.values()))
            if len(took["now"]) == UNCOUNTED + REPEATS or spent_s > MOST_S:
                break
        row = [f"{ends['answered']}, {ends['refused']}"]
        for name in ("before", "now"):
            each_ms = 1000.0 * np.array(took[name][UNCOUNTED:])
            row += [f"{np.median(each_ms):.1f}", f"{each_ms.max():.1f}"]
        print(f"| {kind} | {' | '.join(row)} |", flush=True)


def compare(new: Checkout, old: Checkout, path: str, number: int) -> None:
    """Print how plans within a limit of risk differ."""
    network, rng = loaded(path), np.random.default_rng(SEED)
    seen: Counter[str] = Counter()
    changes: dict[str, list[float]] = defaultdict(list)
    took: dict[str, list[float]] = defaultdict(list)
    for pair in pairs(network, SEED):
        if seen["compared"] == number:
            break
        share, risk = rng.uniform(1.2, 4.5), float(rng.choice([0.01, 0.05, 0.1]))
        asked = {"pair": pair, "charge": share, "risk": risk}
        found, before = new.answer(asked), old.answer(asked)
        if "none" in found or "none" in before:
            continue
        seen["compared"] += 1
        for name, each in (("now", found), ("before", before)):
            took[name].append(each["s"])
        if "refused" in before or "refused" in found:
            seen[kind_of_refusal(found, before)] += 1
            continue
        seen["answered by both"] += 1
        for row, objective in (("energy", 0), ("time", 1), ("distance", 2)):
            change = found["rows"][row][objective] - before["rows"][row][objective]
            if abs(change) > 1e-6:
                changes[row].append(change)
            elif found["rows"][row][3] != before["rows"][row][3]:
                seen[f"{row}: another route of the same cost"] += 1
        gained = before["proofs"]["energy"] != found["proofs"]["energy"]
        if gained:
            seen[
                f"proof '{before['proofs']['energy'][:24]}' -> '{found['proofs']['energy'][:24]}'"
            ] += 1
        if found["recommended"] != before["recommended"]:
            seen["another recommended row"] += 1
    for what, count in sorted(seen.items()):
        print(f"{what}: {count}")
    for row, each in changes.items():
        worse = sum(change > 0 for change in each)
        print(f"{row}: {len(each)} differ, {worse} worse, {min(each)} to {max(each)}")
    for name, each in took.items():
        print(f"{name}: median {1000 * np.median(each):.0f} ms, worst {1000 * max(each):.0f} ms")


def kind_of_refusal(found: dict[str, Any], before: dict[str, Any]) -> str:
    """Return how a refusal differs, by its advice."""
    if "refused" not in found or "refused" not in before:
        return (
            "refused before, answered now"
            if "refused" in before
            else "answered before, refused now"
        )
    most = 101
    advised, earlier = found["percent"] or most, before["percent"] or most
    if advised == earlier:
        return "refused by both with the same advice"
    return "refused, less charge advised" if advised < earlier else "refused, more charge advised"


def main(folder: str, other: str, *rest: str) -> None:
    """Start both checkouts, and print."""
    here = str(Path(__file__).resolve().parents[1])
    path = f"{folder}/region.npz"
    if rest[:1] == ("risk",) and len(rest) > 2:
        path = rest[2]
    new, old = Checkout(here, path), Checkout(other, path)
    try:
        if rest[:1] == ("risk",):
            compare(new, old, path, int(rest[1]))
        else:
            times(new, old, path, list(rest) or list(KINDS))
    finally:
        new.end()
        old.end()


if __name__ == "__main__":
    if sys.argv[1] == "--answer":
        answers(sys.argv[2])
    else:
        main(*sys.argv[1:])
