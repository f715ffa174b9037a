"""Notebooks of trips: ends and charges without a route."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.notebook import CLOSE, plausible_routes
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import FADE
from evroute.methods.setting import Setting
from evroute.network.places.zones import local_s

ROOT = Path(__file__).parents[3]
LINES = """trip;from;to;departed;soc_start;soc_end;odometer_km;mood
one;a;d;2026-05-04T07:30:00;90;88;;good
two;a;d;2026-05-04T09:30:00;88;87;2,0;good
far;a;d;2026-05-04T11:30:00;87;86;9;
odd;a;d;2026-05-04T12:30:00;130;86;;
"""


@pytest.fixture
def setting(make_network) -> Setting:
    """Between a and d a road of 2 km, and one of 2.2 km over a hill of 40 m."""
    edges = [("a", 0, 1), ("low", 1, 2), ("up", 1, 3), ("down", 3, 2), ("d", 2, 4)]
    places = [(-100, 0, 0), (0, 0, 0), (2000, 0, 0), (1000, 455, 40), (2100, 0, 0)]
    return Setting(make_network(edges, places), load_vehicle("renault-zoe"))


@pytest.fixture
def notebook(tmp_path) -> Path:
    path = tmp_path / "notebook.csv"
    path.write_text(LINES)
    return path


def test_a_trip_stands_for_its_plausible_routes(setting, notebook) -> None:
    network = setting.network
    measured = read_measured(notebook, setting, ["renault-zoe"])
    assert [trip.trip for trip in measured.trips] == ["one", "two"]
    columns, numbers, of_battery = sorted(measured.notes, key=len)
    assert numbers == "numbers are read with a decimal comma"
    assert "per cents of the vehicle file's usable battery of 52 kWh" in of_battery
    assert columns == "columns not read: mood"
    assert "no plausible route between its ends is 9 km long" in measured.skipped["far"]
    assert "charges at both ends within 0..100 %, not 130 and 86 %" in measured.skipped["odd"]
    one = measured.trips[0]
    low, hill = (
        [network.row_of[e] for e in way] for way in (["a", "low", "d"], ["a", "up", "down", "d"])
    )
    assert one.routes == 2
    assert one.edge.tolist() == [*low, *hill]
    battery_wh = setting.vehicle.battery_kwh * 1000
    assert one.energy_wh.sum() == pytest.approx(0.02 * battery_wh)
    eq8_wh = [setting.arms.prior_mean_wh[way].sum() for way in (low, hill)]
    steps_wh2 = (0.01 * battery_wh) ** 2 / 6  # whole per cents
    assert one.known_variance_wh2 == pytest.approx(steps_wh2 + np.var(eq8_wh))
    assert one.soc_percent == 90.0
    assert local_s(one.departed_s, network) == 7.5 * 3600
    energies = TripEnergies(setting, physics="eq8")
    mean = (energies.row(over(one, low)) + energies.row(over(one, hill))) / 2
    uncharged = replace(one, soc_percent=60.0)  # below the charge where recuperation fades
    mean[FADE] = 0.0
    np.testing.assert_allclose(energies.row(uncharged), mean)
    # the charge at departure serves all of a trip whose route is unknown
    prior_wh = energies.under(EQ8_CONDITIONS).mean_wh[hill]
    assert energies.row(one)[FADE] == pytest.approx(0.5 * -prior_wh[2] / 2)


def over(trip, edges):
    return replace(trip, edge=np.array(edges), routes=1)


def test_the_odometer_chooses_among_routes(setting) -> None:
    lengths_m = setting.network.length_m
    short = list(plausible_routes(setting, "a", "d", odometer_km=2.1))
    assert {round(lengths_m[edge].sum()) for edge in short} <= {2200, 2399, 2400}
    for edge in short:
        assert abs(lengths_m[edge].sum() / 1000 - 2.1) <= CLOSE * 2.1


def test_a_notebook_is_learned_and_read_again(setting, notebook, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("evroute.learning.records.manifest.load_setting", lambda *names: setting)
    first = learn(notebook, tmp_path / "own", network="toy", vehicle="renault-zoe")
    again = learn(notebook, tmp_path / "own", network="toy", vehicle="renault-zoe")
    assert (first.new, again.new, again.known) == (2, 0, 2)
    known = [each.trips.drop_columns("travel_s") for each in (first, again)]  # NaN
    assert known[0].equals(known[1])
    assert first.trips["length_m"][0].as_py() == pytest.approx(
        sum(setting.network.length_m[e].sum() for e in plausible_routes(setting, "a", "d")) / 2
    )
    with pytest.raises(EvrouteError, match="has no routes"):
        learn(notebook, tmp_path / "edges", network="toy", model="independent")


def test_the_example_is_two_trips(denver) -> None:
    zoe = Setting(denver, load_vehicle("renault-zoe"))
    measured = read_measured(ROOT / "data/examples/notebook.csv", zoe, ["renault-zoe"])
    assert [trip.energy_wh.sum() for trip in measured.trips] == pytest.approx([520.0, 520.0])
