"""The figures of docs/figures/search.md on random pairs of edges; each command prints one table.

    python studies/search_figures.py rules     # the potential against Bellman-Ford, the
    other rules' losses python studies/search_figures.py savings   # least energy against
    fastest python studies/search_figures.py battery   # what a bounded battery changes
    python studies/search_figures.py limits    # how time limits are proven

``EVROUTE_DATA_DIR`` names the data folder.
"""

import sys
from collections import Counter

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery, follow
from evroute.planning.planner import Planner
from evroute.planning.weights import WEIGHT_RULES

CITIES = ("monaco", "luxembourg")
N_PAIRS = 1000
SAME_WH = 1e-6
AT_ONCE = 100


def draw_pairs(network: RoadNetwork) -> IntArray:
    """Return (N_PAIRS, 2) edge rows, origin and destination apart."""
    rng = np.random.default_rng(0)
    pairs: IntArray = np.array(
        [rng.choice(network.n_edges, 2, replace=False) for _ in range(N_PAIRS)]
    )
    return pairs


def bellman_ford(network: RoadNetwork, energy_wh: FloatArray, origins: IntArray) -> FloatArray:
    """Return the least signed energy to every edge, (origins, n), by relaxing all turns to the end.

    Raises
    ------
    ArithmeticError
        If a round trip gains energy.
    """
    by_target = np.argsort(network.turns[:, 1], kind="stable")
    source, target = network.turns[by_target].T
    entered, first = np.unique(target, return_index=True)
    least = np.full((len(origins), network.n_edges), np.inf)
    least[np.arange(len(origins)), origins] = energy_wh[origins]
    for _ in range(network.n_edges):
        reached = np.minimum.reduceat(least[:, source], first, axis=1) + energy_wh[entered]
        better = reached < least[:, entered]
        if not better.any():
            return least
        least[:, entered] = np.where(better, reached, least[:, entered])
    raise ArithmeticError("a round trip gains energy")


def rules(network: RoadNetwork) -> None:
    """Print each rule's loss against the least signed energy."""
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    prior, pairs = planner.prior, draw_pairs(network)
    least_wh = np.concatenate(
        [
            bellman_ford(network, prior.mean_wh, part[:, 0])[np.arange(len(part)), part[:, 1]]
            for part in np.array_split(pairs, N_PAIRS // AT_ONCE)
        ]
    )
    positive = least_wh > 0
    for name, rule in WEIGHT_RULES.items():
        weights = rule(prior.mean_wh, prior.noise_std_wh, prior.potential_wh)
        found_wh = np.array(
            [prior.mean_wh[planner.search.route(weights, *pair).rows].sum() for pair in pairs]
        )
        loss_wh = found_wh - least_wh
        lost = loss_wh > SAME_WH
        of_losing = np.median(loss_wh[lost]) if lost.any() else 0.0
        share = loss_wh[positive].sum() / least_wh[positive].sum()
        print(
            f"{network.name:11}{name:20} loses on {lost.mean():6.1%}: mean of all "
            f"{loss_wh.mean():6.2f} Wh, "
            f"median of the losing {of_losing:6.2f}, worst {loss_wh.max():7.2f}, least "
            f"{loss_wh.min():.0e}; "
            f"{share:.2%} of the energy where that is positive"
        )


def savings(network: RoadNetwork) -> None:
    """Print energy saved and time lost by the least-energy route against the fastest."""
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    saved_wh, share, extra = [], [], []
    for origin, destination in draw_pairs(network).tolist():
        routes = planner.plan(origin, destination).routes
        energy, fastest = routes["energy"], routes["time"]
        saved_wh.append(fastest.energy_wh - energy.energy_wh)
        extra.append(energy.time_s / fastest.time_s - 1)
        if fastest.energy_wh > 0:
            share.append(saved_wh[-1] / fastest.energy_wh)
    saved = np.array(saved_wh)
    print(
        f"{network.name:11}saves mean {saved.mean():.1f} Wh, median {np.median(saved):.1f}, p90 "
        f"{np.percentile(saved, 90):.1f}; none on {(saved <= SAME_WH).mean():.1%}, below 1 Wh on "
        f"{(saved < 1).mean():.1%}; of the fastest's energy: mean {np.mean(share):.1%}, median "
        f"{np.median(share):.1%} ({len(share)} pairs where that is positive); extra time mean "
        f"{np.mean(extra):.1%}, median {np.median(extra):.1%}"
    )


def battery(network: RoadNetwork) -> None:
    """Print how often a bounded battery changes the best route, by start charge; a reserve of 0."""
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    pairs = draw_pairs(network)
    energy_wh = planner.prior.mean_wh
    unbounded = [planner.search.route(planner.prior.dissipated_wh, *pair) for pair in pairs]
    for start in (100, 50, 12):
        cell = Battery.of_percent(planner.vehicle.battery_kwh, start, 0)
        changed, impossible, gained_wh, lost_wh, dip_wh = 0, 0, [], [], []
        for pair, plain in zip(pairs, unbounded, strict=True):
            try:
                route = planner.problem(tuple(pair.tolist())).most_charge(cell)
            except NoRouteError:
                impossible += 1
                continue
            naive, bounded = (
                follow(cell, energy_wh[plain.rows]),
                follow(cell, energy_wh[route.rows]),
            )
            better_wh = bounded.charge_wh[-1] - naive.charge_wh[-1]
            changed += better_wh > SAME_WH or naive.charge_wh.min() < 0
            gained_wh.append(better_wh)
            lost_wh.append(naive.lost_wh)
            dip_wh.append(naive.charge_wh[-1] - naive.charge_wh.min())
        lost, dip, gain = np.array(lost_wh), np.array(dip_wh), np.array(gained_wh)
        print(
            f"{network.name:11}from {start:3} %: another route on {changed / N_PAIRS:.1%}, none on "
            f"{impossible / N_PAIRS:.1%}; gains mean {gain.mean():.2f} Wh, greatest "
            f"{gain.max():.1f}; the unbounded "
            f"route loses over 20 Wh to a full battery on {(lost > 20).mean():.1%}, and has a low "
            "of 100 Wh or more "
            f"below arrival on {(dip >= 100).mean():.1%}"
        )


def limits(network: RoadNetwork) -> None:
    """Print the share of proven answers under time limits, by extra time and start charge."""
    planner = Planner(network, load_vehicle("reference"), physics="eq8")
    pairs = draw_pairs(network)[:100]
    for start in (None, 100, 12):
        cell = None if start is None else Battery.of_percent(planner.vehicle.battery_kwh, start, 0)
        for extra in (0.02, 0.05, 0.1, 0.2):
            proofs = Counter(
                planner.plan(*pair, battery=cell, max_extra_time=extra).proof
                for pair in pairs.tolist()
            )
            charge = "no battery" if start is None else f"from {start} %"
            print(f"{network.name:11}{charge}, {extra:.0%} extra: {dict(proofs.most_common())}")


if __name__ == "__main__":
    figures = {"rules": rules, "savings": savings, "battery": battery, "limits": limits}
    if len(sys.argv) != 2 or sys.argv[1] not in figures:
        sys.exit(f"usage: search_figures.py {'|'.join(figures)}")
    for city in CITIES:
        figures[sys.argv[1]](on_terrain(load_network(city), "edge"))
