"""Every planner to export to, and what each does with its numbers, counted a second time here."""

import json
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

import evroute
from evroute.door.planners import Planner
from evroute.energy.consumption import of_vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.export import abrp, tomtom
from evroute.export.routes import Routes, drawn
from evroute.export.targets import FITTED, JUDGED, TARGETS, exported

GRAVITY, J_PER_WH = 9.81, 3600.0


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(evroute.load_network("denver"), "nissan-leaf-40", physics="driving")


@pytest.fixture(scope="module")
def routes(planner: Planner) -> Routes:
    return drawn(planner, FITTED + JUDGED)


def of_route(routes: Routes, row: int) -> tuple[np.ndarray, ...]:
    """Return lengths, speeds, and metres up and down of one route."""
    some = routes.some(np.array([row]))
    return some.length_m, some.speed_mps, some.ascent_m, some.descent_m


def by_tomtom(numbers: dict[str, str], routes: Routes, row: int) -> float:
    """Return the energy of a route as TomTom describes it, Wh."""
    pairs = [pair.split(",") for pair in numbers[TABLE].split(":")]
    kmh, kwh = np.array(pairs, dtype=float).T
    mass_kg, wh = float(numbers["vehicleWeight"]), 0.0
    before = 0.0
    for length_m, speed, up_m, down_m in zip(*of_route(routes, row), strict=True):
        wh += float(np.interp(3.6 * speed, kmh, kwh)) * 1000.0 * length_m / 100_000.0
        wh += float(numbers["auxiliaryPowerInkW"]) * 1000.0 * length_m / speed / 3600.0
        wh += mass_kg * GRAVITY * up_m / J_PER_WH / float(numbers["uphillEfficiency"])
        wh -= mass_kg * GRAVITY * down_m / J_PER_WH * float(numbers["downhillEfficiency"])
        gained_wh = 0.5 * mass_kg * (speed**2 - before**2) / J_PER_WH
        wh += max(gained_wh, 0.0) / float(numbers["accelerationEfficiency"])
        wh -= max(-gained_wh, 0.0) * float(numbers["decelerationEfficiency"])
        before = speed
    lost_wh = 0.5 * mass_kg * before**2 / J_PER_WH
    return wh - lost_wh * float(numbers["decelerationEfficiency"])


TABLE = "constantSpeedConsumptionInkWhPerHundredkm"


def with_energies(routes: Routes, energy_wh: np.ndarray) -> Routes:
    return replace(routes, energy_wh=energy_wh)


@pytest.mark.parametrize("target", TARGETS)
def test_a_document_has_the_numbers_and_their_errors(target: str, planner: Planner) -> None:
    found = exported(planner, target)
    assert json.loads(json.dumps(found)) == found
    assert (found["for"], found["vehicle"]) == (target, "nissan-leaf-40")
    sent = dict(parse_qsl(found["query"]))
    assert sent == {name: str(value) for name, value in found["parameters"].items()}
    *classes, whole = found["errors_against_the_belief"]
    assert sum(each["routes"] for each in classes) == whole["routes"] == JUDGED
    assert all(("median_percent" in each) == (each["routes"] > 0) for each in classes)
    assert exported(planner, target) == found


def test_errors_are_those_of_routes_that_no_number_was_fitted_to(
    planner: Planner, routes: Routes
) -> None:
    found = exported(planner, "tomtom")
    numbers = dict(parse_qsl(found["query"]))
    judged = range(FITTED, FITTED + JUDGED)
    shares = [
        100.0 * abs(by_tomtom(numbers, routes, row) / routes.energy_wh[row] - 1.0) for row in judged
    ]
    stated = found["errors_against_the_belief"][-1]
    assert stated["median_percent"] == pytest.approx(np.median(shares), abs=0.1)
    assert stated["p90_percent"] == pytest.approx(np.percentile(shares, 90), abs=0.2)


@pytest.mark.parametrize("up", [0.7, 0.95])
def test_a_car_that_is_as_tomtom_describes_is_found_again(routes: Routes, up: float) -> None:
    true = {
        TABLE: "10,9:30,9.5:50,11:70,14:90,18:130,27",
        "vehicleWeight": "1737",
        "auxiliaryPowerInkW": "0.25",
        "uphillEfficiency": f"{up}",
        "downhillEfficiency": "0.6",
        "accelerationEfficiency": "0.8",
        "decelerationEfficiency": "0.5",
    }
    energy_wh = np.array([by_tomtom(true, routes, row) for row in range(len(routes))])
    fitted = tomtom.fit(with_energies(routes, energy_wh).some(np.arange(FITTED)))
    judged = routes.some(np.arange(FITTED, len(routes)))
    shares = np.abs(fitted.energy_wh(judged) / energy_wh[FITTED:] - 1.0)
    assert np.percentile(shares, 90) < 0.01
    assert float(fitted.parameters["uphillEfficiency"]) == pytest.approx(up, abs=0.1)


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
def test_efficiencies_are_pairs_that_make_no_energy(routes: Routes, factor: float) -> None:
    numbers = tomtom.fit(with_energies(routes, factor * routes.energy_wh)).parameters
    for first, second in (("uphill", "downhill"), ("acceleration", "deceleration")):
        pair = [float(numbers[f"{name}Efficiency"]) for name in (first, second)]
        assert 0.0 < pair[0] <= 1.0
        assert 0.0 <= pair[1] <= 1.0
        assert pair[0] * pair[1] <= 1.0
    assert numbers["vehicleWeight"] == round(routes.vehicle.mass_kg)
    pairs = [pair.split(",") for pair in str(numbers[TABLE]).split(":")]
    kmh, kwh = np.array(pairs, dtype=float).T
    assert len(kmh) <= 25
    assert (np.diff(kmh) > 0).all()
    assert (kwh >= 0.01).all()


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_car_that_takes_more_has_as_much_more_at_110(routes: Routes, factor: float) -> None:
    steady = of_vehicle(routes.vehicle).wh_per_km(np.array([110 / 3.6]), np.zeros(1))
    numbers = abrp.fit(with_energies(routes, factor * routes.physics_wh)).parameters
    assert numbers["ref_consumption"] == pytest.approx(factor * float(steady[0]), abs=0.1)


def test_an_unknown_planner_and_a_small_network_are_refused(
    planner: Planner, hill: evroute.RoadNetwork
) -> None:
    with pytest.raises(UnknownNameError, match=r"tomtom"):
        exported(planner, "waze")
    with pytest.raises(EvrouteError, match="Take a larger one"):
        exported(Planner(hill, "nissan-leaf-40"), "abrp")
