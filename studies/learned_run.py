"""The run on which the page Learn of the dashboard opens: ``data/learned/denver.json``.

    python -m studies.learned_run

The experiment of ``data/learned/denver.toml`` is played in all its worlds. The trips are kept of
the world whose regret at the end is the median: of an even number of worlds, the greater one of the
two in the middle. That world is played once more, to read after each trip what was learned.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.vehicle import load_vehicle, numbers_of
from evroute.experiments.agents import make_learners, make_scorers
from evroute.experiments.experiment import Experiment, load_experiment, simulate
from evroute.experiments.play import run_loop
from evroute.experiments.rivals import Rivals
from evroute.experiments.runs import Run, RunFolder
from evroute.experiments.streams import streams
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.setting import load_setting
from evroute.network.catalog import load_network
from evroute.report.learned_run import DrivenTrip, LearnedRun
from evroute.report.results import read_rounds
from evroute.resources import data_path
from evroute.worlds.demand.demand import load_demand

DIGITS = 1


def main() -> None:
    """Make the file."""
    experiment = load_experiment(data_path("learned", "denver.toml"))
    with TemporaryDirectory() as folder:
        found = learned_run(experiment, Path(folder, "run"))
    path = data_path("learned", "denver.json")
    found.write(path)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB, seed {found.seed}")
    print(found.sentence(experiment.horizon))


def learned_run(experiment: Experiment, path: Path) -> LearnedRun:
    """Play an experiment of one trip and one method, and return it in short.

    Parameters
    ----------
    experiment
        The experiment.
    path
        Folder of its runs, which is made.
    """
    folder, runs = RunFolder(path), list(experiment.runs())
    simulate(experiment, path, jobs=2)
    rounds = read_rounds(folder).sort_values(["seed", "t"])
    lost = {
        name: (rounds[column] - rounds["best_wh"]).to_numpy().reshape(len(runs), -1).cumsum(axis=1)
        for name, column in {"learned": "true_wh", "physics": "eq8_wh"}.items()
    }
    seeds = rounds["seed"].unique().tolist()
    median = np.argsort(lost["learned"][:, -1], kind="stable")[len(seeds) // 2]
    run = next(run for run in runs if run.seed == seeds[median])
    routes: dict[Route, int] = {}
    trips = trips_of(run, routes)
    network, vehicle = load_network(run.network), load_vehicle(run.vehicle)
    return LearnedRun(
        network=network.name,
        digest=network.digest,
        vehicle=vehicle.name,
        numbers=numbers_of(vehicle),
        seed=run.seed,
        learned_wh=lost["learned"].round(DIGITS).tolist(),
        physics_wh=lost["physics"].round(DIGITS).tolist(),
        routes=[list(route.edges) for route in routes],
        routes_wh=physics_wh(run, list(routes)),
        trips=trips,
    )


def trips_of(run: Run, routes: dict[Route, int]) -> list[DrivenTrip]:
    """Play a run, and return its trips with what was learned before each.

    Parameters
    ----------
    run
        The run.
    routes
        Receives each different route with its position.
    """
    setting = load_setting(run.network, run.vehicle, run.assumed)
    seeds = streams(run, setting)
    trips = load_demand(run.trip, setting, seeds.trips)
    learner = make_learners(run, ("",), seeds.policy, seeds.model)[""]
    means_wh: list[FloatArray] = []

    def keep(_: int = 0) -> None:
        posterior = learner.agent.model.posterior(learner.space.reference)
        means_wh.append(learner.space.edge_belief(posterior).mean_wh.copy())

    keep()
    log = run_loop(
        {"": learner.agent},
        run.world.build(setting, trips, seeds.world),
        make_scorers(run, ("",)),
        horizon=run.horizon,
        on_round=keep,
    )
    prior_wh = learner.space.edges.reference.prior_mean_wh
    rivals = Rivals.of_run(run)
    found = []
    for t in range(1, run.horizon + 1):
        driven = Route(tuple(log.routes["edge"][log.routes["t"] == t].tolist()))
        physics = rivals.at(t)["physics"]
        for route in (driven, physics):
            routes.setdefault(route, len(routes))
        unshared = np.array(sorted(set(driven.edges) ^ set(physics.edges)), dtype=int)
        more_wh = (means_wh[t - 1] - prior_wh)[unshared]
        road = int(unshared[more_wh.argmax()]) if len(unshared) and more_wh.max() > 0 else None
        found.append(
            DrivenTrip(
                learned=routes[driven],
                physics=routes[physics],
                road=road,
                learned_wh=0.0 if road is None else round(float(means_wh[t - 1][road]), DIGITS),
                physics_wh=0.0 if road is None else round(float(prior_wh[road]), DIGITS),
            )
        )
    return found


def physics_wh(run: Run, routes: list[Route]) -> list[float]:
    """Return the energy of routes by physics, with their turns, Wh.

    Parameters
    ----------
    run
        Run whose network, vehicle and method set the energies.
    routes
        The routes.
    """
    setting = load_setting(run.network, run.vehicle, run.assumed)
    belief = LearnedBelief.before_trips(run.method, setting)
    energies = []
    for route in routes:
        arms, rows = belief.route_arms(route)
        energies.append(float(arms.prior_mean_wh[rows].sum()))
    return energies


if __name__ == "__main__":
    main()
