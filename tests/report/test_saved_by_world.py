"""Dots of saved energy and time: shares of sums over the last trips, a dot a world and method."""

import pandas as pd
import pytest

from evroute.report.charts.profile import svg
from evroute.report.charts.worlds import ENERGY, TIME, has_physics, saved_by_world, saved_shares


@pytest.fixture
def rounds() -> pd.DataFrame:
    """Two worlds of 60 trips: the learner saves a tenth of the energy from trip 31 on, and loses
    a fifth of the time in the second world."""
    rows = [
        {
            "network": "denver",
            "trip": "A",
            "method": "GP-TS",
            "model": "exact",
            "index": "ts",
            "seed": seed,
            "t": t,
            "eq8_wh": 100.0,
            "true_wh": 90.0 if t > 30 else 500.0,
            "eq8_s": 50.0,
            "time_s": 60.0 if seed else 50.0,
        }
        for seed in (0, 1)
        for t in range(1, 61)
    ]
    return pd.DataFrame(rows)


def test_a_dot_is_the_share_of_the_last_twenty_trips(rounds: pd.DataFrame) -> None:
    shares = saved_shares(rounds).set_index(["measure", "seed"])["value"]
    assert shares[ENERGY, 0] == pytest.approx(10)
    assert shares[ENERGY, 1] == pytest.approx(10)
    assert shares[TIME, 0] == 0
    assert shares[TIME, 1] == pytest.approx(-20)


def test_two_trips_have_panels_of_their_own(rounds: pd.DataFrame) -> None:
    both = pd.concat([rounds, rounds.assign(trip="B")], ignore_index=True)
    assert set(saved_shares(both)["title"]) == {
        f"Denver {trip}: {measure}" for trip in "AB" for measure in (ENERGY, TIME)
    }
    assert svg(saved_by_world(both)).startswith("<svg")


def test_rounds_without_routes_of_physics_have_no_dots(rounds: pd.DataFrame) -> None:
    assert has_physics(rounds)
    assert not has_physics(rounds.drop(columns="eq8_s"))
