"""Error of the sparse variational model against the exact posterior, on the latter's trips.

    EVROUTE_DATA_DIR=... OMP_NUM_THREADS=1 python studies/svgp_lag.py monaco A

prints the table of docs/figures/svgp.md: minutes, for the literal form takes a second a trip.
"""

import sys
from collections.abc import Iterator

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Feedback
from evroute.energy.defaults import PAPER_VEHICLE as REFERENCE
from evroute.methods.setting import Setting, load_setting
from evroute.model.exact import ExactGP
from evroute.model.svgp import SparseVariationalGP, SVGPOptions
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.thompson import IndependentThompson
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.sampled_gp import SampledWorld

N_ROUNDS = 100
LOOK_AT = (10, 25, 50, 100)
ONE_STEP = {"natural_rate": 0.1, "adam_rate": 0.01, "batch_size": 2500}
WAYS = {
    "default: the optimum on the whole history": {},
    "one step of 0.1, slots kept": ONE_STEP,
    "one step of 0.1, slots kept, contexts fixed": ONE_STEP | {"adam_rate": 0.0},
    "default, M = 100": {"inducing_points": 100},
    "`algorithm-3`": ONE_STEP | {"slots": "literal"},
}


def trips(setting: Setting, trip: str, exact: ExactGP) -> Iterator[Feedback]:
    """Yield the trips of Thompson sampling on the exact posterior in a drawn world."""
    world = SampledWorld().build(setting, Repeated(*setting.ends(trip)), SeedSequence(0))
    agent = Agent(
        model=exact,
        index=IndependentThompson(),
        weight_rule=WEIGHT_RULES["potential-rectified"],
        space=EdgeSpace(setting.network, setting.vehicle),
        rng=default_rng(1),
    )
    for t in range(1, N_ROUNDS + 1):
        request = world.observe(t)
        feedback = world.drive(request, agent.ask(request))
        agent.tell(feedback)
        yield feedback


def main(network: str, trip: str) -> None:
    """Print the lag of each way of placing the points, on the edges driven so far."""
    setting = load_setting(network, REFERENCE)
    given = (setting.kernel, setting.arms, setting.noise_std_wh)
    exact = ExactGP(*given)
    models = {
        name: SparseVariationalGP(*given, default_rng(0), options=SVGPOptions(**options))
        for name, options in WAYS.items()
    }
    driven: set[int] = set()
    print(
        "| round | D | way | mean, exact sd: median, 90th percentile | sd ratio off by: median, "
        "90th percentile |"
    )
    print("| --- | --- | --- | --- | --- |")
    for t, feedback in enumerate(trips(setting, trip, exact), start=1):
        driven.update(feedback.id.tolist())
        for model in models.values():
            model.update(feedback)
        if t in LOOK_AT:
            edge = np.array(sorted(driven))
            best = exact.posterior(setting.arms)
            for name, model in models.items():
                belief = model.posterior(setting.arms)
                mean = np.quantile(
                    abs(belief.mean_wh - best.mean_wh)[edge] / best.std_wh[edge], [0.5, 0.9]
                )
                std = np.quantile(abs(belief.std_wh / best.std_wh - 1)[edge], [0.5, 0.9])
                numbers = f"{mean[0]:.2f}, {mean[1]:.2f} | {std[0]:.2f}, {std[1]:.2f}"
                print(f"| {t} | {len(edge)} | {name} | {numbers} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
