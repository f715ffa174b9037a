"""The simulations that are compared.

Every model runs with every index that it supports; further commands cover arms on turns, named
methods, searches, worlds, priors and demand.
"""

import csv
import json
import re
from pathlib import Path

from families import Simulation
from trees import Tree

EVERYWHERE = (
    "ucb",
    "bayes-ucb",
    "bayes-ucb-quantile",
    "ts",
    "ts-joint",
    "greedy",
    "random",
    "epsilon-greedy",
)
BOUNDS = ("cmm-ucb", "dmm-ucb", "amm-ucb", "ay-gp-ucb", "igp-ucb")
RADIUS = ("radius",)
INDICES = {
    **dict.fromkeys(("exact", "regional", "physics+gp"), EVERYWHERE + BOUNDS),
    **dict.fromkeys(("independent", "svgp-gpytorch", "factor", "physics"), EVERYWHERE),
    **dict.fromkeys(("bkb", "cbkb", "cbbkb", "bbkb", "batch-ucb"), EVERYWHERE + RADIUS),
    **dict.fromkeys(("delayed", "ek-ucb", "k-ucb", "svgp"), EVERYWHERE + RADIUS),
}
ONLY_EDGES = {"regional"}
REMOVED = {"fixed-features", "bounded", "edge-speeds"}
"""Models of earlier trees that this tree no longer has."""
METHODS = {
    "recommended": (),
    "region": (),
    "gp-ts": ("variance_scale=0.1",),
    "gp-bayes-ucb": ("omega=0.5", "xi=0.5"),
    "ek-ucb": ("multiplier=1",),
    "k-ucb": ("multiplier=1",),
}
"""Named methods, and the options given to them."""
WORLDS = (
    "free-flow",
    "congestion",
    "congestion-known",
    "changing",
    "cold",
    "everything",
    "payload",
    "wind",
)
SHIPPED = ("--network", "denver", "--trip", "A", "--seeds", 1)


def simulations(horizon: int, trips: Path, measured: Path) -> list[Simulation]:
    """Return the simulations on Denver.

    Parameters
    ----------
    horizon
        Trips of each run; worlds other than the sampled one get a third.
    trips
        A table of trips of several vehicles, as `write_trips` writes it.
    measured
        A table of measured trips, as `families.write_edge_table` writes it.
    """
    short = (*SHIPPED, "--horizon", horizon)
    shorter = (*SHIPPED, "--horizon", max(horizon // 3, 3))
    found = [
        Simulation(model, (*short, "--model", model), indices) for model, indices in INDICES.items()
    ]
    for model in INDICES.keys() - ONLY_EDGES:
        own = tuple(index for index in ("ts", "radius", "cmm-ucb") if index in INDICES[model])
        found.append(
            Simulation(f"{model} turns", (*short, "--model", model, "--option", "arms=turns"), own)
        )
    found.append(Simulation("braked", (*short, "--option", "arms=turns-braked"), ("ts",)))
    for method, options in METHODS.items():
        given = [argument for option in options for argument in ("--option", option)]
        name = f"method {method}" if method in INDICES else method
        found.append(Simulation(name, (*short, "--method", method, *given)))
    for rule in ("rectified", "potential", "clamped"):
        found.append(Simulation(f"search {rule}", (*short, "--search", rule), ("ts", "ucb")))
    for world in WORLDS:
        watched = ("--option", "audit=true", "--option", "soc=60", "--option", "reserve=5")
        found.append(
            Simulation(
                f"world {world}", (*shorter, "--world", world, *watched), ("ts", "bayes-ucb")
            )
        )
    replayed = trips.with_name("replay.toml")
    replayed.write_text(f'kind = "replay"\ntable = {json.dumps(str(measured))}\n', encoding="utf-8")
    several = ("--network", "denver", "--seeds", 2, "--horizon", horizon)
    return [
        *found,
        Simulation("world of trips", (*shorter, "--world", replayed), ("ts",)),
        Simulation(
            "dissipation",
            (*short, "--option", "prior=dissipation", "--option", "lengthscale=0.5"),
            ("ts", "ucb"),
        ),
        Simulation("guarded", (*short, "--option", "guard=true"), ("ts", "random")),
        Simulation("in flight", (*short, "--option", "in_flight=4"), ("ts", "ucb")),
        Simulation("closures", (*short, "--option", "closed_share=0.02"), ("ts",)),
        Simulation("random trips", (*several, "--trip", "random 1-2 km"), ("ts", "bayes-ucb")),
        Simulation("vehicles", (*several, "--trip", trips, "--world", "cold"), ("ts",)),
    ]


def in_cities(horizon: int) -> list[Simulation]:
    """Return the simulations on the networks of the data folder, ``horizon`` trips each."""
    short = ("--seeds", 1, "--method", "bi-ts", "--horizon")
    return [
        Simulation("luxembourg", (*short, horizon, "--network", "luxembourg", "--trip", "A")),
        Simulation("monaco", (*short, horizon, "--network", "monaco", "--trip", "A")),
        Simulation("world sumo", (*short, 4, "--network", "monaco", "--world", "sumo")),
    ]


def write_trips(path: Path, ends: list[list[str]]) -> Path:
    """Write a table of trips that three vehicles drive in turn."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        table = csv.writer(handle)
        table.writerow(["origin", "destination", "departure", "vehicle"])
        for number, (origin, destination) in enumerate(ends):
            vehicle = ("", "renault-zoe", "tesla-model-3")[number % 3]
            table.writerow([origin, destination, 900 * number, vehicle])
    return path


def unlisted(tree: Tree) -> list[str]:
    """List the models and indices of a tree that no simulation here names."""
    two_columns = r"^│ (\S+) +│[^│]*│$"
    methods = tree.evroute("method", "list").partition("Kernels")[0]
    offered = re.findall(two_columns, methods, re.MULTILINE)
    known = {*INDICES, *REMOVED, *(index for each in INDICES.values() for index in each)}
    return [name for name in offered if name not in known]
