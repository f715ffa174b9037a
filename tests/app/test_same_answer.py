"""One request in the dashboard, on the command line and in Python gives one answer."""

import json
import sys

import pytest
from streamlit.testing.v1 import AppTest

from evroute.cli import main
from evroute.door.plan import plan
from evroute.energy.driving import DrivingConditions
from evroute.resources import app_path

PATIENCE_S = 600
PLACES = ("39.753100,-104.996500", "39.741000,-104.980000", "39.760000,-104.975000")
REQUESTS = {
    "two places": (
        {"from": PLACES[0], "to": PLACES[2], "soc": "40"},
        ["--from", PLACES[0], "--to", PLACES[2], "--soc", "40", "--reserve", "10"],
        {"waypoints": (PLACES[0], PLACES[2]), "soc_percent": 40, "reserve_percent": 10},
    ),
    "a stop, cold, a limit and a price": (
        {"from": PLACES[0], "via": PLACES[1], "to": PLACES[2], "soc": "60", "reserve": "20"}
        | {"temperature": "-5", "payload": "100", "max_extra_time": "5%"}
        | {"price": "0.35", "depart": "08:15", "vehicle": "renault-zoe"},
        (
            f"--from {PLACES[0]} --via {PLACES[1]} --to {PLACES[2]} --soc 60 --reserve 20 "
            "--temperature -5 --payload 100 --max-extra-time 5% --price 0.35 --depart 08:15 "
            "--vehicle renault-zoe"
        ).split(),
        {"waypoints": PLACES, "soc_percent": 60, "reserve_percent": 20, "max_extra_time": 0.05}
        | {"conditions": DrivingConditions(temperature_c=-5.0, payload_kg=100.0)}
        | {"price": 0.35, "depart": "08:15", "vehicle": "renault-zoe"},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_one_request_gives_one_answer(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link, command, options = REQUESTS[name]
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    for field, value in link.items():
        page.query_params[field] = value
    page.run()
    assert not page.exception
    assert not page.error
    _, shown = page.session_state["last_plan"]
    arguments = ["evroute", "route", "--network", "denver", *command, "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as done:
        main()
    assert not done.value.code
    printed = json.loads(capsys.readouterr().out)
    expected = plan("denver", **options)
    assert shown.recommended == printed["recommended"] == expected.recommended
    for row, route in expected.routes.items():
        assert shown.routes[row].edges == route.edges
        assert printed["routes"][row]["edges"] == list(route.edges)
        assert shown.routes[row].energy_wh == route.energy_wh
        assert printed["routes"][row]["energy_wh"] == pytest.approx(route.energy_wh, rel=1e-9)
    assert shown.arrival_time(shown.recommended) == expected.arrival_time(expected.recommended)


def test_the_address_of_a_plan_is_its_request() -> None:
    for link, _, _ in REQUESTS.values():
        page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
        for field, value in link.items():
            page.query_params[field] = value
        page.run()
        written = dict(page.query_params)
        assert {field: written.get(field) for field in link} == link
