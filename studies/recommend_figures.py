"""Savings of recommended detours, and the truth of their reasons.

    python studies/recommend_figures.py pays 1000      # random trips on three networks
    python studies/recommend_figures.py reasons 40     # reasons of detours, counted again

``pays`` takes pairs of edges at random (seed 33) and checks the recommended route by the rule as
the documentation states it, from the energies and times of the plan. ``reasons`` counts lights,
signs, sharp corners, climb, length and mean speed of both routes from the stored roads alone, by
loops over their points, and compares them with the numbers of the sentence.
"""

import math
import re
import sys
from collections import Counter
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.network import controls
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute
from evroute.planning.planner import Planner
from evroute.report.words import cause

SEED = 33
NETWORKS = ("denver", "monaco", "luxembourg")
LEAST_WH, WH_PER_MINUTE = 20.0, 100.0


def plans(name: str, count: int) -> list[Plan]:
    """Return plans of random trips without a charge."""
    network = load_network(name)
    planner, rng = Planner(network), np.random.default_rng(SEED)
    found: list[Plan] = []
    while len(found) < count:
        ends = [str(network.edge_id[row]) for row in rng.integers(network.n_edges, size=2)]
        try:
            found.append(planner.plan(*ends))
        except NoRouteError:
            continue
    return found


def pays(count: int) -> None:
    """Print the share of trips with a detour, and its savings."""
    print("network, fastest recommended, saved Wh median and least, Wh a minute median and least")
    for name in NETWORKS:
        saved_wh, rates, kept = [], [], 0
        for plan in plans(name, count):
            best, fastest = plan.recommended_route, plan.fastest
            if best is fastest:
                kept += 1
                continue
            saving_wh = fastest.energy_wh - best.energy_wh
            extra_s = best.time_s - fastest.time_s
            if saving_wh < max(LEAST_WH, WH_PER_MINUTE * extra_s / 60):
                raise SystemExit(f"{name}: {plan!r} saves {saving_wh} Wh for {extra_s} s")
            saved_wh.append(saving_wh)
            if extra_s > 0:
                rates.append(60 * saving_wh / extra_s)
        print(
            f"{name}: {kept / count:.1%}, {np.median(saved_wh):.0f}, {min(saved_wh):.0f}, "
            f"{np.median(rates):.0f}, {min(rates):.0f}"
        )


def corners(network: RoadNetwork, edges: list[int]) -> int:
    """Return the number of turns by 60 degrees and more, from the points of the roads."""
    bearings = []
    for row in edges:
        first, last = network.shape_start[row], network.shape_start[row + 1]
        points = list(
            zip(network.shape_x_m[first:last], network.shape_y_m[first:last], strict=True)
        )
        steps = [
            (bx - ax, by - ay) for (ax, ay), (bx, by) in pairwise(points) if (ax, ay) != (bx, by)
        ]
        bearings.append([math.degrees(math.atan2(y, x)) for x, y in (steps[0], steps[-1])])
    found = 0
    for (_, leaving), (entering, _) in pairwise(bearings):
        off = abs(entering - leaving) % 360
        found += min(off, 360 - off) >= 60
    return found


def controlled(network: RoadNetwork, edges: list[int], control: int) -> int:
    """Return the number of turns with a control, found turn by turn."""
    if network.control is None:
        return 0
    of_turn = {
        (int(a), int(b)): int(c) for (a, b), c in zip(network.turns, network.control, strict=True)
    }
    pairs = pairwise(edges)
    return sum(of_turn[pair] == control for pair in pairs)


def of_stops(network: RoadNetwork, row: PlannedRoute, against: PlannedRoute) -> list[str]:
    """Return the sentences that are true of the lights, signs and corners of two routes."""
    ours, theirs = ([int(edge) for edge in each.route.edges] for each in (row, against))
    sentences = []
    for name, count in (
        ("traffic light", lambda edges: controlled(network, edges, controls.LIGHT)),
        ("stop sign", lambda edges: controlled(network, edges, controls.STOP)),
        ("sharp corner", lambda edges: corners(network, edges)),
    ):
        our, their = count(ours), count(theirs)
        if our < their:
            sentences.append(f"{our or 'no'} {name}{'' if our == 1 else 's'} instead of {their}")
    return sentences


def reasons(count: int) -> None:
    """Print how many reasons are those that are counted again."""
    outcome: Counter[str] = Counter()
    for name in NETWORKS:
        network, seen = load_network(name), 0
        for plan in plans(name, 1000):
            best, fastest = plan.recommended_route, plan.fastest
            if best is fastest or seen == -(-count // len(NETWORKS)):
                continue
            seen += 1
            text = cause(network, best, fastest)
            outcome[verdict(network, text, best, fastest)] += 1
    for words, number in outcome.most_common():
        print(f"{words}: {number}")


def verdict(network: RoadNetwork, text: str, row: PlannedRoute, against: PlannedRoute) -> str:
    """Return the kind of a reason and whether it is true."""

    def less(values: FloatArray) -> float:
        sums = [sum(float(values[edge]) for edge in each.route.edges) for each in (against, row)]
        return sums[0] - sums[1]

    numbers = [float(each) for each in re.findall(r"\d+\.?\d*", text)]
    if not text:
        return "no reason"
    if "climb" in text:
        kind, true = "climb", abs(less(network.ascent_m) - numbers[0]) <= 1
    elif "km/h" in text:
        own_kmh = [3.6 * each.length_m / each.time_s for each in (row, against)]
        kind, true = "mean speed", np.allclose(numbers, own_kmh, atol=0.51)
    elif "shorter" in text:
        stated_m, step_m = (1000 * numbers[0], 50) if "km" in text else (numbers[0], 1)
        ways_m = 0.01 * against.length_m  # over junctions, which the roads leave out
        kind, true = "length", abs(less(network.length_m) - stated_m) <= step_m + ways_m
    elif "instead of" in text:
        kind, true = "lights, signs, corners", text == " and ".join(of_stops(network, row, against))
    else:
        return "energy of braking, learned roads or a full battery, not counted"
    return f"{kind}: {'true' if true else f'FALSE, {text}'}"


if __name__ == "__main__":
    {"pays": pays, "reasons": reasons}[sys.argv[1]](int(sys.argv[2]))
