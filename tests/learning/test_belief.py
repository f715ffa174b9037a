"""Beliefs on disk: the model as it was, for the same roads and vehicle alone."""

import dataclasses
import json

import numpy as np
import pytest

from evroute.arms import Feedback, Route
from evroute.checked import read_arrays, write_arrays
from evroute.energy.driving import DrivingConditions, temperature_feature
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.runs import RunFolder
from evroute.learning import belief
from evroute.learning.belief import load_belief
from evroute.learning.intervals import PastErrors
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method, make_model
from evroute.methods.parts import MODELS
from evroute.methods.setting import Prior, Setting
from evroute.planning.planner import Planner

VEHICLE = load_vehicle("reference")


@pytest.fixture(params=MODELS)
def learned(request, hill, tmp_path):
    """A model that saw two trips, saved as the only finished run of a folder."""
    setting = Setting(hill, VEHICLE)
    method = Method(model=request.param, index="ts")
    model = make_model(method, setting, np.random.default_rng(0))
    rows = np.array([0, 1, 2, 5])
    for energy_wh in ([30.0, 100.0, -20.0, 40.0], [28.0, 90.0, -30.0, 44.0]):
        arms = setting.arms
        model.update(
            Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], np.array(energy_wh))
        )
    save_as_finished(tmp_path, "one", model, method, setting)
    return model, setting, method


def save_as_finished(folder, name, model, method, setting, errors=None) -> None:
    learned = LearnedBelief(model, setting.space, method, setting, errors or PastErrors())
    learned.save(RunFolder(folder).belief_path(name))
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts" / f"{name}.parquet").touch()


def test_a_belief_comes_back_bit_by_bit(learned, hill, tmp_path) -> None:
    model, setting, _ = learned
    again = load_belief(tmp_path, None, network=hill)
    for name in ("mean_wh", "std_wh"):
        there, here = (
            getattr(each, name) for each in (model.posterior(setting.arms), again.edge_posterior)
        )
        assert np.array_equal(there, here)


def test_a_belief_about_other_roads_is_refused_with_both_names(learned, hill, tmp_path) -> None:
    other = dataclasses.replace(
        hill, name="valley", speed_mps=hill.speed_mps, elevation_m=hill.elevation_m * 0.5
    )
    with pytest.raises(EvrouteError, match=r"about network 'hill'.*not about 'valley'"):
        load_belief(tmp_path, None, network=other)


def test_a_belief_about_another_vehicle_is_refused_with_both_names(learned, hill, tmp_path) -> None:
    other = dataclasses.replace(VEHICLE, name="truck", mass_kg=9000.0)
    with pytest.raises(EvrouteError, match=f"about vehicle '{VEHICLE.name}', not about 'truck'"):
        load_belief(tmp_path, network=hill).check(hill, other)


def test_among_several_runs_one_has_to_be_named(learned, hill, tmp_path) -> None:
    model, setting, method = learned
    save_as_finished(tmp_path, "two", model, method, setting)
    with pytest.raises(
        UnknownNameError, match=r"holds several runs. Name one with --run: one, two"
    ):
        load_belief(tmp_path, None, network=hill)
    with pytest.raises(
        UnknownNameError, match=r"has no run 'three'. Name one with --run: one, two"
    ):
        load_belief(tmp_path, "three", network=hill)
    load_belief(tmp_path, "two", network=hill)


def test_a_folder_without_runs_is_said_to_be(hill, tmp_path) -> None:
    with pytest.raises(EvrouteError, match="holds no finished run"):
        load_belief(tmp_path, None, network=hill)


def test_a_damaged_belief_is_one_clear_line(learned, hill, tmp_path) -> None:
    path = RunFolder(tmp_path).belief_path("one")
    whole = path.read_bytes()
    for damaged in (whole[:100], b"", whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(
            EvrouteError, match=r"one\.npz is damaged .*'evroute simulate' of the same"
        ):
            load_belief(tmp_path, "one", network=hill)


def test_a_belief_with_other_numbers_is_refused(learned, hill, tmp_path) -> None:
    path = RunFolder(tmp_path).belief_path("one")
    with np.load(path) as stored:
        arrays = dict(stored)
    changed = next(name for name, array in arrays.items() if array.dtype == float and array.size)
    arrays[changed] = arrays[changed] + 1.0
    np.savez(path, **arrays)
    assert not belief.is_whole(path)
    with pytest.raises(EvrouteError, match="its digest differs"):
        load_belief(tmp_path, "one", network=hill)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"vehicle": 5}, "vehicle"),
        ({"vehicle": {}}, "vehicle.name"),
        ({"vehicle": dataclasses.asdict(VEHICLE) | {"mass_kg": "heavy"}}, "vehicle.mass_kg"),
        ({"vehicle": dataclasses.asdict(VEHICLE) | {"wings": 2}}, "vehicle.wings"),
        ({"prior": 5}, "prior"),
        ({"prior": None}, "prior"),
        ({"kernel": ["matern-5/2"]}, "kernel"),
        ({"lengthscale": "long"}, "lengthscale"),
        ({"lengthscale": 0.0}, "lengthscale"),
        ({"temperature": {}}, "temperature"),
        ({"network": 7}, "network"),
        ({"digest": None}, "digest"),
        ({"trips": -1}, "trips"),
        ({"method": []}, "method"),
    ],
)
def test_a_description_of_other_types_is_refused_in_one_line(hill, tmp_path, change, field) -> None:
    method, setting = Method(model="exact", index="greedy"), Setting(hill, VEHICLE)
    save_as_finished(
        tmp_path, "one", make_model(method, setting, np.random.default_rng(0)), method, setting
    )
    path = RunFolder(tmp_path).belief_path("one")
    arrays = read_arrays(path)
    about = json.loads(str(arrays["about"]))
    write_arrays(path, arrays | {"about": np.array(json.dumps(about | change))})
    with pytest.raises(EvrouteError, match=rf"one\.npz describes no belief: .*{field}") as refused:
        load_belief(tmp_path, network=hill)
    assert "\n" not in str(refused.value)
    write_arrays(path, arrays | {"about": np.array(json.dumps([about]))})
    with pytest.raises(EvrouteError, match="describes no belief: value is "):
        load_belief(tmp_path, network=hill)


@pytest.mark.parametrize("change", [{"prior": "wide"}, {"kernel": "matern-9/2"}])
def test_an_unknown_name_in_a_description_is_refused_in_one_line(hill, tmp_path, change) -> None:
    method, setting = Method(model="exact", index="greedy"), Setting(hill, VEHICLE)
    save_as_finished(
        tmp_path, "one", make_model(method, setting, np.random.default_rng(0)), method, setting
    )
    path = RunFolder(tmp_path).belief_path("one")
    arrays = read_arrays(path)
    about = json.loads(str(arrays["about"])) | change
    write_arrays(path, arrays | {"about": np.array(json.dumps(about))})
    with pytest.raises(UnknownNameError, match=next(iter(change.values()))):
        load_belief(tmp_path, network=hill)


def test_a_belief_about_turns_comes_back_to_be_seen_from_edges(hill, tmp_path) -> None:
    setting, method = Setting(hill, VEHICLE), Method(model="exact", index="ts", arms="turns")
    model = make_model(method, setting, np.random.default_rng(0))
    turns, rows = setting.on_turns().arms, np.array([0, 1, 3])
    model.update(
        Feedback(
            rows, turns.features[rows], turns.prior_mean_wh[rows], np.array([30.0, 100.0, -20.0])
        )
    )
    save_as_finished(tmp_path, "one", model, method, setting)
    again = load_belief(tmp_path, None, network=hill)
    assert np.array_equal(again.model.posterior(turns).mean_wh, model.posterior(turns).mean_wh)
    assert len(again.edge_posterior.mean_wh) == hill.n_edges


def test_scores_of_the_intervals_are_kept_beside_the_model(learned, hill, tmp_path) -> None:
    model, setting, method = learned
    assert load_belief(tmp_path, "one", network=hill).inflation == 1.0
    errors = PastErrors()
    for error_wh in [3.0, -4.0, 5.0]:
        errors.add(error_wh, 1.0)
    save_as_finished(tmp_path, "one", model, method, setting, errors)
    again = load_belief(tmp_path, network=hill)
    assert again.inflation == pytest.approx(errors.spread.half_width(0.9) / 1.6449, rel=1e-4)
    assert again.errors.trips == 3
    assert np.array_equal(again.edge_posterior.std_wh, model.posterior(setting.arms).std_wh)


def test_learned_travel_times_are_kept_beside_the_model(hill, tmp_path) -> None:
    setting, method = Setting(hill, VEHICLE), Method(model="exact", index="greedy")
    first = LearnedBelief.before_trips(method, setting)
    assert first.minutes_from == "map"
    assert np.array_equal(first.under(EQ8_CONDITIONS).time_s, hill.time_s)
    path = RunFolder(tmp_path).belief_path("one")
    arms, rows = setting.arms, np.array([0, 1])
    of_trip = arms.features[rows], arms.prior_mean_wh[rows], np.ones(2)
    first.pace.learn(rows, np.array([150.0, np.nan]))
    first.model.update(Feedback(rows, *of_trip))
    first.save(path)
    again = belief.continued(path, setting)
    assert again.minutes_from == "trips"
    time_s = again.under(EQ8_CONDITIONS).time_s
    assert np.array_equal(time_s, first.under(EQ8_CONDITIONS).time_s)
    # the map's 100 s of edge 0 became 150 s: g = (1.5 + 3 * 1.6) / 4
    assert time_s[0] == pytest.approx((100 * 6.3 / 4 + 150) / 2)


def test_the_temperature_of_the_day_chooses_the_contexts(hill, tmp_path) -> None:
    setting = Setting(hill, VEHICLE, Prior(temperature=True))
    taught = LearnedBelief.before_trips(Method(model="exact", index="greedy"), setting)
    rows = np.array([0, 3, 4, 5])
    prior_wh = setting.arms.prior_mean_wh[rows]
    for temperature_c, factor in ((-15.0, 1.6), (21.0, 1.0)) * 6:
        features = setting.arms.features[rows].copy()
        features[:, -1] = temperature_feature(temperature_c)
        feedback = Feedback(rows, features, prior_wh, factor * prior_wh)
        taught.model.update(taught.space.feedback(feedback))
    path = RunFolder(tmp_path).belief_path("one")
    taught.save(path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.parquet").touch()
    kept = load_belief(tmp_path, network=hill)
    route = Route(tuple(rows.tolist()))
    plain, warm, cold = (
        Planner(hill, VEHICLE, kept, conditions=DrivingConditions(temperature_c=c)).describe(route)
        for c in (None, 21.0, -15.0)
    )
    assert plain.energy_wh == warm.energy_wh == pytest.approx(prior_wh.sum(), rel=0.02)
    # heating was learned: physics does not add it once more
    assert cold.energy_wh == pytest.approx(1.6 * prior_wh.sum(), rel=0.05)
    assert cold.parts_wh["auxiliary"] == plain.parts_wh["auxiliary"]
    assert sum(cold.parts_wh.values()) == pytest.approx(cold.energy_wh)


def test_a_belief_from_before_travel_times_goes_by_the_map(learned, hill, tmp_path) -> None:
    again = load_belief(tmp_path, network=hill)
    assert again.minutes_from == "map"
    assert np.array_equal(again.under(EQ8_CONDITIONS).time_s, hill.time_s)
