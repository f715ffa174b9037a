"""Savings on trips that were driven: a sum over edges under the joint posterior, worked out by hand."""

import numpy as np
import pytest

from evroute.arms import Feedback, Route
from evroute.energy.vehicle import load_vehicle
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.saving import savings
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.exact import ExactGP
from evroute.model.independent import IndependentNormal

OVER, ROUND = Route((0, 1, 2, 5)), Route((0, 3, 4, 5))


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def belief_of(model, setting) -> LearnedBelief:
    return LearnedBelief(model, setting.space, Method(model="exact", index="greedy"), setting)


def learned(setting, route, energy_wh, times=200):
    model = IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
    for _ in range(times):
        model.update(Feedback.of_route(setting.arms, route, np.array(energy_wh, float)))
    return model


def test_a_detour_that_is_known_to_be_cheaper_saves_the_difference(setting) -> None:
    plain = setting.prior.mean_wh
    cheap, dear = (OVER, ROUND) if plain[[1, 2]].sum() < plain[[3, 4]].sum() else (ROUND, OVER)
    measured = plain[list(cheap.edges)] + [0, 200, 200, 0]
    model = learned(setting, cheap, measured)
    told = savings(belief_of(model, setting), [cheap, cheap, Route((0,))])
    mean_wh = model.posterior(setting.arms).mean_wh
    by_hand = 2 * (mean_wh[list(cheap.edges)].sum() - mean_wh[list(dear.edges)].sum())
    assert told["driven"].mean_wh == pytest.approx(by_hand)
    assert told["eq8"].mean_wh == pytest.approx(by_hand)
    std_wh = model.posterior(setting.arms).std_wh
    own = [edge for edge in (*cheap.edges, *dear.edges) if edge not in (0, 5)]
    assert told["driven"].std_wh == pytest.approx(2 * np.sqrt((std_wh[own] ** 2).sum()))
    assert told["driven"].other_wh == pytest.approx(2 * mean_wh[list(cheap.edges)].sum())


def test_correlations_between_edges_count(setting) -> None:
    model = ExactGP(setting.kernel, setting.arms, setting.noise_std_wh)
    plain = setting.prior.mean_wh
    dear = ROUND if plain[[1, 2]].sum() < plain[[3, 4]].sum() else OVER
    told = savings(belief_of(model, setting), [dear])["driven"]
    covariance = model.covariance(setting.arms)
    sign = np.zeros(7)
    sign[[3, 4]], sign[[1, 2]] = 1, -1
    assert told.std_wh == pytest.approx(np.sqrt(sign @ covariance @ sign))
    assert savings(belief_of(model, setting), [Route((0,))]) == {}


def test_a_belief_that_agrees_with_eq_8_saves_nothing_against_it(setting) -> None:
    model = IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
    told = savings(belief_of(model, setting), [OVER])
    assert (told["eq8"].mean_wh, told["eq8"].std_wh) == (0.0, 0.0)
    assert "0.00 kWh, 0.0%" in str(told["eq8"])


def test_savings_on_turns_are_sums_over_turns(setting) -> None:
    turns = setting.on_turns()
    inside = ExactGP(turns.kernel, turns.arms, turns.noise_std_wh)
    mean_wh = inside.posterior(turns.arms).mean_wh
    rows = {
        route: turns.space.table.rows_along(np.array(route)) for route in (OVER.edges, ROUND.edges)
    }
    cheap, dear = sorted(rows, key=lambda route: mean_wh[rows[route]].sum())
    told = savings(belief_of(inside, turns), [Route(dear)])["driven"]
    assert told.mean_wh == pytest.approx(mean_wh[rows[dear]].sum() - mean_wh[rows[cheap]].sum())
    sign = np.zeros(len(turns.arms))
    sign[rows[dear]] += 1
    sign[rows[cheap]] -= 1
    assert told.std_wh == pytest.approx(np.sqrt(sign @ inside.covariance(turns.arms) @ sign))
