"""Worlds by name, file and table; what a user may get wrong is one clear line."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.regret import RegretScorer
from evroute.methods.setting import Setting
from evroute.planning.weights import WEIGHT_RULES
from evroute.worlds.conditions import Conditions
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.physics import Physics
from evroute.worlds.sampled_gp import SampledGP, SampledWorld
from evroute.worlds.world import load_world, shipped_worlds


def test_a_kind_a_file_and_a_table_name_the_same_world(tmp_path) -> None:
    path = tmp_path / "my day.toml"
    path.write_text('kind = "physics"\npayload_kg = 300\n')
    table = load_world({"kind": "physics", "payload_kg": 300})
    assert load_world(path) == load_world(str(path)) == table.model_copy(update={"name": "my_day"})
    assert load_world("physics") == Conditions()
    assert load_world("sampled-gp") == SampledWorld()
    assert load_world(table) is table


@pytest.mark.parametrize(
    ("world", "label"),
    [
        ("sampled-gp", "sampled-gp"),
        ({"kind": "sampled-gp", "closed_share": 0.05}, "sampled-gp-closedshare0.05"),
        ({"kind": "physics", "payload_kg": 300, "kinetic": True}, "physics-payloadkg300-kinetic"),
        (
            {"kind": "physics", "zones": 2, "zone_hours": [[7, 9.5]]},
            "physics-zones2-zonehours7.0_9.5",
        ),
        ({"kind": "physics", "payload_kg": 300, "name": "van"}, "van"),
        ("wind", "wind"),
    ],
)
def test_names_of_worlds(world, label) -> None:
    assert load_world(world).label == label


def test_every_shipped_world_is_physics_with_noise() -> None:
    assert shipped_worlds() == [
        "changing",
        "cold",
        "congestion",
        "congestion-known",
        "everything",
        "free-flow",
        "judged-congestion",
        "judged-free",
        "payload",
        "wind",
    ]
    for name in shipped_worlds():
        world = load_world(name)
        assert isinstance(world, Conditions)
        assert world.noise_share > 0
        assert world.trip_std > 0


def test_worlds_are_built_for_a_setting(hill) -> None:
    setting, trips = Setting(hill, load_vehicle("reference")), Repeated(0, 5)
    assert isinstance(load_world("sampled-gp").build(setting, trips, SeedSequence(1)), SampledGP)
    world = load_world("everything").build(setting, trips, SeedSequence(1))
    assert isinstance(world, Physics)
    assert world.observe(9).departed_s == 8 * 3600


@pytest.mark.parametrize(
    ("world", "message"),
    [
        ("windy", "unknown world 'windy'. There are sampled-gp, physics"),
        ("nowhere.toml", "world file nowhere.toml does not exist"),
        ({"payload_kg": 1}, "world names no kind. There are sampled-gp, physics"),
        ({"kind": "real"}, "world: unknown kind 'real'. There are sampled-gp, physics"),
        (
            {"kind": "physics", "hail": 1},
            "world: kind 'physics' has no option 'hail'. It has payload_kg, rolling_factor",
        ),
        (
            {"kind": "physics", "wind_mps": "much"},
            ". It must be a valid number",
        ),
        (
            {"kind": "physics", "payload_kg": -1},
            ". It must be greater than or equal to 0",
        ),
        (
            {"kind": "physics", "zones": 1, "zone_hours": [[9, 7]]},
            "must run from an earlier to a later hour",
        ),
        ({"kind": "physics", "wind_from_deg": 90}, "wind_from_deg does nothing without wind_mps"),
        (
            {"kind": "physics", "congestion_known": True},
            "congestion_known does nothing without zones",
        ),
        (
            {"kind": "physics", "from_standstill": True},
            "from_standstill does nothing without kinetic",
        ),
        ({"kind": "physics", "turn_braking": True}, "turn_braking does nothing without kinetic"),
        ({"kind": "physics", "noise_spread": 1}, "noise_spread does nothing without noise_share"),
        ({"kind": "physics", "name": "a/b"}, "It must match pattern"),
    ],
)
def test_a_bad_world_is_one_clear_line(world, message) -> None:
    with pytest.raises(EvrouteError) as error:
        load_world(world)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_toml_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("kind = physics")
    with pytest.raises(EvrouteError, match=r"bad\.toml is not TOML"):
        load_world(path)
    path.write_text('kind = "physics"\nhail = 1')
    with pytest.raises(
        UnknownNameError, match=r"world file .*bad\.toml: kind 'physics' has no option 'hail'"
    ):
        load_world(path)


def test_a_vehicle_that_no_world_can_have_is_said_to_be(hill) -> None:
    world = load_world({"kind": "physics", "payload_kg": 60_000})
    with pytest.raises(
        EvrouteError, match="world physics-payloadkg60000: vehicle 'reference': mass_kg is"
    ):
        world.build(Setting(hill, load_vehicle("reference")), Repeated(0, 5), SeedSequence(1))


@pytest.mark.parametrize("name", shipped_worlds())
@pytest.mark.parametrize("city", ["denver", pytest.param("monaco", marks=pytest.mark.data)])
def test_nobody_beats_the_best_route_of_a_shipped_world(city, name, request) -> None:
    network = request.getfixturevalue(city)
    setting = Setting(network, load_vehicle("reference"))
    origin, destination = setting.ends("A")
    world = load_world(name).build(setting, Repeated(origin, destination), SeedSequence(2))
    judge = RegretScorer(
        network=network,
        search=setting.search,
        weight_rule=WEIGHT_RULES["potential"],
        noise_std_wh=setting.noise_std_wh,
        potential_wh=setting.potential_wh,
    )
    rng = default_rng(0)
    for t in (1, 8, 9):
        asked = world.observe(t)
        weights = np.full(network.n_edges, np.inf)
        weights[asked.arms.id] = setting.prior.dissipated_wh[asked.arms.id]
        for _ in range(10):
            route = setting.search.route(
                weights * rng.lognormal(0, 0.3, network.n_edges), origin, destination
            )
            score = judge.score(world, asked, route)
            least_wh = score.rivals["best"].energy_wh - 1e-9
            assert least_wh <= min(
                score.driven.energy_wh, *(rival.energy_wh for rival in score.rivals.values())
            )
