"""300 true oddities of drives are learned: slow, fast, downhill, standing and with a gap."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evroute.energy.constants import GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import load_vehicle
from evroute.learning.learn import learn
from evroute.methods.setting import Setting, load_setting

EACH = 60
KMH = 1 / 3.6
STANDING_S = 3 * 3600.0


@pytest.fixture(scope="module")
def setting() -> Setting:
    return load_setting("denver", "reference")


def route_of(setting, rng):
    origin, destination = rng.choice(setting.network.n_edges, 2, replace=False)
    return setting.search.route(setting.network.time_s, int(origin), int(destination)).rows


def usual(setting, rng):
    """Return edges, energies and times of a drive that takes 1.1 times eq. 8 at the limit."""
    edge = route_of(setting, rng)
    return edge, 1.1 * setting.prior.mean_wh[edge], setting.network.time_s[edge].copy()


def jam(setting, rng):
    edge, wh, _ = usual(setting, rng)
    return edge, 1.5 * wh + 20.0, setting.network.length_m[edge] / (2 * KMH)


def fast(setting, rng):
    edge, wh, _ = usual(setting, rng)
    return edge, 3.0 * wh, setting.network.length_m[edge] / (180 * KMH)


def delivery(setting, rng):
    """Return a round with three hours of standing at 1 to 40 doors, heated by 1 to 5 kW."""
    edge, wh, travel_s = usual(setting, rng)
    doors = rng.integers(1, 41)
    at = rng.choice(len(edge), min(doors, len(edge)), replace=False)
    stood_s = STANDING_S * rng.dirichlet(np.full(len(at), rng.choice([1.0, 100.0])))
    travel_s[at] += stood_s
    wh[at] += stood_s * rng.uniform(1000, 5000) / J_PER_WH
    return edge, wh, travel_s


def ferry(setting, rng):
    """Return a drive with a gap of 20 minutes to four hours, on an edge that takes nothing."""
    edge, wh, travel_s = usual(setting, rng)
    at = rng.integers(len(edge))
    travel_s[at] += rng.uniform(1200, 14_400)
    wh[at] = 0.0
    return edge, wh, travel_s


def learned(setting, made, folder):
    """Learn trips by name and return the rows of the trips learned."""
    columns = {name: [] for name in ("trip", "edge", "energy_wh", "travel_s")}
    for name, (edge, wh, travel_s) in made.items():
        columns["trip"] += [name] * len(edge)
        columns["edge"] += [setting.network.edge_id[each] for each in edge]
        columns["energy_wh"] += wh.tolist()
        columns["travel_s"] += travel_s.tolist()
    pq.write_table(pa.table(columns), folder / "trips.parquet")
    result = learn(
        folder / "trips.parquet", folder / "out", network=setting.network, vehicle=setting.vehicle
    )
    assert result.skipped == {}
    rows = {row["trip"]: row for row in result.trips.to_pylist()}
    assert rows.keys() == made.keys()
    for name, (_, wh, _) in made.items():
        assert rows[name]["energy_wh"] == pytest.approx(wh.sum())
    return rows


@pytest.mark.parametrize("kind", [jam, fast])
def test_slow_and_fast_drives_are_learned_with_their_times(setting, tmp_path, kind) -> None:
    rng = np.random.default_rng(31)
    made = {f"{kind.__name__} {k}": kind(setting, rng) for k in range(EACH)}
    rows = learned(setting, made, tmp_path)
    for name, (_, _, travel_s) in made.items():
        assert rows[name]["travel_s"] == pytest.approx(travel_s.sum())


@pytest.mark.parametrize("kind", [delivery, ferry])
def test_drives_with_hours_of_standing_are_learned(setting, tmp_path, kind) -> None:
    """Their time is known unless they stood for more than ten minutes on one edge."""
    rng = np.random.default_rng(32)
    made = {f"{kind.__name__} {k}": kind(setting, rng) for k in range(EACH)}
    rows = learned(setting, made, tmp_path)
    whole = 0
    for name, (edge, _, travel_s) in made.items():
        if np.all(travel_s <= 600 + setting.network.length_m[edge] / KMH):
            assert rows[name]["travel_s"] == pytest.approx(travel_s.sum())
            whole += 1
        else:
            assert np.isnan(rows[name]["travel_s"])
    assert whole < EACH
    assert (whole > 0) == (kind is delivery)


def test_a_pass_with_9_kwh_of_recuperation_is_learned(make_network, tmp_path) -> None:
    n, drop_m = 30, 80.0
    places = [(1000.0 * k, 0, drop_m * (n - k)) for k in range(n + 1)]
    network = make_network([(f"{k}", k, k + 1) for k in range(n)], places, name="pass")
    setting = Setting(network, load_vehicle("reference"))
    fallen_wh = setting.vehicle.mass_kg * GRAVITY_MPS2 * drop_m * n / J_PER_WH
    assert fallen_wh > 11_000
    rng, made = np.random.default_rng(33), {}
    for k in range(EACH):
        edge = np.arange(n)
        wh = -rng.uniform(8_500, 9_500) * rng.dirichlet(np.full(n, 20.0))
        made[f"pass {k}"] = edge, wh, network.length_m / rng.uniform(8, 20)
    rows = learned(setting, made, tmp_path)
    assert all(-9_500 < row["energy_wh"] < -8_500 for row in rows.values())
