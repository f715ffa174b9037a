"""Names that ``import evroute`` offers: imported when they are used, shown in one line."""

import subprocess
import sys
from typing import Any

import pytest

import evroute
from evroute.errors import EvrouteError
from evroute.network.road_network import RoadNetwork

TYPES = {
    "RoadNetwork",
    "Vehicle",
    "DrivingConditions",
    "Belief",
    "Planner",
    "PlanRequest",
    "Plan",
    "Experiment",
}
ENDS = ("Walnut Street & 33rd Street", "Broadway & 20th Street")


@pytest.fixture(scope="module")
def plan() -> Any:
    return evroute.plan("denver", *ENDS, soc=40, conditions={"temperature_c": -5})


def test_every_name_is_there() -> None:
    assert set(evroute.__all__) >= TYPES
    for name in evroute.__all__:
        assert name in dir(evroute)
        assert getattr(evroute, name) is not None
    for name in TYPES:
        assert getattr(evroute, name).__name__ == name


def test_the_package_imports_nothing_until_a_name_is_used() -> None:
    code = (
        "import sys; import evroute; before = set(sys.modules); evroute.Vehicle;"
        "print('numpy' in before, 'pydantic' in before, 'evroute.energy.vehicle' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


def test_everything_shows_itself_in_one_line(plan: Any, denver: RoadNetwork) -> None:
    experiment = evroute.Experiment(trips={"denver": ["A"]}, methods=["gp-ts"], horizon=20, seeds=2)
    shown = {
        "RoadNetwork": denver,
        "Vehicle": evroute.load_vehicle(),
        "DrivingConditions": plan.request.conditions,
        "PlanRequest": plan.request,
        "Plan": plan,
        "PlannedRoute": plan.fastest,
        "Planner": evroute.Planner(denver),
        "Experiment": experiment,
        "Reach": evroute.reachable(denver, ENDS[0], soc=3),
        "Tour": evroute.tour(denver, (*ENDS, ENDS[0])),
        "belief": evroute.physics_belief(denver),
    }
    for kind, value in shown.items():
        text = repr(value)
        assert text.startswith(kind)
        assert "\n" not in text
        assert len(text) <= 300, text
    assert repr(shown["RoadNetwork"]) == (
        "RoadNetwork('denver', 1,330 edges, 476 junctions, 3,060 turns, 143.6 km)"
    )
    assert repr(shown["Vehicle"]) == "Vehicle('nissan-leaf-40', 1,737 kg, 38 kWh)"
    assert repr(plan.request.conditions) == "DrivingConditions(temperature_c=-5.0)"
    assert repr(plan.request) == (
        f"PlanRequest(origin='{ENDS[0]}', destination='{ENDS[1]}', soc=40.0, "
        "conditions=DrivingConditions(temperature_c=-5.0))"
    )
    assert repr(experiment) == "Experiment({'denver': ('A',)}, GP-TS, 20 trips, 2 seeds, reference)"
    route = plan.fastest
    assert repr(route) == (
        f"PlannedRoute({len(route.edges)} edges, {route.energy_wh / 1000:.2f} kWh, "
        f"{route.time_s / 60:.1f} min, {route.length_m / 1000:.2f} km)"
    )
    assert repr(plan).endswith(f"recommended {plan.recommended}: {plan.recommended_route!r})")


def test_routes_of_a_plan_have_names(plan: Any) -> None:
    routes = plan.routes
    assert plan.least_energy is routes["energy"]
    assert plan.fastest is routes["time"]
    assert plan.shortest is routes["distance"]
    assert plan.recommended_route is routes[plan.recommended]
    assert plan.least_energy.energy_wh == min(route.energy_wh for route in routes.values())
    assert plan.fastest.time_s == min(route.time_s for route in routes.values())
    assert plan.shortest.length_m == min(route.length_m for route in routes.values())


def test_a_row_that_is_missing_is_refused_in_one_line(plan: Any) -> None:
    from dataclasses import replace

    stopping = replace(plan, routes={"time": plan.fastest}, recommended="time")
    for name, words in (("least_energy", "least energy"), ("shortest", "least distance")):
        with pytest.raises(EvrouteError, match=f"this plan has no route of {words}. It has time"):
            getattr(stopping, name)
