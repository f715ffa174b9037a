"""The pages of the dashboard under Streamlit's own test runner; the map itself is tested in
``test_browser``.
"""

import csv
import json
import os
import re
import shutil
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import time as clock
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evroute.door.plan import plan
from evroute.door.reachable import reachable
from evroute.energy.defaults import VEHICLE
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.learning.learn import learn
from evroute.learning.physics_belief import physics_belief
from evroute.methods.parts import METHODS
from evroute.network.catalog import keep, load_network
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import add_chargers
from evroute.planning.places import load_trips
from evroute.planning.plan import Plan, energy_text
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest
from evroute.report.learned_run import LearnedRun
from evroute.report.words import counts
from evroute.resources import app_path, data_path

PATIENCE_S = 600
ENDS = {"from": "Stout Street & 18th Street", "to": "East 19th Avenue & Emerson Street"}
"""Places of the example of Denver."""
planned = plan


def opened(page: str) -> AppTest:
    """Open a page, the page Plan on trip A, the page Learn on simulations of one's own."""
    found = AppTest.from_file(str(app_path(page)), default_timeout=PATIENCE_S)
    if page == "views/plan.py":
        found.query_params["trip"] = "A"
    if page == "views/learn.py":
        found.query_params["mine"] = "True"
    return found.run()


def stories() -> AppTest:
    """Open the page Learn as it is on a first visit."""
    found = AppTest.from_file(str(app_path("views/learn.py")), default_timeout=PATIENCE_S)
    return found.run()


def linked(link: dict[str, str]) -> AppTest:
    """Open the page Plan by a link."""
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    for name, value in link.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def shown(page: AppTest, component: str) -> Any:
    """Return the data of the map or of the cards below the chips."""
    found = [
        json.loads(each.proto.json)
        for each in page.get("bidi_component")
        if each.proto.component_name == f"evroute_{component}"
    ]
    return found[0]


def every_card(page: AppTest) -> list[dict[str, Any]]:
    """Return the cards of all routes, in the tab *More routes*."""
    page.session_state["tab"] = "More routes"
    page.run()
    assert not page.exception
    found = [
        json.loads(each.proto.json)
        for each in page.get("bidi_component")
        if each.proto.component_name == "evroute_cards"
    ]
    page.session_state["tab"] = ""
    return list(found[1]["cards"])


def searches(page: AppTest) -> dict[str, Any]:
    """Return the data of the boxes to search in, by their labels."""
    texts = (
        each.proto.json
        for each in page.get("bidi_component")
        if each.proto.component_name == "evroute_search"
    )
    return {data["label"]: data for data in map(json.loads, texts)}


def test_the_main_script_opens_on_the_plan() -> None:
    page = opened("streamlit_app.py")
    assert not page.exception
    assert searches(page)["From"]["shown"]


def test_the_plan_page_shows_the_plan_of_evroute() -> None:
    page = linked({"trip": "A", "vehicle": "reference"})
    asked = {"soc_percent": 80, "reserve_percent": 10, "vehicle": "reference"}
    expected = planned("denver", trip="A", **asked)
    (best,) = shown(page, "cards")["cards"]
    assert f"{best['verdict']}, {best['arrival']}" == expected.outlook
    assert best["level"] == "good"
    cards = every_card(page)
    assert cards[0] == best
    assert cards[0]["name"] == expected.recommended
    assert len(cards) == len({route.route for route in expected.routes.values()}) > 2
    for card in cards:
        route = expected.routes[card["name"]]
        energy = f"{route.energy_wh / 1000:.2f} kWh"
        if max(abs(each.energy_wh) for each in expected.routes.values()) < 100:
            energy = f"{route.energy_wh:.0f} Wh"
        length = f"{route.length_m / 1000:.1f} km"
        assert card["numbers"] == [f"{route.time_s / 60:.1f} min", energy, length]
        assert card["leaves_now_s"] == route.time_s
        percent = expected.battery.percent(route.charge.charge_wh[-1])
        assert card["arrival"].startswith(f"arriving with {percent:.0f} % (")
    assert [card["name"] for card in cards if card["recommended"]] == [expected.recommended]


def test_another_route_has_a_card_if_it_differs_by_10_s_and_1_percent() -> None:
    from cards import shown_rows

    made = planned("denver", trip="A", soc_percent=30, reserve_percent=10)

    def off(seconds: float, percent: float) -> Plan:
        """The plan whose fastest route differs by so much from the recommended one."""
        best, capacity_wh = made.recommended_route, made.battery.capacity_wh
        end_wh = best.charge.charge_wh[-1] + percent / 100 * capacity_wh
        charge = replace(made.routes["time"].charge, charge_wh=np.array([end_wh]))
        time_s = best.time_s + seconds
        fastest = replace(made.routes["time"], time_s=time_s, charge=charge)
        routes = {made.recommended: best, "time": fastest}
        return replace(made, routes=routes)

    assert made.recommended != "time"
    for seconds, percent, differs in ((-11, 1.1, True), (60, -1.1, True), (-11, 0.9, False)):
        rows = [made.recommended, "time"] if differs else [made.recommended]
        assert shown_rows(off(seconds, percent)) == rows
    assert shown_rows(off(-9, 5.0)) == [made.recommended]
    assert shown_rows(off(-9, 5.0), "time") == [made.recommended, "time"]


def test_a_chosen_route_of_more_routes_is_shown_with_its_verdict() -> None:
    page = linked({"trip": "A", "route": "time"})
    made = page.session_state["last_plan"][1]
    cards = shown(page, "cards")["cards"]
    assert [card["name"] for card in cards] == [made.recommended, "time"]
    assert [card["selected"] for card in cards] == [False, True]
    assert f"{cards[1]['verdict']}, {cards[1]['arrival']}" == made.outlook_of("time")
    assert [each["selected"] for each in shown(page, "map")["routes"]] == [False, True]


def test_a_route_on_average_that_misses_the_promise_is_amber() -> None:
    page = linked({"soc": "11", "risk": "mean", "route": "time"} | ENDS)
    made = page.session_state["last_plan"][1]
    assert made.routes["time"].charge_forecast.never_below_reserve < 0.9 <= made.chance
    cards = shown(page, "cards")["cards"]
    assert [card["level"] for card in cards] == ["good", "low"]
    assert cards[1]["verdict"] == "You get there: 86 %"


def test_the_first_visit_has_something_at_stake() -> None:
    """The fastest route without regard to the charge is refused; the recommended one is not."""
    page = linked({})
    made = page.session_state["last_plan"][1]
    free = planned("denver", waypoints=made.titles).routes["time"]
    kept = planned("denver", waypoints=made.titles, soc=11, reserve=10, risk="mean").routes["time"]
    assert kept.route == free.route
    share = kept.charge_forecast.never_below_reserve
    assert share < 0.9 <= made.chance
    assert free.time_s < made.routes["time"].time_s
    (card,) = shown(page, "cards")["cards"]
    assert card["recommended"]
    (refused,) = shown(page, "cards")["lines"]
    assert refused == (
        f"Fastest refused ({free.time_s / 60:.1f} min): keeps 10 % in "
        f"{int(100 * share)} % of trips."
    )
    page.session_state["kept_stops"] = after(page, {"kind": "click", "at": [39.75, -104.98]})
    assert page.session_state["kept_soc"] == 11


def test_the_way_of_the_charge_has_the_numbers_of_the_plan() -> None:
    page = linked({"trip": "C", "soc": "30"})
    _, made = page.session_state["last_plan"]
    best, way = made.recommended_route, shown(page, "map")["way"]
    km, percent, low, high = np.array(way["charge"]).T
    used_wh = np.cumsum(best.edge_wh)
    expected = 30 - np.append(0.0, used_wh) / made.battery.capacity_wh * 100
    assert percent == pytest.approx(expected, abs=1e-3)
    assert km[-1] == pytest.approx(best.length_m / 1000, abs=1e-3)
    ends = best.charge_forecast.arrival_interval_percent
    assert (low[-1], high[-1]) == pytest.approx(ends, abs=1e-3)
    assert way["reserve"] == 10
    assert not page.dataframe, "tables load when their tab opens"
    page.session_state["tab"] = "Energy"
    page.run()
    parts = shown(page, "energy")["parts"]
    sizes = [-part["size"] if part["recovered"] else part["size"] for part in parts]
    assert sum(sizes) == pytest.approx(best.energy_wh, abs=2.0)  # parts below 0.5 Wh are left out
    first = next(part for part in parts if part["label"] == "rolling")
    assert first["text"] == f"{best.parts_wh['rolling'] / 1000:.2f} kWh"
    page.session_state["tab"] = "Streets"
    page.run()
    streets = page.dataframe[0].value
    assert streets["kWh"].sum() == pytest.approx(best.energy_wh / 1000)
    assert streets["km"].sum() == pytest.approx(best.length_m / 1000)
    lights = load_network("denver")
    assert streets["lights"].sum() == counts(lights, np.array(best.route.edges))["traffic light"]


def test_a_limit_of_risk_refuses_the_fastest_route() -> None:
    request = ENDS | {"soc": "11", "reserve": "10"}
    free = linked(request | {"risk": "mean"}).session_state["last_plan"][1]
    keeps = free.routes["time"].charge_forecast.never_below_reserve
    assert keeps < 0.9
    lines = shown(linked(request | {"risk": "mean"}), "cards")["lines"]
    assert not lines
    page = linked(request | {"risk": "10%"})
    assert not page.error
    (refused,) = shown(page, "cards")["lines"]
    assert refused.startswith("Fastest refused (")
    assert refused.endswith(f"keeps 10 % in {int(100 * keeps)} % of trips.")
    made = page.session_state["last_plan"][1]
    assert len(every_card(page)) == len({planned.route for planned in made.routes.values()})
    assert all(
        planned.charge_forecast.never_below_reserve >= 0.9 for planned in made.routes.values()
    )


def test_the_band_before_any_trip_comes_from_physics_and_narrows(tmp_path: Path) -> None:
    trip = {"trip": "C", "soc": "50", "vehicle": "reference"}
    page = linked(trip)
    roads, car = load_network("denver"), load_vehicle("reference")
    prior = plan(
        roads,
        trip="C",
        soc_percent=50,
        reserve_percent=10,
        risk=0.5,
        vehicle=car,
        uncertainty=physics_belief(roads, car, "driving"),
    )
    band = page.session_state["last_plan"][1].recommended_route.charge_forecast
    expected = prior.recommended_route.charge_forecast
    assert band.arrival_interval_percent == pytest.approx(expected.arrival_interval_percent)
    assert "kept_folder" not in [each.key for each in page.selectbox]
    low, high = band.arrival_interval_percent
    rng = np.random.default_rng(5)
    known = Planner(roads, car)
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh"])
        for number in range(10):
            ends = rng.choice(roads.n_edges, 2, replace=False)
            route = known.plan(*map(int, ends)).recommended_route
            for edge, energy_wh in zip(route.edges, route.edge_wh.tolist(), strict=True):
                rows.writerow([number, edge, 1.05 * energy_wh])
    learn(tmp_path / "log.csv", tmp_path / "runs" / "my-reference-denver", vehicle="reference")
    later = linked(trip)
    narrow = later.session_state["last_plan"][1].recommended_route.charge_forecast
    after_low, after_high = narrow.arrival_interval_percent
    assert after_high - after_low < 0.8 * (high - low)


def test_the_first_visit_shows_an_example_and_no_edge_id() -> None:
    page = linked({})
    roads, drawn = load_network("denver"), shown(page, "map")
    assert drawn["hint"] == "Example trip. Click the map to plan your own."
    texts = json.dumps([drawn, shown(page, "cards")])
    texts += " ".join(each.value for each in [*page.caption, *page.markdown])
    page.session_state["tab"] = "Streets"
    page.run()
    texts += page.dataframe[0].value.to_csv()
    assert not [each for each in roads.edge_id if each in texts]
    assert [pin["label"] for pin in drawn["pins"]] == ["A", "B"]
    assert all(" & " in pin["text"] for pin in drawn["pins"])


def test_departure_and_money_equal_the_plan() -> None:
    page = opened("views/plan.py")
    page.time_input(key="depart/0").set_value(clock(8, 15))
    page.number_input(key="price/0").set_value(0.35).run()
    page.number_input(key="time_value/0").set_value(12.0).run()
    options = {"depart": "08:15", "price": 0.35, "time_value": 12.0}
    expected = planned("denver", trip="A", soc_percent=80, reserve_percent=10, **options)
    assert not page.exception
    card = shown(page, "cards")["cards"][0]
    assert card["name"] == "cost"
    assert f"at {expected.arrival_time('cost')}" in card["numbers"]
    assert f"costs {expected.energy_cost('cost'):.2f}" in card["numbers"]


def test_a_departure_is_chosen_on_a_clock_and_can_be_now_again() -> None:
    page = opened("views/plan.py")
    page.time_input(key="depart/0").set_value(clock(17, 45)).run()
    assert page.session_state["last_plan"][1].request.depart == "17:45"
    assert page.query_params["depart"] == "17:45"
    page.button(key="now").click().run()
    assert page.session_state["last_plan"][1].request.depart is None
    assert "depart" not in page.query_params


def test_costs_are_in_the_chosen_currency_also_in_its_link() -> None:
    page = linked({"trip": "A", "soc": "60", "price": "0.4"})
    energy_kwh = page.session_state["last_plan"][1].recommended_route.energy_wh / 1000
    cost = f"costs {0.4 * energy_kwh:.2f}"
    assert cost in shown(page, "cards")["cards"][0]["numbers"]
    page.selectbox(key="currency/0").set_value("EUR").run()
    assert f"{cost} €" in shown(page, "cards")["cards"][0]["numbers"]
    again = linked(dict(page.query_params))
    assert f"{cost} €" in shown(again, "cards")["cards"][0]["numbers"]
    assert not again.warning
    odd = linked({"trip": "A", "currency": "gold"})
    assert "currency=gold" in odd.warning[0].value


def test_a_time_limit_is_kept() -> None:
    page = opened("views/plan.py")
    page.toggle(key="limited/0").set_value(True).run()
    page.slider(key="extra/0").set_value(5).run()
    _, made = page.session_state["last_plan"]
    assert made.routes["energy"].time_s <= 1.05 * made.routes["time"].time_s + 1e-9


def test_too_little_charge_keeps_the_cards_and_offers_enough(asked: Any) -> None:
    page = opened("views/plan.py")
    before = shown(page, "cards")["cards"]
    asked(page, "slider", "soc").set_value(1).run()
    asked(page, "slider", "reserve").set_value(1).run()
    assert not page.exception
    with pytest.raises(NotEnoughChargeError) as refused:
        plan("denver", trip="A", soc_percent=1, reserve_percent=1)
    needed, average = refused.value.start_percent, refused.value.average_percent
    assert page.error[0].value == (
        rf"1 % is not enough for 90 of 100 trips\: start with at least {needed} % "
        f"(on average {average} % is enough)."
    )
    assert shown(page, "cards")["cards"] == before
    assert shown(page, "cards")["dim"]
    assert shown(page, "map")["dim"]
    assert shown(page, "map")["routes"]
    page.button(key="use").click().run()
    assert not page.error
    assert asked(page, "slider", "soc").value == needed
    assert not shown(page, "cards")["dim"]


def test_a_trip_from_home_to_home_waits_for_its_stop() -> None:
    home = "Blake Street & 17th Street"
    page = linked({"from": home, "to": home})
    assert "or a stop between them" in page.error[0].value
    page.button(key="add_stop").click().run()
    assert not page.exception
    assert not page.error
    page = linked({"from": home, "via": "Larimer Street & 20th Street", "to": home})
    assert not page.error
    assert len(shown(page, "map")["pins"]) == 3


def test_dimmed_cards_have_the_numbers_of_the_day() -> None:
    page = opened("views/plan.py")
    mild = shown(page, "cards")["cards"]
    page.session_state["kept_soc"] = page.session_state["kept_reserve"] = 1
    page.slider(key="temperature/0").set_value(-15).run()
    assert not page.exception
    assert shown(page, "cards")["dim"]
    cold = shown(page, "cards")["cards"]
    page.button(key="use").click().run()
    assert not shown(page, "cards")["dim"]
    assert cold == shown(page, "cards")["cards"]
    assert cold != mild


def test_a_request_without_a_way_hides_the_cards_of_another_day() -> None:
    page = opened("views/plan.py")
    page.session_state["kept_stops"] = ["Blake Street & 17th Street"] * 2
    page.session_state["kept_trip"] = ""
    page.slider(key="temperature/0").set_value(-15).run()
    assert page.error
    assert not any(
        each.proto.component_name == "evroute_cards" for each in page.get("bidi_component")
    )


def test_charges_on_arrival_that_differ_by_less_than_a_tenth_are_one() -> None:
    """79.46 % and 79.51 % of cards are no 79 % and 80 %, 79.4 % and 80.6 % are."""
    from cards import arrival_digits

    made = planned("denver", trip="A", soc_percent=80, reserve_percent=10, vehicle="reference")
    names = ["time", "energy", "distance"]

    def arriving(percents: list[float]) -> Plan:
        routes = {
            name: replace(
                made.routes[name],
                charge=replace(
                    made.routes[name].charge,
                    charge_wh=made.battery.capacity_wh / 100 * np.array([80.0, percent]),
                ),
            )
            for name, percent in zip(names, percents, strict=True)
        }
        return replace(made, routes=routes, recommended="time")

    assert arrival_digits(arriving([79.46, 79.51, 79.48])) == 1
    assert arrival_digits(arriving([79.4, 80.6, 80.6])) == 0
    assert arrival_digits(arriving([79.6, 79.9, 80.1])) == 0


def test_pins_move_the_route_by_metres_and_one_point_is_a_sentence() -> None:
    page, network = opened("views/plan.py"), load_network("denver")
    edge = int(np.argmax(network.length_m))
    points = slice(*network.shape_start[edge : edge + 2].tolist())
    lon, lat = (each[points] for each in network.lon_lat)
    x_m, y_m = network.shape_x_m[points], network.shape_y_m[points]
    along_m = np.append(0.0, np.cumsum(np.hypot(np.diff(x_m), np.diff(y_m))))
    stretched = float(network.length_m[edge]) / along_m[-1]

    def at(metres: float) -> str:
        ends = [np.interp(metres / stretched, along_m, each) for each in (lat, lon)]
        return f"{ends[0]:.9f},{ends[1]:.9f}"

    def drive(origin: str, destination: str) -> Plan:
        page.session_state["kept_stops"] = [origin, destination]
        page.session_state["kept_trip"] = ""
        page.run()
        assert not page.exception
        return page.session_state["last_plan"][1]

    assert network.length_m[edge] > 260
    assert drive(at(50), at(250)).routes["distance"].length_m == pytest.approx(200, abs=0.01)
    assert drive(at(60), at(250)).routes["distance"].length_m == pytest.approx(190, abs=0.01)
    line = shown(page, "map")["routes"][0]["line"]
    for point, metres in ((line[0], 60), (line[-1], 250)):
        assert point == pytest.approx([float(each) for each in at(metres).split(",")], abs=2e-6)
    cards = shown(page, "cards")["cards"]
    drive(at(250), at(250))
    assert "Origin and destination are one point of" in page.error[0].value
    assert shown(page, "cards")["cards"] == cards
    assert shown(page, "cards")["dim"]
    assert shown(page, "map")["routes"]


def test_a_link_to_too_little_charge_shows_the_routes_with_enough() -> None:
    page = linked({"trip": "A", "soc": "1", "reserve": "1"})
    assert "1 % is not enough" in page.error[0].value
    assert shown(page, "cards")["cards"]
    assert shown(page, "map")["routes"]


def test_a_limit_of_risk_and_the_range_equal_evroute() -> None:
    link = {"trip": "A", "soc": "14", "risk": "5%", "range": "True"}
    page = linked(link)
    roads, car = load_network("denver"), load_vehicle(VEHICLE)
    request = {"soc_percent": 14, "reserve_percent": 10, "risk": 0.05, "physics": "driving"}
    request |= {"vehicle": car, "uncertainty": physics_belief(roads, car, "driving")}
    expected = plan(roads, trip="A", **request)
    found = reachable(roads, origin=expected.origin, **request)
    page.session_state["tab"] = "Energy"
    page.run()
    words = " ".join(each.value for each in [*page.markdown, *page.caption])
    assert expected.safety.partition(". ")[0][1:] in words
    assert f"14 % reaches {found.length_m / 1000:.0f} of" in words
    assert f"up to {found.extent_m / 1000:.1f} km away" in words
    drawn = shown(page, "map")
    assert [each["name"] for each in drawn["layers"] if each["shown"]] == ["range"]
    assert [each["title"] for each in drawn["legends"]] == ["Wh per km", "", "Charge there, %"]
    assert link.items() <= page.query_params.items()
    page.toggle(key="range/0").set_value(False)
    page.session_state["kept_risk"] = 1.0
    page.slider(key="soc/0").set_value(11).run()
    assert not page.exception
    with pytest.raises(NotEnoughChargeError) as refused:
        plan(roads, trip="A", **(request | {"soc_percent": 11, "risk": 0.01}))
    needed = refused.value.start_percent
    assert page.error[0].value.startswith(
        rf"11 % is not enough for 99 of 100 trips\: start with at least {needed} %"
    )
    assert not any(each["shown"] or each["url"] for each in shown(page, "map")["layers"])
    assert shown(page, "map")["dim"]


def test_a_stop_to_charge_is_offered_and_listed(tmp_path: Path) -> None:
    roads, table = load_network("denver"), tmp_path / "stations.csv"
    trip = load_trips("denver")["C"]
    known = planned(roads, waypoints=(trip.origin, trip.destination), soc_percent=80)
    halfway = roads.head[known.routes["time"].route.edges[2]]
    lon, lat = (each[halfway] for each in roads.junction_lon_lat)
    table.write_text(f"name,lat,lon,socket,kw\nHalfway,{lat},{lon},ac,11\n")
    charged = add_chargers(replace(roads, name="charged"), table)[0]
    path = keep(charged)
    try:
        link = {"network": "charged", "from": trip.origin, "to": trip.destination}
        page = linked(link | {"soc": "6", "reserve": "5"})
        assert page.error[0].value.startswith(
            r"6 % is not enough for 90 of 100 trips\: start with "
        )
        page.button(key="use1").click().run()
        assert not page.exception
        assert not page.error
        made = planned(
            charged,
            waypoints=(trip.origin, trip.destination),
            soc_percent=6,
            reserve_percent=5,
            charge=True,
        )
        (stop,) = made.routes["time"].stops
        card = shown(page, "cards")["cards"][0]
        assert f"Charge at Halfway to {stop.to_percent} %" in card["reason"]
        ramp = [row[:2] for row in shown(page, "map")["way"]["charge"]]
        (at,) = (k for k, (a, b) in enumerate(pairwise(ramp)) if a[0] == b[0])
        assert ramp[at][1] == pytest.approx(stop.arrive_percent, abs=1e-3)
        assert ramp[at + 1][1] == stop.to_percent
        row = page.dataframe[0].value.iloc[0]
        assert row["Charge at"] == "Halfway"
        assert (row["to %"], row["min"]) == (stop.to_percent, stop.time_s / 60)
        (spot,) = (each for each in shown(page, "map")["spots"] if each["label"])
        minutes = f"{stop.time_s / 60:.0f} min"
        charges = f"{stop.arrive_percent:.0f} to {stop.to_percent} %"
        assert spot["label"] == f"Halfway: {charges}, {minutes}"
        assert spot["at"] == pytest.approx([lat, lon], abs=1e-5)
        assert page.query_params["charge"] == "yes"
    finally:
        path.unlink()


def test_wishes_for_stops_reach_the_plan(tmp_path: Path) -> None:
    roads, table = load_network("denver"), tmp_path / "stations.csv"
    trip = load_trips("denver")["C"]
    known = planned(roads, waypoints=(trip.origin, trip.destination), soc_percent=80)
    at = [
        tuple(each[roads.head[edge]] for each in roads.junction_lon_lat)
        for edge in known.routes["time"].route.edges[2:5:2]
    ]
    table.write_text(
        "name,lat,lon,socket,kw,network\n"
        f"Halfway,{at[0][1]},{at[0][0]},ac,11,Quick\nLater,{at[1][1]},{at[1][0]},ac,22,\n"
    )
    charged = add_chargers(replace(roads, name="charged"), table)[0]
    path = keep(charged)
    ends = {"network": "charged", "from": trip.origin, "to": trip.destination}
    start = {"soc": "6", "reserve": "5", "charge": "yes"}
    wishes = {
        "arrive": "8",
        "stop_to": "60",
        "stop_minutes": "2",
        "least_kw": "3.7",
        "avoid_stations": "Quick",
    }
    try:
        plain = linked(ends | start)
        assert not plain.error
        assert not {*plain.query_params} & set(wishes)
        page = linked(ends | start | wishes)
        assert not page.error
        assert {name: page.query_params[name] for name in wishes} == wishes
        made = page.session_state["last_plan"][1]
        request = PlanRequest.without_places(start | wishes)
        given = {name: getattr(request, name) for name in wishes}
        assert {name: getattr(made.request, name) for name in wishes} == given
        expected = planned(
            charged,
            waypoints=(trip.origin, trip.destination),
            soc_percent=6,
            reserve_percent=5,
            charge=True,
            **given,
        )
        (stop,) = made.routes["time"].stops
        assert (stop,) == expected.routes["time"].stops
        assert stop.station == "Later"
        # the inputs change the request, and money counts with stops
        page.number_input(key="stop_minutes/0").set_value(7.0)
        page.multiselect(key="avoid_stations/0").set_value([])
        page.radio(key="arrive_how/0").set_value("charger")
        page.number_input(key="price/0").set_value(0.3).run()
        page.number_input(key="time_value/0").set_value(9.0).run()
        assert not page.error
        asked = page.session_state["last_plan"][1].request
        assert (asked.stop_minutes, asked.avoid_stations, asked.arrive) == (7.0, (), "charger")
        assert (asked.time_value, page.session_state["last_plan"][1].recommended) == (9.0, "cost")
        assert page.session_state["last_plan"][1].chance >= 0.9
        # without stops there are no wishes for them
        page.session_state["kept_charge"] = False
        page.run()
        assert not {*page.query_params} & set(wishes)
    finally:
        path.unlink()


def test_the_reserve_ends_at_the_charge(asked: Any) -> None:
    page = opened("views/plan.py")
    asked(page, "slider", "soc").set_value(5).run()
    assert not page.exception
    assert asked(page, "slider", "reserve").max == 5
    assert asked(page, "slider", "reserve").value == 5


def test_events_of_the_map_set_places_in_order() -> None:
    page = linked({})
    page.session_state["kept_soc"] = 80  # as a callback sets it when the example ends

    def do(**event: object) -> list[str]:
        page.session_state["kept_stops"] = after(page, {"at": None, "row": None} | event)
        page.session_state["kept_trip"] = ""
        page.run()
        assert not page.exception
        return page.session_state["kept_stops"]

    roads = load_network("denver")
    lon, lat = roads.junction_lon_lat
    a, b, c = ((round(lat[k], 6), round(lon[k], 6)) for k in roads.head[[3, 900, 500]])
    texts = [f"{at[0]:.6f},{at[1]:.6f}" for at in (a, b, c)]
    assert do(kind="click", at=a) == [texts[0], ""]
    assert shown(page, "map")["hint"].startswith("Now click where you are going")
    assert not [
        each for each in page.get("bidi_component") if each.proto.component_name == "evroute_cards"
    ]
    assert do(kind="click", at=b) == [texts[0], texts[1]]
    assert len(shown(page, "map")["routes"]) >= 1
    assert shown(page, "map")["click"] == "menu"
    assert do(kind="stop", at=c) == [texts[0], texts[2], texts[1]]
    assert [pin["label"] for pin in shown(page, "map")["pins"]] == ["A", "1", "B"]
    _, made = page.session_state["last_plan"]
    expected = planned("denver", waypoints=(texts[0], texts[2], texts[1]), soc_percent=80)
    assert made.recommended_route.edges == expected.recommended_route.edges
    assert do(kind="move", row=0, at=b) == [texts[1], texts[2], texts[1]]
    assert do(kind="remove", row=1) == [texts[1], texts[1]]
    assert do(kind="start", at=a) == [texts[0], texts[1]]
    assert do(kind="end", at=(0.0, 0.0)) == [texts[0], "0.000000,0.000000"]
    assert "from the nearest road" in page.error[0].value


def after(page: AppTest, event: Any) -> list[str]:
    """Return the places after an event, as the page's callback sets them."""
    import places

    names = ("kept_stops", "kept_trip", "kept_network", "example")
    state = {name: page.session_state[name] for name in names if name in page.session_state}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places.st, "session_state", state)
        places.take_event(event)
    return list(state["kept_stops"])


def test_an_event_that_is_repeated_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import map_component

    taken: list[int] = []
    state: dict[str, Any] = {}
    monkeypatch.setattr(map_component.st, "session_state", state)
    for number in (5, 5, 6, 5, 6, 7):
        state["map"] = {"event": {"id": number}}
        map_component._take("map", lambda event: taken.append(event["id"]))
    assert taken == [5, 6, 7]


def test_a_choice_that_is_repeated_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import search_component

    taken: list[int] = []
    state: dict[str, Any] = {}
    monkeypatch.setattr(search_component.st, "session_state", state)
    for number in (5, 5, 6, 5, 6, 7):
        state["place:0"] = {"choice": {"id": number}}
        search_component.take("place:0", lambda choice: taken.append(choice["id"]))
    assert taken == [5, 6, 7]


def test_offers_of_the_run_before_change_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that lags behind repeats them, and Streamlit then reports a change."""
    import places

    clicked, named = "39.755112,-104.982076", "Blake Street & 17th Street"
    state: dict[str, Any] = {"kept_stops": [clicked, "blake"], "place:0:blake": named}
    state["place:1:blake"] = named
    monkeypatch.setattr(places.st, "session_state", state)
    places._take_offer(0, "place:0:blake", {named: named})
    assert state["kept_stops"] == [clicked, "blake"]
    places._take_offer(1, "place:1:blake", {named: named})
    assert state["kept_stops"] == [clicked, named]


@pytest.mark.parametrize(
    ("text", "chosen", "place"),
    [
        ("17th Street & Blake Street", False, "17th Street & Blake Street"),
        ("Walnt Stret & 33", False, "Walnut Street & 33rd Street"),
        ("39.75,-104.99", True, "39.75,-104.99"),
        ("qqq", False, "qqq"),
        ("", False, ""),
    ],
)
def test_a_written_text_is_the_likeliest_place(
    monkeypatch: pytest.MonkeyPatch, text: str, chosen: bool, place: str
) -> None:
    import places

    state: dict[str, Any] = {"kept_stops": ["a", "b"], "kept_trip": "A"}
    monkeypatch.setattr(places.st, "session_state", state)
    choice: Any = {"id": 1, "text": text, "chosen": chosen}
    places._take_choice(load_network("denver"), 1, choice)
    assert state == {"kept_stops": ["a", place], "kept_trip": ""}
    places._take_choice(load_network("denver"), 2, choice)  # of a stop that is gone
    assert state["kept_stops"] == ["a", place]


def test_a_car_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import cars

    page = opened("views/plan.py")
    assert searches(page)["Vehicle"]["shown"] == "Nissan Leaf 40"
    state: dict[str, Any] = {}
    monkeypatch.setattr(cars.st, "session_state", state)
    for text, name in (("Zoe", "renault-zoe"), ("tesla modell 3", "tesla-model-3"), ("", "")):
        state.clear()
        cars._take_car({"id": 1, "text": text, "chosen": False})
        assert state.get("kept_vehicle", "") == name
    assert cars.own_cars() == []
    for number, name in enumerate(("renault-zoe", "somebody-elses", "bmw-i3")):
        folder = tmp_path / f"runs/my-{number}"
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps({"vehicle": {"name": name}}))
        os.utime(folder, (number, number))
    assert cars.own_cars() == ["bmw-i3", "renault-zoe"]


def test_places_may_be_written_with_others_between() -> None:
    network = load_network("denver")
    ids = [network.edge_id[row] for row in (3, 500, 900)]
    page = linked({"from": ids[0], "via": ids[1], "to": ids[2]})
    expected = planned("denver", waypoints=ids, soc_percent=80, reserve_percent=10)
    _, made = page.session_state["last_plan"]
    assert made.recommended_route.edges == expected.recommended_route.edges
    assert list(searches(page))[:3] == ["From", "Stop 1", "To"]
    older = linked({"by": "clicks on the map", "places": ";".join(ids)})
    assert older.session_state["last_plan"][1].origin == ids[0]


def test_a_junction_is_chosen_by_its_name() -> None:
    page = linked({"from": "17th Street & Blake Street", "to": "Broadway & 24th Street"})
    assert searches(page)["From"]["shown"] == "Blake Street & 17th Street"
    roads, made = page.session_state["last_plan"]
    first = made.recommended_route.route.edges[0]
    at = {roads.street[row] for row in np.flatnonzero(roads.head == roads.tail[first])}
    assert {"Blake Street", "17th Street"} <= at | {roads.street[first]}
    assert "trip" not in page.query_params


def test_a_text_with_one_hit_is_that_place_and_one_with_several_offers_them() -> None:
    to = "Broadway & 20th Street"
    one = linked({"from": "blake 17", "to": to})
    exact = linked({"from": "Blake Street & 17th Street", "to": to})
    assert shown(one, "cards") == shown(exact, "cards")
    several = linked({"from": "blake", "to": to})
    assert "'blake' may be" in several.error[0].value
    offered = several.get("button_group")[0]
    assert len(offered.options) == 5
    assert all("Blake Street" in option for option in offered.options)
    none = linked({"from": "qqq", "to": to})
    assert none.error[0].value.startswith("No place is called 'qqq'")


def test_conditions_show_their_effect() -> None:
    page = opened("views/plan.py")
    assert not page.session_state["kept_with_temperature"]
    page.slider(key="temperature/0").set_value(-10).run()
    page.slider(key="payload/0").set_value(300).run()
    assert not page.exception
    assert len([each for each in page.caption if "kWh** on this route" in each.value]) == 2
    asked = page.session_state["last_plan"][1].request
    assert (asked.conditions.temperature_c, asked.conditions.payload_kg) == (-10.0, 300.0)
    page.button(key="mild").click().run()
    asked = page.session_state["last_plan"][1].request
    assert asked.conditions == DrivingConditions()


def test_cars_are_compared_on_the_trip_and_in_the_weather_of_the_plan() -> None:
    page = linked({"trip": "C", "soc": "50", "temperature": "-10"})
    page.toggle(key="compare").set_value(True).run()
    assert not page.exception
    cars = page.dataframe[0].value.set_index("Car")
    first, *others = cars["kWh"][cars["Arrive"] != "too low"].astype(float)
    assert others == sorted(others)
    assert first == float(cars.loc["✓ Nissan Leaf 40", "kWh"])
    cold = DrivingConditions(temperature_c=-10.0)
    assert "Reference" not in cars.index
    for name, label in (("bmw-i3", "BMW i3"), ("renault-zoe", "Renault Zoe")):
        made = planned("denver", trip="C", vehicle=name, conditions=cold, soc_percent=50)
        best = made.recommended_route
        assert cars.loc[label, "kWh"] == f"{best.energy_wh / 1000:.2f}"
        arrival = made.battery.percent(best.charge.charge_wh[-1])
        assert cars.loc[label, "Arrive"] == f"{arrival:.0f} %"


def test_a_full_start_that_loses_regeneration_is_a_warning(
    make_network: Callable[..., RoadNetwork],
) -> None:
    positions = [(0, 0, 300), (100, 0, 300), (400, 0, 275), (500, 0, 275)]
    roads = make_network([("in", 0, 1), ("down", 1, 2), ("out", 2, 3)], positions)

    def charged(percent: int) -> AppTest:
        page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
        page.session_state["uploaded"] = roads
        page.session_state["kept_network"] = "toy"
        page.session_state["kept_stops"] = ["in", "out"]
        page.session_state["kept_soc"] = percent
        return page.run()

    assert not charged(80).warning
    route = planned(roads, waypoints=("in", "out"), soc_percent=100).recommended_route
    assert route.charge.lost_wh > 5
    expected = f"{energy_text(route.charge.lost_wh)} of regeneration do not fit"
    assert expected in charged(100).warning[0].value.replace("\\", "")


def test_a_link_reopens_its_plan() -> None:
    first = opened("views/plan.py")
    first.toggle(key="limited/0").set_value(True).run()
    first.slider(key="extra/0").set_value(35).run()
    first.slider(key="soc/0").set_value(55).run()
    first.number_input(key="price/0").set_value(0.3).run()
    first.time_input(key="depart/0").set_value(clock(7, 30)).run()
    again = linked(dict(first.query_params))
    assert shown(again, "cards") == shown(first, "cards")
    assert again.slider(key="soc/0").value == 55
    assert again.query_params == first.query_params


def test_a_link_of_nonsense_opens_the_example() -> None:
    page = linked(
        {"network": "../../etc", "soc": "900", "extra": "x", "trip": "Z", "folder": "../.."}
    )
    assert shown(page, "map")["hint"].startswith("Example trip")
    assert shown(page, "cards")["cards"]


def test_a_network_whose_cache_was_deleted_meanwhile_is_a_sentence() -> None:
    path = keep(replace(load_network("denver"), name="mine"))
    page = linked({"network": "mine"})
    assert page.selectbox(key="network/0").value == "mine"
    path.unlink()
    page.run()
    assert "There is no network 'mine'. This is denver." in page.warning[0].value
    assert not page.error
    assert not page.exception


def test_a_goal_that_cannot_be_reached_is_a_sentence_without_ids(
    make_network: Callable[..., RoadNetwork],
) -> None:
    roads = make_network([("there", 0, 1), ("on", 1, 2)], [(0, 0, 0), (900, 0, 0), (900, 900, 0)])
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.session_state["uploaded"] = replace(roads, street=("First Street", "Second Street"))
    page.session_state["kept_network"] = "toy"
    page.session_state["kept_stops"] = ["on", "there"]
    page.run()
    both = r"First Street \& Second Street"
    assert page.error[0].value == f"No legal way leads from {both} to {both}."
    assert not page.exception


@pytest.mark.slow
def test_a_short_simulation_runs_to_its_end_and_is_continued(tmp_path: Path) -> None:
    page = opened("views/learn.py")
    page.multiselect(key="methods/0").set_value(["BI-TS", "BI-UCB"])
    page.slider(key="horizon/0").set_value(10)
    page.slider(key="seeds/0").set_value(2).run()
    assert any("4 runs of 10 trips take about" in each.value for each in page.caption)
    assert shown(page, "map")["hint"].startswith("Press Start")
    run_to_the_end(page)
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(RunFolder(folder).finished_runs()) == 4
    assert len(page.get("vega_lite_chart")) == 4, "regret, saving, error of forecasts, beta"
    drawn = shown(page, "map")
    assert [route["name"] for route in drawn["routes"]] == ["physics", "best", "10"]
    assert [route["selected"] for route in drawn["routes"]] == [False, False, True]
    assert [pin["label"] for pin in drawn["pins"]] == ["A", "B"]
    assert all(route["line"][0] == drawn["pins"][0]["at"] for route in drawn["routes"])
    findings = [*page.success, *page.info]
    assert len(findings) == 2
    assert all("than routes by physics alone" in each.value for each in findings)
    assert set(page.dataframe[0].value) == {"BI-TS", "BI-UCB"}

    part = next((folder / "parts").glob("*.parquet"))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "parts").iterdir() if path != part}
    part.write_bytes(b"cut off")
    page.run()
    assert "is unreadable" in page.error[0].value
    run_to_the_end(page)
    assert not page.error
    assert {path: path.stat().st_mtime_ns for path in kept} == kept

    named = folder.with_name(f"{folder.name}___by_hand")
    shutil.copytree(folder, named)
    runs = stories()
    runs.multiselect(key="compared/0").set_value([named.name]).run()
    assert not runs.exception
    assert not runs.error
    shutil.rmtree(named)
    runs = stories()
    assert set(runs.dataframe[0].value) == {"BI-TS", "BI-UCB"}
    page = opened("views/plan.py")
    page.selectbox(key="folder/0").set_value(folder.name).run()
    assert not page.exception
    assert page.session_state["kept_vehicle"] == "reference"
    page.session_state["tab"] = "Energy"
    page.run()
    assert "90 % of the trips" in " ".join(each.value for each in page.caption)
    assert re.search(r"\([\d.]+ to [\d.]+ %\)", shown(page, "cards")["cards"][0]["arrival"])
    network = opened("views/advanced.py")
    network.selectbox(key="folder/0").set_value(folder.name).run()
    assert network.selectbox(key="seen_by/0").value == "reference"
    assert "learned minus physics (Wh per km)" in network.selectbox(key="layer/0").options
    assert "difference (Wh)" in network.dataframe[0].value


def run_to_the_end(page: AppTest) -> None:
    page.button(key="go").click().run()
    while not page.button(key="stop").disabled:
        time.sleep(0.5)
        page.run()
    assert not page.exception


def test_a_broken_folder_of_runs_shows_an_error_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "runs" / "odd" / "parts").mkdir(parents=True)
    (tmp_path / "runs" / "odd" / "manifest.json").write_text("{")
    (tmp_path / "runs" / "odd" / "parts" / "some.parquet").write_bytes(b"nothing")
    page = stories()
    assert not page.exception
    assert "is unreadable" in page.error[0].value


def test_runs_with_a_battery_show_whether_the_reserve_was_kept(tmp_path: Path) -> None:
    table = {
        "trips": {"denver": ["A"]},
        "methods": ["gp-ts"],
        "horizon": 60,
        "seeds": 1,
        "soc": 20,
        "reserve": 10,
    }
    simulate(Experiment.model_validate(table | {"world": "physics"}), tmp_path / "runs" / "charged")
    page = stories()
    assert not page.exception
    shown = [each.value for each in page.dataframe if "never below (%)" in each.value]
    assert shown[0]["never below (%)"].tolist() == [100.0], (
        "trips of 0.1 kWh from 7 kWh with a reserve of 3.5"
    )


def said(run: LearnedRun, trip: int) -> str:
    """Return the sentence of a run without its first letter, which the page makes a capital."""
    return run.sentence(trip)[1:]


def words_of(page: AppTest) -> str:
    """Return the texts of a page as they are read."""
    return " ".join(each.value for each in page.markdown).replace("\\", "")


def test_learn_opens_on_the_shipped_run_without_a_click() -> None:
    page = stories()
    run = LearnedRun.read()
    assert not page.exception
    assert not page.error
    assert said(run, len(run.trips)) in words_of(page)
    drawn, first = shown(page, "map"), run.trips[-1]
    assert [route["name"] for route in drawn["routes"]] == ["physics", str(len(run.trips))]
    assert (first.learned == first.physics) == (
        drawn["routes"][0]["line"] == drawn["routes"][1]["line"]
    )
    chart = json.loads(page.get("vega_lite_chart")[0].proto.spec)
    assert "kWh" in json.dumps(chart)
    page.slider(key="until:shipped/0").set_value(1).run()
    assert said(run, 1) in words_of(page)
    page.button(key="switch").click().run()
    assert not page.exception
    assert shown(page, "map")["hint"].startswith("Press Start")
    assert page.query_params["mine"] == "True"


def test_the_network_page_shows_layers_and_the_source() -> None:
    page = opened("views/advanced.py")
    assert not page.exception
    assert page.selectbox(key="layer/0").options[0] == "incline (%)"
    assert any("1,330 edges" in each.value for each in page.markdown)


def test_an_upload_is_read_by_its_ending_and_never_by_its_path(tmp_path: Path) -> None:
    from cache import read_upload

    stored = Path(str(data_path("denver", "network.npz"))).read_bytes()
    assert read_upload("../../roads.npz", stored).n_edges == 1330
    with pytest.raises(EvrouteError, match="has no ending of a road file"):
        read_upload("roads.exe", stored)
    with pytest.raises(EvrouteError):
        read_upload("roads.osm", b"<osm")


def test_no_page_reads_or_writes_files_outside_its_folders(tmp_path: Path) -> None:
    from simulations import folder_name, own_world

    page = opened("views/learn.py")
    page.text_input(key="own_trip/0").set_value("/etc/trips.csv").run()
    assert "is a file" in page.error[0].value
    with pytest.raises(EvrouteError, match="physics or sampled-gp"):
        own_world(b'kind = "replay"\nfolder = "/etc"')
    with pytest.raises(EvrouteError, match="not TOML"):
        own_world(b"kind")
    assert own_world(b'kind = "physics"\nwind_mps = 8').label == "physics-windmps8"
    trips = {"denver": ("../../../etc to ..",)}
    experiment = Experiment(trips=trips, methods=("bi-ts",))
    assert (tmp_path / folder_name(experiment)).resolve().parent == tmp_path.resolve()
    link = AppTest.from_file(str(app_path("views/advanced.py")), default_timeout=PATIENCE_S)
    for name, value in {
        "kept_network": "../../../etc/passwd",
        "kept_folder": "../../..",
        "kept_run": "../x",
    }.items():
        link.session_state[name] = value
    link.run()
    assert link.selectbox(key="network/0").value == "denver"
    assert link.selectbox(key="folder/0").value == "physics alone"
    assert not link.exception


def test_nothing_chosen_is_asked_for() -> None:
    page = opened("views/learn.py")
    page.multiselect(key="methods/0").set_value([]).run()
    assert "one method" in page.info[0].value
    assert not page.exception


def test_the_sparse_process_is_compared_with_the_chosen_methods() -> None:
    page = opened("views/learn.py")
    page.slider(key="horizon/0").set_value(10)
    page.slider(key="seeds/0").set_value(1).run()
    alone = folder_of(page)
    page.checkbox(key="sparse/0").check().run()
    assert not page.exception
    assert any("2 runs of 10 trips take about" in each.value for each in page.caption)
    page.multiselect(key="methods/0").set_value(["SVGP-TS"]).run()
    assert any("1 run of 10 trips takes about" in each.value for each in page.caption)
    page.checkbox(key="sparse/0").uncheck()
    page.multiselect(key="methods/0").set_value(["recommended"]).run()
    assert folder_of(page) == alone


def folder_of(page: AppTest) -> str:
    """The sentence of the page Learn with the folder of its runs."""
    (found,) = [each.value for each in page.caption if "They are kept in" in each.value]
    return found


def test_the_named_methods_are_offered() -> None:
    page = opened("views/learn.py")
    offered = set(page.multiselect(key="methods/0").options)
    papers = {"GP-UCB", "GP-BayesUCB", "GP-TS", "BI-UCB", "BI-BayesUCB", "BI-TS", "SVGP-TS"}
    assert {"recommended", "algorithm-3", "ek-ucb", "BKB-radius"} | papers <= offered
    assert len(offered) == len(METHODS)


def test_each_street_is_named_on_its_longest_straight_road(
    make_network: Callable[..., RoadNetwork],
) -> None:
    from road_files import street_names

    positions = [(0, 0, 0), (100, 0, 0), (300, 0, 0), (300, 90, 0), (2000, 90, 0)]
    edges = [("a", 0, 1), ("b", 1, 2), ("c", 2, 3), ("d", 3, 4)]
    roads = make_network(edges, positions, length_m=[100, 200, 150, 1700])
    names = street_names(replace(roads, street=("Long Road", "Long Road", "Crooked Lane", "")))
    lon, lat = roads.junction_lon_lat
    expected = ("Long Road", lat[1], lon[1], lat[2], lon[2])
    assert len(names) == 1, "crooked and unnamed roads bear no name"
    assert names[0][0] == expected[0]
    assert names[0][1:5] == pytest.approx(expected[1:], abs=1e-6)


def test_names_of_main_roads_come_first_and_roads_have_three_ranks(
    make_network: Callable[..., RoadNetwork],
) -> None:
    from road_files import lines_by_rank, road_ranks, street_names

    positions = [(0, 0, 0), (900, 0, 0), (1000, 0, 0), (1200, 0, 0)]
    roads = make_network([("a", 0, 1), ("b", 1, 2), ("c", 2, 3)], positions, speed_mps=[8, 14, 30])
    named = replace(roads, street=("Lane", "Avenue", "Highway"))
    assert road_ranks(named).tolist() == [2, 1, 0], "by speed where no class is known"
    assert [name[0] for name in street_names(named)] == ["Highway", "Avenue", "Lane"]
    classes = ("highway.primary_bridge", "tertiary_link", "highway.residential")
    by_class = replace(named, road_class=classes)
    assert road_ranks(by_class).tolist() == [0, 1, 2]
    assert [len(start) - 1 for _, start in lines_by_rank(by_class)] == [1, 1, 1]


def test_roads_written_in_parts_are_the_thin_lines_of_each_rank(
    denver: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    import road_files

    from evroute.report import lines

    ranks = road_files.road_ranks(denver)
    wanted = [
        [[[lat, lon] for lon, lat in line] for line in lines.thin_lines(denver, rows)]
        for rows in (np.flatnonzero(ranks == rank) for rank in range(3))
    ]
    assert json.loads(road_files.RoadFiles(denver).roads) == wanted
    monkeypatch.setattr(road_files, "AT_ONCE", 10)
    monkeypatch.setattr(lines, "AT_ONCE", 7)
    assert json.loads(road_files.RoadFiles(denver).roads) == wanted


def test_a_server_prepares_a_network_as_soon_as_it_is_read(
    denver: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    import early
    import own_routes

    monkeypatch.setattr(early, "helpers", [])
    monkeypatch.setattr(own_routes, "networks", OrderedDict())
    early.has_read(denver)
    assert not own_routes.networks, "no server asked for it"
    early.begin()
    early.begin()
    early.has_read(denver)
    (helper,) = early.helpers
    helper.shutdown(wait=True)
    (files,) = own_routes.networks.values()
    assert {"roads", "names"} <= vars(files).keys()


def test_each_network_keeps_its_places() -> None:
    path = keep(replace(load_network("denver"), name="mine-too"))
    try:
        page = linked({"from": "Blake Street & 17th Street", "to": "Broadway & 20th Street"})
        page.selectbox(key="network/0").set_value("mine-too").run()
        assert not page.exception
        assert page.session_state["kept_stops"] == ["", ""]
        page.selectbox(key="network/0").set_value("denver").run()
        assert searches(page)["From"]["shown"] == "Blake Street & 17th Street"
    finally:
        path.unlink()


def test_another_city_has_the_usual_charge_and_not_that_of_the_example(
    other_city: str, asked: Any
) -> None:
    page = linked({})
    assert asked(page, "slider", "soc").value == 11
    asked(page, "selectbox", "network").set_value(other_city).run()
    assert not page.exception
    assert asked(page, "slider", "soc").value == 80
    known = json.loads(Path(os.environ["EVROUTE_PROFILE"]).read_text(encoding="utf-8"))
    assert known["inputs"] == {"network": other_city}


def test_stations_are_points_with_their_sockets(tmp_path: Path) -> None:
    roads, table = load_network("denver"), tmp_path / "stations.csv"
    lon, lat = (each[40] for each in roads.junction_lon_lat)
    rows = [f"Depot,{lat},{lon},ccs,50", f"Depot,{lat},{lon},ac,11"]
    table.write_text("\n".join(["name,lat,lon,socket,kw", *rows]) + "\n")
    path = keep(add_chargers(replace(roads, name="charged"), table)[0])
    try:
        page = linked({"network": "charged", "stations": "True"})
        (found,) = (each for each in shown(page, "map")["layers"] if each["name"] == "stations")
        assert found["shown"]
        (point,) = json.loads(page.session_state["last_layer_stations"][2].contents)["points"]
        assert point["at"] == pytest.approx([lat, lon], abs=1e-5)
        assert point["text"] == "Depot: ccs 50 kW, ac 11 kW"
    finally:
        path.unlink()
