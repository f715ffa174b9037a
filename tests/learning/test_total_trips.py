"""Trips of which only the total energy was measured, in beliefs about single edges."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records import parts
from evroute.methods.method import Method
from evroute.methods.setting import Setting

EXAMPLES = Path(__file__).parents[2] / "data" / "examples"
OVER, ROUND = ("in", "up", "down", "out"), ("in", "east", "west", "out")


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def rows_of(setting, edges) -> np.ndarray:
    return np.array([setting.network.row_of[edge] for edge in edges])


def whole(setting, edges, total_wh, name="x", known_wh2=0.0) -> MeasuredTrip:
    """Return a trip whose edges have equal shares, which nobody measured."""
    edge = rows_of(setting, edges)
    share = np.full(len(edge), total_wh / len(edge))
    unknown = np.full(len(edge), np.nan)
    return MeasuredTrip(name, edge, share, unknown, known_variance_wh2=known_wh2, whole=True)


def either(setting, total_wh) -> MeasuredTrip:
    """Return a trip that took one of both ways, nobody knows which."""
    both = whole(setting, (*OVER, *ROUND), total_wh)
    return replace(both, routes=2, known_variance_wh2=100.0)


@pytest.mark.parametrize("arms", ["edges", "turns"])
def test_a_total_is_one_linear_measurement_of_the_arms_of_its_route(setting, arms) -> None:
    """Against the Gaussian of all arms, conditioned on two sums by hand."""
    belief = LearnedBelief.before_trips(Method(model="exact", index="greedy", arms=arms), setting)
    over = setting.on_turns() if arms == "turns" else setting
    reference, space = over.arms, over.space
    prior = belief.model.covariance(reference)
    along = [
        space.arms_of_routes(rows_of(setting, edges), np.array([0])) for edges in (OVER, ROUND)
    ]
    weights = np.zeros((2, len(reference)))
    weights[0, along[0]] = 1.0
    for passed in along:
        np.add.at(weights[1], passed, 0.5)
    noise = [weights[k] @ over.noise_std_wh**2 for k in (0, 1)]
    gram = weights @ prior @ weights.T + np.diag([noise[0] + 25.0, noise[1] + 100.0])
    measured = np.array([700.0, 450.0])
    off = measured - weights @ reference.prior_mean_wh
    trips = [whole(setting, OVER, 700.0, known_wh2=25.0), either(setting, 450.0)]

    first = belief.expected(trips[0])
    assert first["predicted_wh"] == pytest.approx(weights[0] @ reference.prior_mean_wh)
    assert first["predicted_sd_wh"] == pytest.approx(gram[0, 0] ** 0.5)
    belief.learn(trips[0])
    second = belief.expected(trips[1])
    mean_wh = weights[1] @ reference.prior_mean_wh + gram[0, 1] / gram[0, 0] * off[0]
    assert second["predicted_wh"] == pytest.approx(mean_wh)
    left = gram[1, 1] - gram[0, 1] ** 2 / gram[0, 0]
    assert second["predicted_sd_wh"] == pytest.approx(left**0.5)
    belief.learn(trips[1])

    with_all = prior @ weights.T
    posterior = belief.under(EQ8_CONDITIONS).posterior()
    expected_wh = reference.prior_mean_wh + with_all @ np.linalg.solve(gram, off)
    np.testing.assert_allclose(posterior.mean_wh, expected_wh, atol=1e-8)
    covariance = prior - with_all @ np.linalg.solve(gram, with_all.T)
    np.testing.assert_allclose(posterior.std_wh**2, covariance.diagonal(), atol=1e-8)


def test_a_total_says_less_on_each_edge_than_energies_of_its_edges(setting) -> None:
    eq8_wh = setting.arms.prior_mean_wh[rows_of(setting, OVER)]
    by_edges = replace(whole(setting, OVER, 0.0), energy_wh=1.3 * eq8_wh, whole=False)
    in_one = whole(setting, OVER, 1.3 * eq8_wh.sum())
    before, single, total = (
        LearnedBelief.before_trips(Method(model="exact", index="greedy"), setting) for _ in range(3)
    )
    single.learn(by_edges)
    total.learn(in_one)
    edges = rows_of(setting, OVER)
    sds = [each.edge_posterior.std_wh[edges] for each in (single, total, before)]
    assert np.all(sds[0] < sds[1])
    assert np.all(sds[1] < sds[2])
    sums = [each.expected(in_one)["predicted_wh"] for each in (single, total)]
    assert sums == pytest.approx([1.3 * eq8_wh.sum()] * 2, rel=0.1)


def test_models_that_cannot_learn_a_total_say_so_in_one_line(setting) -> None:
    for model in ("independent", "bkb"):
        belief = LearnedBelief.before_trips(Method(model=model, index="greedy"), setting)
        before = belief.state()
        with pytest.raises(EvrouteError, match=f"model '{model}' learns single edges") as refused:
            belief.learn(whole(setting, OVER, 500.0))
        assert "\n" not in str(refused.value)
        assert belief.trips == 0
        assert belief.errors.trips == 0
        assert all(np.array_equal(before[name], each) for name, each in belief.state().items())


@pytest.fixture
def notebook(tmp_path):
    path = tmp_path / "notebook.csv"
    lines = [
        "trip,from,to,departed,soc_start,soc_end",
        "a,in,out,2026-05-04T07:30:00,80,78",
        "b,in,out,2026-05-05T07:30:00,80,77",
    ]
    path.write_text("\n".join(lines))
    return path


def test_a_notebook_is_learned_by_models_of_edges_that_take_totals(
    setting, notebook, tmp_path
) -> None:
    network = setting.network
    learned = learn(notebook, tmp_path / "out", network=network, model="exact")
    assert learned.trips.num_rows == 2
    assert parts.read_parts(tmp_path / "out", network)["a"].whole
    once = load_belief(tmp_path / "out", network=network)
    assert len(once.model.state()["sum_slot"]) >= 1
    lines = notebook.read_text().splitlines()
    notebook.write_text("\n".join([*lines, "c,in,out,2026-05-06T07:30:00,80,76"]))
    learn(notebook, tmp_path / "out", network=network, model="exact")
    learn(notebook, tmp_path / "whole", network=network, model="exact")
    stepwise, at_once = (load_belief(tmp_path / name, network=network) for name in ("out", "whole"))
    one, other = stepwise.edge_posterior, at_once.edge_posterior
    np.testing.assert_allclose(one.mean_wh, other.mean_wh, atol=1e-9)
    assert stepwise.trips == at_once.trips == 3


def test_a_notebook_is_refused_by_models_of_single_edges(setting, notebook, tmp_path) -> None:
    with pytest.raises(EvrouteError, match="learn with model trips, exact or physics"):
        learn(notebook, tmp_path / "out", network=setting.network, model="independent")


@pytest.mark.parametrize(("log", "total"), [("percent.csv", True), ("leafspy.csv", False)])
def test_a_log_with_two_readings_is_a_total_and_one_with_more_is_not(
    denver, tmp_path, log, total
) -> None:
    """The charge in whole per cents falls by one, that in ten-thousandths at every point."""
    out = tmp_path / "out"
    learn(EXAMPLES / log, out, network=denver, vehicle="renault-zoe", model="exact")
    assert [trip.whole for trip in parts.read_parts(out, denver).values()] == [total]
    assert ("sum_slot" in load_belief(out, network=denver).model.state()) == total
