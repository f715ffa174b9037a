"""SUMO's router against evroute on the same roads: the tables of docs/comparison.md, printed.

    python studies/comparison_sumo.py

Needs ``duarouter`` on the PATH or below ``SUMO_HOME`` (``pip install eclipse-sumo``) and
``EVROUTE_DATA_DIR``. 300 random pairs of edges on Monaco and on Luxembourg, both in the largest
part where every edge reaches every other. Energies are those of eq. 8 for the reference vehicle,
whatever a route was chosen by; times are those of free flow.
CPU seconds are those of whole processes: one answers one pair, another 3,000 pairs; what the second
needs more is told per request.
"""

import os
import resource
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.random import default_rng
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from evroute.arrays import FloatArray
from evroute.methods.setting import Setting, load_setting
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

N_PAIRS, N_TIMED, SEED = 300, 3000, 0
LOSES_WH = 0.01
NETS = {"monaco": "monaco/most.net.xml.gz", "luxembourg": "luxembourg/lust.net.xml.gz"}
CAR = (
    '<vType id="ev" vClass="passenger" emissionClass="Energy/unknown" '
    'speedFactor="1" speedDev="0"/>'
)
HEAD = (
    "by",
    "routes",
    "same",
    "mean loss Wh",
    "median",
    "worst",
    "lose",
    "mean time s",
    "start CPU s",
    "ms each",
)
PLAIN = ["--no-internal-links", "--weights.minor-penalty", "0", "--weights.expand", "-x", "effort"]


def duarouter() -> str:
    """Return the path of the program, or end with a line that says what to do."""
    home = os.environ.get("SUMO_HOME")
    found = shutil.which("duarouter") or (
        shutil.which("duarouter", path=f"{home}/bin") if home else None
    )
    if found is None:
        sys.exit(
            "duarouter is neither on the PATH nor below SUMO_HOME; run: pip install eclipse-sumo"
        )
    return found


def cpu_s(command: Sequence[str], output: Path) -> float:
    """Run a command and return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with output.open("w") as handle:
        subprocess.run(command, check=True, stdout=handle)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def draw(network: RoadNetwork) -> list[tuple[int, int]]:
    """Return random pairs of distinct edges of the largest strongly connected component."""
    ones = np.ones(len(network.turns))
    turns = csr_matrix((ones, tuple(network.turns.T)), shape=(network.n_edges, network.n_edges))
    part = connected_components(turns, connection="strong")[1]
    rows = np.flatnonzero(part == np.bincount(part).argmax())
    rng = default_rng(SEED)
    return [tuple(rng.choice(rows, size=2, replace=False).tolist()) for _ in range(N_TIMED)]


def write_trips(path: Path, network: RoadNetwork, pairs: Sequence[tuple[int, int]]) -> None:
    """Write the pairs as trips of SUMO."""
    lines = [
        f'<trip id="{i}" type="ev" depart="0" '
        f'from="{network.edge_id[a]}" to="{network.edge_id[b]}"/>'
        for i, (a, b) in enumerate(pairs)
    ]
    path.write_text(f"<routes>{CAR}{''.join(lines)}</routes>")


def write_weights(path: Path, network: RoadNetwork, effort: FloatArray) -> None:
    """Write a weight file: what every edge costs at any time."""
    edges = "".join(
        f'<edge id="{e}" effort="{w!r}"/>'
        for e, w in zip(network.edge_id, effort.tolist(), strict=True)
    )
    path.write_text(f'<meandata><interval begin="0" end="1000000">{edges}</interval></meandata>')


def read_routes(path: Path, network: RoadNetwork) -> dict[int, list[int]]:
    """Return the network rows of each trip's route; a trip that found none is missing."""
    row = {edge_id: k for k, edge_id in enumerate(network.edge_id)}
    root = ET.parse(path).getroot()
    return {
        int(each.attrib["id"]): [row[e] for e in each.find("route").attrib["edges"].split()]  # type: ignore[union-attr]
        for each in root.iter("vehicle")
    }


def routers(setting: Setting, place: Path) -> dict[str, list[str]]:
    """Return the options of every way to ask duarouter, the weight files written."""
    eq8_wh = setting.arms.prior_mean_wh
    files = {
        "clamped": np.maximum(eq8_wh, 0.0),
        "signed": eq8_wh,
        "potential": np.maximum(eq8_wh - setting.potential_wh, 0.0),
    }
    for name, effort in files.items():
        write_weights(place / f"{name}.xml", setting.network, effort)
    return {
        "travel time": [],
        "travel time, `--weights.minor-penalty 0`": ["--weights.minor-penalty", "0"],
        "`--weight-attribute electricity`": ["-x", "electricity"],
        "weight file, eq. 8 as it is": [*PLAIN, "-w", str(place / "signed.xml")],
        "weight file, eq. 8 clamped at 0": [*PLAIN, "-w", str(place / "clamped.xml")],
        "weight file, eq. 8 less `m g dz`": [*PLAIN, "-w", str(place / "potential.xml")],
    }


def compare(name: str, program: str, place: Path) -> None:
    """Print the lines of one network."""
    setting = load_setting(name, "reference")
    network, eq8_wh = setting.network, setting.arms.prior_mean_wh
    time_s = network.length_m / network.speed_mps
    pairs = draw(network)
    origins, destinations = np.array(pairs[:N_PAIRS]).T
    least = Planner(network, setting.vehicle, physics="eq8").energies(origins, destinations)
    trips = {"one": pairs[:1], "judged": pairs[:N_PAIRS], "timed": pairs}
    for label, those in trips.items():
        write_trips(place / f"{label}.trips.xml", network, those)
        rows = "".join(f"{network.edge_id[a]},{network.edge_id[b]}\n" for a, b in those)
        (place / f"{label}.csv").write_text("from,to\n" + rows)
    legal = set(map(tuple, network.turns.tolist()))
    base = [
        program,
        "-n",
        str(Path(os.environ["EVROUTE_DATA_DIR"], NETS[name])),
        "--no-step-log",
        "--no-warnings",
    ]
    print(f"\n{name}: {N_PAIRS} pairs, least energy {least.energy_wh.mean():.1f} Wh in the mean")
    print(f"| {' | '.join(HEAD)} |\n{'| --- ' * len(HEAD)}|")
    for label, options in routers(setting, place).items():
        out = place / "out.rou.xml"

        def ask(those: str, options: list[str] = options, out: Path = out) -> float:
            files = [
                "-r",
                str(place / f"{those}.trips.xml"),
                "-o",
                str(out),
                "--alternatives-output",
                "NUL",
            ]
            return cpu_s([*base, *files, "--ignore-errors", *options], place / "log.txt")

        start_s, timed_s = ask("one"), ask("timed")
        ask("judged")
        routes = read_routes(out, network)
        driven = {i: r for i, r in routes.items() if all(turn in legal for turn in pairwise(r))}
        loss = np.array([eq8_wh[r].sum() - least.energy_wh[i] for i, r in driven.items()])
        took_s = np.mean([time_s[r].sum() for r in driven.values()])
        same = sum(r == least.edges(i).tolist() for i, r in driven.items())
        print(
            f"| {label} | {len(driven)} | {same} | {loss.mean():.2f} | {np.median(loss):.2f} | "
            f"{loss.max():.1f} "
            f"| {np.mean(loss > LOSES_WH):.0%} | {took_s:.0f} | {start_s:.2f} | "
            f"{each_ms(start_s, timed_s):.2f} |",
            flush=True,
        )

    evroute = [sys.executable, "-m", "evroute", "route", "--network", name]
    for label, options in {"`--only energy`": ["--only", "energy"], "full plans": []}.items():

        def answer(those: str, options: list[str] = options) -> float:
            return cpu_s(
                [*evroute, "--batch", str(place / f"{those}.csv"), *options], place / "log.txt"
            )

        answer("one")  # makes what is made once
        start_s, took_s = answer("one"), least.time_s.mean()
        told = f"{start_s:.2f} | {each_ms(start_s, answer('timed')):.2f}"
        print(f"| evroute, {label} | | | | | | | {took_s:.0f} | {told} |", flush=True)


def each_ms(start_s: float, timed_s: float) -> float:
    """Return the milliseconds of a further request."""
    return 1e3 * (timed_s - start_s) / (N_TIMED - 1)


def main() -> None:
    """Print a table for each network."""
    program = duarouter()
    version = subprocess.run(
        [program, "--version"], check=True, capture_output=True, text=True
    ).stdout
    print(version.splitlines()[0])
    for name in NETS:
        with TemporaryDirectory() as folder:
            compare(name, program, Path(folder))


if __name__ == "__main__":
    main()
