"""Answers to the rows of a table: least energies alone, and errors in their places."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import evroute
from evroute.arms import Feedback
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.independent import IndependentNormal
from evroute.planning.answers import answer_all, answer_energies, document
from evroute.planning.planner import Planner


@pytest.fixture(scope="module")
def planner(denver) -> Planner:
    return Planner(denver, load_vehicle("reference"), physics="eq8")


def test_each_row_has_its_answer_or_its_error_also_across_blocks(planner) -> None:
    a, b = planner.network.edge_id[0], planner.network.edge_id[500]
    rows = [
        {"id": "named", "trip": "A", "from": "", "to": ""},
        {"trip": "", "from": a, "to": b},
        {"id": "", "from": b, "to": a},
        {"id": "same", "from": a, "to": a},
        {"id": "nowhere", "trip": "nowhere"},
        {"id": "both", "trip": "A", "from": a, "to": b},
        {"id": "more", "from": a, "to": b, None: ["x"]},
        {"id": "battery", "from": a, "to": b, "soc": "80"},
    ]
    answers = list(answer_energies(iter(rows), planner, block=3))
    assert [each["id"] for each in answers] == ["named", "2", "3", *(row["id"] for row in rows[3:])]
    full = list(answer_all(iter(rows[:3]), lambda *_: planner))
    assert [each["id"] for each in full] == ["named", "2", "3"]
    for answer, plan in zip(answers[:3], full, strict=True):
        for column in ("energy_wh", "length_m", "time_s"):
            assert answer[column] == pytest.approx(plan["routes"]["energy"][column])
    errors = [
        "same block",
        "no trip 'nowhere'",
        "either a named trip",
        "more cells",
        "column 'soc'",
    ]
    for answer, words in zip(answers[3:], errors, strict=True):
        assert words in answer["error"]


def test_weather_and_load_of_a_row_equal_the_request(denver) -> None:
    rows = [
        {"trip": "A", "temperature": "-5", "wind": "8", "wind_from": "270", "payload": "300"},
        {"trip": "A", "temperature": "", "wind": None, "payload": "300"},
        {"trip": "A", "wind_from": "270"},
        {"trip": "A", "temperature": "cold"},
        {"trip": "A", "wind": "90"},
    ]
    usual, car = DrivingConditions(temperature_c=30.0), load_vehicle("reference")
    asked: list[DrivingConditions] = []

    def planner_of(_: str, day: DrivingConditions) -> Planner:
        asked.append(day)
        return Planner(denver, car, conditions=day, physics="eq8")

    told = list(answer_all(iter(rows), planner_of, {"temperature": "30"}))
    loaded = replace(usual, payload_kg=300.0)
    cold = DrivingConditions(temperature_c=-5, wind_mps=8, wind_from_deg=270, payload_kg=300)
    assert asked == [usual, cold, loaded]
    for answer, day in zip(told, (cold, loaded), strict=False):
        alone = evroute.plan(denver, trip="A", vehicle=car, conditions=day, physics="eq8").routes[
            "energy"
        ]
        assert answer["routes"]["energy"]["energy_wh"] == pytest.approx(alone.energy_wh)
    for answer, words in zip(told[2:], ("wind speed", "temperature", "wind is 90"), strict=True):
        assert words in answer["error"]


def test_an_unknown_rule_is_refused_before_a_request_is_read(planner) -> None:
    def unread() -> Iterator[dict[str, str]]:
        pytest.fail("a row was read")
        yield {}

    with pytest.raises(EvrouteError, match="unknown search 'best'"):
        next(answer_all(unread(), lambda *_: planner, {"search": "best"}))


def test_the_physics_of_a_learned_forecast_is_the_plan_without_the_belief(hill) -> None:
    setting = Setting(hill, load_vehicle("reference"))
    model = IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
    arms = setting.arms
    model.update(Feedback(arms.id, arms.features, arms.prior_mean_wh, arms.prior_mean_wh + 20.0))
    method = Method(model="independent", index="ts")
    belief = LearnedBelief(model, setting.space, method, setting)
    ends = hill.row_of["in"], hill.row_of["out"]
    learned = document(Planner(hill, setting.vehicle, belief).plan(*ends))["routes"]["distance"]
    physics = document(Planner(hill, setting.vehicle, physics="eq8").plan(*ends))["routes"][
        "distance"
    ]
    assert learned["forecast"]["physics_wh"] == pytest.approx(physics["energy_wh"])
    assert learned["forecast"]["mean_wh"] > physics["energy_wh"] + 10.0


def test_the_proof_says_exact_only_of_the_search_that_is(planner) -> None:
    ends = 0, 500
    assert planner.plan(*ends).proof == "exact: no route takes less"
    assert planner.plan(*ends, search="clamped").proof.startswith("rule 'clamped' discards")
