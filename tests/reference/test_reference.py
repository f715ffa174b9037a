"""The package against the reference values of this folder (README.md)."""

import ast
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bound_state import BoundState
from scipy.sparse import csc_matrix

from evroute.arms import Arms, Belief, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.energy.longitudinal import energy_parts, potential_wh
from evroute.energy.vehicle import load_vehicle
from evroute.model.context_kernels.matern import Matern52
from evroute.model.exact import ExactGP
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.model.sparse.all_edges_cache import AllEdgesCache
from evroute.model.sparse.batches import Batches
from evroute.model.sparse.bkb import Redrawn
from evroute.model.sparse.ek import Growing, Kors
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import Redraw
from evroute.network.line_graph import LineGraph
from evroute.planning.weights import rectified_mean
from evroute.policy.confidence import BayesUCBOptions, UCBOptions

HERE = Path(__file__).parent
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def cases(name: str):
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def test_generators_import_nothing_of_the_package():
    for path in HERE.glob("[!t]*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith(("evroute", "numpy", "scipy"))]


def test_energy_is_eq_8():
    for case in cases("energy"):
        vehicle = replace(load_vehicle("reference"), **case["car"])
        length, climb, speed = (np.array([case[n]], dtype=float) for n in _EDGE)
        total = energy_parts(vehicle, length, climb, speed).total_wh
        np.testing.assert_allclose(total, case["energy_wh"], **CLOSE)
        np.testing.assert_allclose(potential_wh(vehicle, climb), case["potential_wh"], **CLOSE)


_EDGE = ("length_m", "climb_m", "speed_mps")


def laplacian(case) -> csc_matrix:
    source, target = np.array(sorted(case["turns"])).T
    n = len(case["length_m"])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))])
    graph = LineGraph(*(part.astype(np.int32) for part in (indptr, target, source)))
    return graph.laplacian(np.array(case["length_m"], dtype=float))


def test_kernels_are_eqs_132_to_136():
    for case in cases("graph_kernel"):
        if "turns" not in case:
            x = np.array(case["contexts"], dtype=float)
            found = Matern52()(x, x, np.array(case["lengthscales"]))
            np.testing.assert_allclose(found, case["matern52"], **CLOSE)
            continue
        built = laplacian(case)
        np.testing.assert_allclose(built.toarray(), case["laplacian"], **CLOSE)
        graph = GraphMatern(built, case["nu"], case["kappa"])
        np.testing.assert_allclose(graph.matrix(), case["kernel"], **CLOSE)
        edges = np.arange(len(case["length_m"]))
        np.testing.assert_allclose(graph.block(edges, edges), case["kernel"], **CLOSE)


def test_posteriors_are_eqs_2_and_3():
    for case in cases("posterior"):
        n = len(case["length_m"])
        kernel = EdgeContextKernel(
            GraphMatern(laplacian(case)),
            np.full(n, case["std_wh"]),
            np.array(case["lengthscales"], dtype=float),
        )
        prior_wh = np.array(case["prior_mean_wh"], dtype=float)
        arms = Arms(np.arange(n), np.array(case["contexts"], dtype=float), prior_wh)
        model = ExactGP(kernel, arms, np.array(case["noise_std_wh"], dtype=float))
        for trip in case["trips"]:
            rows = np.array([edge for edge, _ in trip])
            measured_wh = np.array([wh for _, wh in trip], dtype=float)
            model.update(Feedback(rows, arms.features[rows], prior_wh[rows], measured_wh))
        belief = model.posterior(arms)
        np.testing.assert_allclose(belief.mean_wh, case["mean_wh"], **CLOSE)
        np.testing.assert_allclose(model.covariance(arms), case["covariance_wh2"], **CLOSE)
        variance = np.diagonal(case["covariance_wh2"])
        np.testing.assert_allclose(belief.std_wh**2, variance, **CLOSE)


def test_indices_are_theorem_3_1_and_weights_algorithm_2():
    for case in cases("indices"):
        mean, std, noise = np.array(case["beliefs"], dtype=float).T
        n = case["n_arms"]
        believed = Belief(np.resize(mean, n), np.resize(std, n))
        model = SimpleNamespace(posterior=lambda arms, b=believed: b)
        arms = Arms(np.arange(n), np.zeros((n, 0)), np.zeros(n))
        levels = BayesUCBOptions(omega=case["omega"], xi=case["xi"])
        for name, options in (("ucb", UCBOptions()), ("bayes_ucb", levels)):
            index = options.build(None)
            found = index(case["t"], arms, model, np.random.default_rng(0))[: len(mean)]
            np.testing.assert_allclose(index.beta, case[f"beta_{name}"], **CLOSE)
            np.testing.assert_allclose(found, case[f"index_{name}"], **CLOSE)
            weights = rectified_mean(found, noise)
            np.testing.assert_allclose(weights, case[f"weight_{name}"], **CLOSE)


class Given:
    """Uniform numbers in place of a random stream."""

    def __init__(self, numbers: list[float]) -> None:
        self._numbers = list(numbers)

    def random(self, n: int) -> np.ndarray:
        found, self._numbers = self._numbers[:n], self._numbers[n:]
        return np.array(found)


def rule_of(case):
    if case["rule"] == "ek":
        return Growing(Kors(case["mu"], 0.5), gamma=case["gamma"])
    law = case.get("law", "union")
    redraw = Redraw(q_bar=case["q_bar"], sampling=law, max_dictionary=None)
    if case["rule"] == "bkb":
        return Redrawn(redraw)
    threshold = case["threshold"]
    return Batches(redraw, stop_rule="global", threshold=threshold, mode="strict", max_trips=99)


@pytest.mark.parametrize("case", cases("dictionaries"), ids=lambda c: f"{c['rule']}-{c['ridge']:g}")
def test_dictionaries_equal_the_algorithms_of_the_papers(case):
    x = np.array(case["arms"])
    n = len(x)
    arms = Arms(np.arange(n), x, np.zeros(n))
    kernel = VectorKernel("rbf", 1.0, case["lengthscale"])
    posterior = SparsePosterior(kernel, np.ones(n), 2, case["ridge"])
    everywhere, rule, rng = AllEdgesCache(posterior, arms), rule_of(case), Given(case["uniforms"])
    for arm, value, step in zip(case["pulls"], case["values"], case["steps"], strict=True):
        one = arms.take(np.array([arm]))
        if case["rule"] == "bbkb":
            rule.planned(posterior, one, everywhere, rng)
            np.testing.assert_allclose(rule.criterion, step["criterion"], **CLOSE)
        if case["rule"] == "ek":
            with_points = posterior.factor @ posterior.embed(one.id, one.features)[:, 0]
            np.testing.assert_allclose(rule._kors.score(1.0, with_points), step["score"], **CLOSE)
        rule.learn(posterior, posterior.slots(one.id, one.features), np.array([value]), rng)
        assert sorted(posterior.arms.id[posterior.dictionary].tolist()) == step["dictionary"]
        z = everywhere.embed()
        np.testing.assert_allclose(posterior.mean(z), step["mean"], **CLOSE)
        np.testing.assert_allclose(posterior.variance(z, np.ones(n)), step["variance"], **CLOSE)


def test_bounds_equal_flynn_and_reeb_and_their_baselines():
    for case in cases("bounds"):
        state = BoundState(
            lambda a, b, s=case["lengthscale"]: np.exp(-((a - b.T) ** 2) / (2 * s**2)),
            sigma=case["sigma"],
            B=case["norm"],
            delta=case["delta"],
            c=case["c"],
        )
        state.observe(np.array(case["x"]), np.array(case["y"]))
        np.testing.assert_allclose(state._square - state.confidence.excess, case["r2"], **CLOSE)
        for kind, ends in case["ends"].items():
            found = state.bounds(np.array(case["at"]), kind, eta=case["eta"])
            low, high = np.array(ends).T
            close = CLOSE
            if kind == "cmm":  # golden section stops early; every alpha is a valid bound
                assert np.all(found.low <= low + 1e-9)
                assert np.all(found.high >= high - 1e-9)
                close = {"rtol": 0.0, "atol": 2e-8 * case["norm"]}
            np.testing.assert_allclose(found.low, low, **close)
            np.testing.assert_allclose(found.high, high, **close)
