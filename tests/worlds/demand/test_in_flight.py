"""Trips in flight: when feedback comes, by count and by the clock."""

import numpy as np
import pytest

from evroute.arms import Arms, Feedback, Round
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.report.results import read_diagnostics
from evroute.worlds.demand.in_flight import InFlight

ARMS = Arms(np.array([0]), np.zeros((1, 1)), np.zeros(1))


def request(departed_s: float) -> Round:
    return Round(1, ARMS, 0, 0, departed_s=departed_s)


def feedback(name: str, departed_s: float = 0.0, travel_s: float = 1.0) -> Feedback:
    return Feedback(
        np.array([0]),
        np.zeros((1, 1)),
        np.zeros(1),
        np.zeros(1),
        trip_id=name,
        departed_s=departed_s,
        travel_s=np.array([travel_s]),
    )


def names(told: list[Feedback]) -> str:
    return "".join(each.trip_id for each in told)


@pytest.mark.parametrize(("count", "told"), [(1, ["a", "b", "c", "d"]), (3, ["", "", "a", "b"])])
def test_so_many_trips_are_planned_before_the_first_tells(count, told) -> None:
    flight = InFlight(count)
    assert [
        names(flight.before(request(0))) + names(flight.after(feedback(each))) for each in "abcd"
    ] == told
    assert "".join(told) + names(flight.rest()) == "abcd"


def test_by_the_clock_trips_tell_in_the_order_in_which_they_end() -> None:
    flight = InFlight("clock")
    trips = [("a", 0.0, 100.0), ("b", 10.0, 20.0), ("c", 40.0, 60.0), ("d", 100.0, 5.0)]
    told = []
    for name, departed_s, travel_s in trips:
        told.append(names(flight.before(request(departed_s))))
        assert flight.after(feedback(name, departed_s, travel_s)) == []
    assert told == ["", "", "b", "ac"]
    assert names(flight.rest()) == "d"


def wanted(**changes) -> Experiment:
    return Experiment.model_validate(
        {
            "trips": {"denver": ["A"]},
            "methods": [{"model": "independent", "index": "ts"}],
            "horizon": 4,
            "seeds": 1,
        }
        | changes
    )


def test_runs_with_trips_in_flight_learn_later_but_all(tmp_path) -> None:
    def played(flight):
        folder = simulate(wanted(in_flight=flight), tmp_path / str(flight))
        (name,) = folder.finished_runs()
        with np.load(folder.belief_path(name)) as stored:
            return (
                name,
                folder.rounds()["predicted_wh"].to_numpy(),
                {k: stored[k] for k in stored.files},
            )

    (one, at_once, _), (four, late, learned), (clock, by_hour, _) = (
        played(1),
        played(4),
        played("clock"),
    )
    assert four == one.replace("-s0", "-f4-s0")
    assert clock == one.replace("-s0", "-fclock-s0")
    assert late[0] == at_once[0]
    assert late[1] != at_once[1]
    # trips an hour apart have ended before the next departs
    np.testing.assert_array_equal(by_hour, at_once)
    assert sum(np.sum(value) for value in learned.values() if value.dtype.kind == "f") != 0


@pytest.mark.parametrize("flight", [0, -1, "calendar", 1.5])
def test_in_flight_must_be_a_positive_integer_or_clock(flight) -> None:
    with pytest.raises((EvrouteError, ValueError), match="in_flight"):
        wanted(in_flight=flight)


@pytest.mark.parametrize(("model", "threshold"), [("bbkb", 1.5), ("batch-ucb", 1e6)])
def test_fleets_plan_whole_batches_and_strict_ones_wait_for_them(
    tmp_path, model, threshold
) -> None:
    modes = {
        mode: {"model": model, "index": "ts", "mode": mode, "threshold": threshold}
        for mode in ("strict", "soft")
    }
    told = {}
    for mode, method in modes.items():
        folder = simulate(wanted(in_flight=12, methods=[method], horizon=60), tmp_path / mode)
        assert not folder.failures()
        told[mode] = read_diagnostics(folder)
        assert told[mode]["last_batch_trips"].max() > 1
        assert len(told[mode]) == 60
    assert told["strict"]["planned_beyond"].max() == 0


def test_a_flight_by_the_clock_needs_departures() -> None:
    flight = InFlight("clock")
    with pytest.raises(
        ValueError, match=r"without a time of departure, which in_flight='clock' needs"
    ):
        flight.before(request(None))
    with pytest.raises(ValueError, match="without a time of departure"):
        flight.after(feedback("a", None))
    assert InFlight(1).before(request(None)) == []
