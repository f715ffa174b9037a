"""Several vehicles in one run, each with a belief of its own, checked by hand."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from evroute.arms import Feedback, Route
from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.experiment import grid, simulate
from evroute.learning.belief import load_belief
from evroute.methods.setting import load_setting
from evroute.model.independent import IndependentNormal

VAN = "volvo-c40"
TRIPS = "origin,destination,vehicle\n" + "".join(
    f'"{{0}}","{{1}}",{name}\n' for name in ("", VAN, "reference", VAN)
)


@pytest.fixture(scope="module")
def car():
    return load_setting("denver", "reference")


@pytest.fixture(scope="module")
def table(car, tmp_path_factory):
    path = tmp_path_factory.mktemp("trips") / "fleet.csv"
    path.write_text(TRIPS.format(*(car.network.edge_id[row] for row in (100, 900))))
    return path


def experiment(table, **fields):
    chosen = {
        "models": ["independent"],
        "indices": ["greedy"],
        "world": ["wind"],
        "seeds": 1,
    } | fields
    return grid(networks=["denver"], trips=[str(table)], options={}, **chosen)


@pytest.fixture(scope="module")
def alone(table, tmp_path_factory):
    return simulate(experiment(table), tmp_path_factory.mktemp("out") / "alone")


def driven(folder, setting, t):
    """Return what a trip measured, told as the vehicle of a setting knows its roads."""
    (path,) = (folder.path / "routes").glob("*.parquet")
    rows = pq.read_table(path).to_pandas().query(f"t == {t}")
    return Feedback.of_route(
        setting.arms, Route(tuple(rows["edge"])), rows["observed_wh"].to_numpy()
    )


def plain(setting):
    return IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)


def test_each_vehicle_learns_from_its_own_trips_alone(alone, car) -> None:
    assert not alone.failures()
    van = load_setting("denver", VAN)
    (run, of_van) = alone.beliefs()
    assert of_van == f"{run}@{VAN}"
    for setting, name, trips in ((car, run, (1, 3)), (van, of_van, (2, 4))):
        by_hand = plain(setting)
        for t in trips:
            by_hand.update(driven(alone, setting, t))
        told = load_belief(alone.path, name, network=setting.network).edge_posterior
        np.testing.assert_allclose(told.mean_wh, by_hand.posterior(setting.arms).mean_wh)


def test_rounds_name_the_vehicle_and_eq_8_is_that_vehicles(alone, car) -> None:
    rounds = alone.rounds().to_pandas()
    assert rounds["vehicle"].tolist() == ["reference", VAN, "reference", VAN]
    first = rounds.set_index("t")["predicted_wh"]
    for t, setting in ((1, car), (2, load_setting("denver", VAN))):
        assert first[t] == pytest.approx(float(driven(alone, setting, t).prior_mean_wh.sum()))


@pytest.mark.parametrize("method", [["recommended"], ["gp-ts"]])
def test_turns_a_guard_and_joint_beliefs_work_in_fleets(table, tmp_path, method) -> None:
    folder = simulate(
        experiment(table, methods=method, models=[], indices=[], audit=True), tmp_path / "out"
    )
    assert not folder.failures()
    assert folder.rounds()["predicted_sd_wh"].to_pandas().gt(0).all()


def test_worlds_of_one_vehicle_are_refused_before_anything_runs(table, tmp_path) -> None:
    told = f"name vehicles \\({VAN}\\), and world 'sampled-gp' has one only"
    with pytest.raises(EvrouteError, match=told):
        simulate(experiment(table, world=["sampled-gp"]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_vehicle_is_refused_with_its_row(table, tmp_path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(table.read_text().replace(VAN, "rocket", 1))
    with pytest.raises(EvrouteError, match=r"row 2: unknown vehicle 'rocket'"):
        experiment(wrong)


def test_the_belief_of_a_vehicle_without_a_run_is_refused(alone) -> None:
    with pytest.raises(UnknownNameError, match="has no run"):
        load_belief(alone.path, f"x@{VAN}")
