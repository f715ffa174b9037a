"""How tight confidence bounds are on roads, whether they hold, and what they cost.

``python studies/bounds_on_roads.py tightness denver monaco`` drives trip A by GP-TS in
worlds drawn from the prior and compares, after some rounds, the widths of the intervals of all
edges, of the edges driven, and of the best route, and how much of the truth they hold. B: the rule
``auto``, 10, and the norm of the truth itself. ``python studies/bounds_on_roads.py timing
luxembourg`` times CMM and AMM for all edges, and CMM by the dual against a general solver of its
cone program (SLSQP) with few measurements. Both need ``PYTHONPATH=tests/oracles``.
"""

import argparse
import time
from collections import defaultdict
from zlib import crc32

import numpy as np
from bound_state import BoundState
from numpy.random import SeedSequence, default_rng
from rkhs_bandit import Problem
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from evroute.arms import Feedback
from evroute.methods.setting import load_setting
from evroute.model.bounds.sets import ConfidenceSet
from evroute.model.exact import ExactGP
from evroute.planning.forecasts.forecast import forecast
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import WEIGHT_RULES
from evroute.policy.agent import Agent
from evroute.policy.bounds import AUTO_NORM, NORM_FACTOR, assume, bounds
from evroute.policy.confidence import UCBOptions
from evroute.policy.thompson import IndependentThompson
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.world import load_world

ROUNDS = (1, 3, 10, 30, 100)
DELTA = 0.05
Z = 1.959963984540054
KINDS = ("cmm", "dmm", "amm", "ay", "igp")


def tightness(network: str, seeds: int) -> None:
    """Print the half-widths of the bounds on the roads of trip A."""
    setting = load_setting(network, "reference")
    found = defaultdict(list)
    for seed in range(seeds):
        world_seeds, policy_seeds = SeedSequence(seed, spawn_key=(crc32(network.encode()),)).spawn(
            2
        )
        world = load_world({"kind": "sampled-gp"}).build(
            setting, Repeated(*setting.ends("A")), world_seeds
        )
        model = ExactGP(
            setting.kernel,
            setting.arms,
            setting.noise_std_wh,
            prior_factor=lambda: setting.prior_factor,
        )
        agent = Agent(
            model=model,
            index=IndependentThompson(),
            weight_rule=WEIGHT_RULES["potential-rectified"],
            space=EdgeSpace(setting.network, setting.vehicle),
            rng=default_rng(policy_seeds),
        )
        least = 0.0
        for t in range(1, ROUNDS[-1] + 1):
            request = world.observe(t)
            route = agent.ask(request)
            agent.tell(world.drive(request, route))
            if t in ROUNDS:
                truth = world.expected_wh(request) - request.arms.prior_mean_wh
                own = float(
                    np.linalg.norm(solve_triangular(setting.prior_factor, truth, lower=True))
                )
                least = compare(found, t, model, request.arms, route, truth, own, least)
    show(network, seeds, found)


def compare(found, t, model, arms, route, truth, own, least):
    """Add widths and coverage of every interval after t trips; return the largest B_min so far."""
    spectrum = model.spectrum()
    points = model.points(spectrum, arms)
    rows = arms.rows_of(route.rows)
    distinct, counts = np.unique(rows, return_counts=True)
    driven = arms.take(distinct)
    total = model.points(spectrum, driven).summed(
        counts.astype(float), model.prior_covariance(driven)
    )
    route_truth = truth[rows].sum()

    def add(name, norm, low, high, joint):
        edges = np.median(high - low), np.median((high - low)[distinct])
        whole = joint[1] - joint[0], (high - low)[rows].sum()
        holds = np.mean((low <= truth) & (truth <= high)), joint[0] <= route_truth <= joint[1]
        found[t, norm, name].append((*edges, *whole, *holds))

    for norm in ("auto", "10", "truth"):
        if norm == "auto":
            b_min = ConfidenceSet(spectrum, assume(AUTO_NORM, 1.0, DELTA, "mixture")).b_min
            least = max(least, b_min)
            value = max(AUTO_NORM, NORM_FACTOR * least)
            found[t, "", "b_min"].append(b_min)
            found[t, "", "own"].append(own)
        else:
            value = 10.0 if norm == "10" else own
        for kind in KINDS:
            confidence = ConfidenceSet(
                spectrum, assume(value, 1.0, DELTA, "mixture" if kind in ("cmm", "dmm") else 0.1)
            )
            if not confidence.feasible and kind in ("cmm", "dmm", "amm"):
                found[t, norm, "empty"].append(1.0)
                continue
            count = model.n_measured()
            each, joint = (bounds(confidence, some, kind, count=count) for some in (points, total))
            add(kind.upper(), norm, each.low, each.high, (joint.low[0], joint.high[0]))
    belief, energy = model.posterior(arms), forecast(model, arms, route.rows)
    mean, prior_wh = belief.mean_wh - arms.prior_mean_wh, arms.prior_mean_wh[rows].sum()
    noise = np.sum(model.noise_std(arms)[rows] ** 2)
    std = np.sqrt(max(energy.std_wh**2 - noise, 0.0))
    for name, k in (("Bayes 95 %", Z), ("UCB", np.sqrt(UCBOptions().schedule(t + 1, len(arms))))):
        middle = energy.mean_wh - prior_wh
        ends = mean - k * belief.std_wh, mean + k * belief.std_wh
        add(name, "", *ends, (middle - k * std, middle + k * std))
    return least


def show(network, seeds, found):
    """Print a table of widths: median and share of edges within their bounds."""
    names = [("", "Bayes 95 %"), ("", "UCB")]
    names += [(norm, kind.upper()) for norm in ("auto", "10", "truth") for kind in KINDS]
    print(
        f"\n{network}, trip A, {seeds} worlds; norm of the truth "
        f"{np.mean(found[1, '', 'own']):.1f}."
    )
    print(
        "Least norm that fits after "
        + ", ".join(f"{t}: {np.mean(found[t, '', 'b_min']):.2f}" for t in ROUNDS)
        + " trips.\n"
    )
    head = ["B", "interval", *(f"{t}" for t in ROUNDS)]
    titles = (
        "Width of an edge's interval, Wh, median over all edges / over those of the route driven",
        "Width of the route's interval, Wh: joint / summed over its edges",
        "Share of edges whose truth is held / of routes",
    )
    for part, title in enumerate(titles):
        print(f"{title}:\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
        for norm, name in names:
            cells = []
            for t in ROUNDS:
                values = found.get((t, norm, name))
                if not values:
                    cells.append("empty")
                    continue
                one, other = np.mean(values, axis=0)[2 * part : 2 * part + 2]
                short = "" if len(values) == seeds else f" ({len(values)} of {seeds})"
                cells.append(
                    (f"{one:.4f} / {other:.2f}" if part == 2 else f"{one:.1f} / {other:.1f}")
                    + short
                )
            print(f"| {norm} | {name} | {' | '.join(cells)} |")
        print()


def timing(network: str) -> None:
    """Print the seconds of each bound on all edges by the number of measurements."""
    setting = load_setting(network, "reference")
    rng, arms = default_rng(0), setting.arms
    print(f"\n{network}: all {len(arms)} edges, seconds on one core\n")
    print(
        "| D | eigenbasis | edges into it | AMM | DMM | CMM | CMM, whole | AMM by one Cholesky "
        "factor |\n|" + " --- |" * 8
    )
    for d in (300, 1000):
        model = ExactGP(setting.kernel, arms, setting.noise_std_wh)
        rows = rng.permutation(len(arms))[:d]
        energy = arms.prior_mean_wh[rows] + setting.kernel.std_wh[rows] * rng.standard_normal(d) / 2
        model.update(Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy))
        laps = [time.perf_counter()]
        spectrum = model.spectrum()
        laps.append(time.perf_counter())
        points = model.points(spectrum, arms)
        laps.append(time.perf_counter())
        confidence = ConfidenceSet(spectrum, assume(1e3, 1.0, DELTA, "mixture"))
        for call in (confidence.analytic, confidence.best_of, confidence.exact):
            call(points)
            laps.append(time.perf_counter())
        lap = np.diff(laps)
        started = time.perf_counter()
        prior = setting.kernel(rows, arms.features[rows], rows, arms.features[rows])
        cross = setting.kernel(rows, arms.features[rows], arms.id, arms.features)
        noise = setting.noise_std_wh[rows]
        gram = prior / noise / noise[:, np.newaxis] + confidence.assumptions.alpha * np.eye(d)
        root = solve_triangular(np.linalg.cholesky(gram), cross / noise[:, np.newaxis], lower=True)
        np.einsum("ij,ij->j", root, root)
        direct = time.perf_counter() - started
        whole = lap[0] + lap[1] + lap[4]
        print(
            f"| {d} | {' | '.join(f'{s:.2f}' for s in lap)} | {whole:.2f} | {direct:.2f} |",
            flush=True,
        )


def cone(n_arms: int = 25) -> None:
    """Print the seconds of a second solver, of cone programs, beside the dual."""
    print(
        "\nSeconds for both ends at 25 points, RBF, d = 1\n\n| t | dual | SLSQP | largest "
        "difference, in B |\n|" + " --- |" * 4
    )
    problem, grid = (
        Problem(np.inf, 0.3, d=1, norm=4.0, sigma=0.2),
        np.linspace(0, 1, n_arms)[:, np.newaxis],
    )
    for t in (5, 20, 40):
        rng = default_rng(t)
        f = problem.function(rng)
        x = rng.uniform(size=(t, 1))
        y = f(x) + problem.sigma * rng.standard_normal(t)
        started = time.perf_counter()
        state = BoundState(problem.kernel, B=4.0, sigma=0.2, c=1.0)
        state.observe(x, y)
        dual = state.bounds(grid)
        middle = time.perf_counter()
        high = [
            general(problem, x, y, point, state._square - state.confidence.excess) for point in grid
        ]
        low = [
            -general(problem, x, -y, point, state._square - state.confidence.excess)
            for point in grid
        ]
        ended = time.perf_counter()
        gap = max(np.abs(dual.high - high).max(), np.abs(dual.low - low).max()) / 4.0
        print(f"| {t} | {middle - started:.3f} | {ended - middle:.2f} | {gap:.1e} |")


def general(problem, x, y, point, radius2):
    """Return the largest value at a point over the confidence set, by quadratic programs."""
    every = np.vstack([x, point])
    factor = np.linalg.cholesky(problem.kernel(every, every) + 1e-10 * np.eye(len(every)))
    rows, goal = factor[:-1], factor[-1]
    start = np.linalg.solve(rows.T @ rows + 1e-2 * np.eye(len(goal)), rows.T @ y)
    fit = {"type": "ineq", "fun": lambda v: radius2 - np.sum((rows @ v - y) ** 2)}
    fit["jac"] = lambda v: -2 * rows.T @ (rows @ v - y)
    ball = {"type": "ineq", "fun": lambda v: problem.norm**2 - v @ v, "jac": lambda v: -2 * v}
    options = {"maxiter": 500, "ftol": 1e-12}
    found = minimize(
        lambda v: -goal @ v,
        start,
        jac=lambda v: -goal,
        constraints=[fit, ball],
        method="SLSQP",
        options=options,
    )
    return -found.fun


def main() -> None:
    """Carry out the chosen study on each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["tightness", "timing"])
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    for network in given.networks:
        if given.what == "tightness":
            tightness(network, given.seeds)
        else:
            timing(network)
    if given.what == "timing":
        cone()


if __name__ == "__main__":
    main()
