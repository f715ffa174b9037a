"""Links of the page Plan reopen to the request that they were made of, in any profile."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.planning.request import PlanRequest

LINKS = 200
NUMBERS = {"mass_kg": (500, 9000), "drag": (0.1, 1.5), "battery_kwh": (10, 120)}


def reopened() -> None:
    """Read each link as a visit of the page does, and keep the texts of its request."""
    import streamlit as st
    from address import write_address
    from inputs import start
    from places import chosen
    from request import chosen_vehicle, wished
    from state import ignored
    from visit import visit

    links, found = st.session_state["links"], []
    for link in links:
        st.session_state.clear()
        write_address(link)
        with visit():
            _, vehicle = chosen_vehicle()
            request = wished(vehicle, charges=start("charge"))
            found.append((request, chosen(), dict(ignored())))
    st.session_state["found"] = found


def random_link(rng: np.random.Generator) -> tuple[dict[str, str], PlanRequest]:
    """Return a link with random inputs, each left out at times, and its request.

    As in the links that the page writes, a charge comes with a charge to keep.
    """

    def some(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if rng.random() < 0.6}

    name = str(rng.choice(vehicle_names()))
    soc = int(rng.integers(1, 101))
    wishes: dict[str, Any] = {"soc": soc, "reserve": int(rng.integers(0, soc + 1))} | some(
        risk=str(rng.choice(["mean", "1%", "2.5%", "5%", "10%", "50%"])),
        depart=f"{rng.integers(24):02d}:{rng.integers(60):02d}",
        temperature=int(rng.integers(-30, 46)),
        speed_factor=int(rng.integers(30, 121)) / 100,
        payload=int(rng.integers(0, 81)) * 25,
        detour_saving_wh=int(rng.integers(0, 90)),
        avoid="Blake Street",
    )
    if wind := int(rng.integers(0, 26)):
        wishes |= {"wind": wind} | some(wind_from=45 * int(rng.integers(0, 8)))
    if price := int(rng.integers(0, 40)):
        wishes |= {"price": price / 20} | some(time_value=int(rng.integers(1, 100)))
    if rng.random() < 0.5:
        wishes |= {"charge": True} | some(
            arrive=str(rng.choice(["charger", "0", "35"])),
            stop_from=int(rng.integers(0, 40)),
            stop_to=int(rng.integers(50, 101)),
            stop_minutes=int(rng.integers(0, 30)),
            least_kw=int(rng.integers(0, 150)),
            avoid_stations=["Depot", "7"],
        )
    else:
        wishes |= some(max_extra_time=f"{rng.integers(0, 101)}%")
    own = {
        part: float(rng.integers(low * 10, high * 10)) / 10
        for part, (low, high) in NUMBERS.items()
        if rng.random() < 0.3
    }
    vehicle = replace(load_vehicle(name), **own)
    request = PlanRequest.without_places(wishes | {"vehicle": vehicle})
    link = request.texts() | {f"{part}:{name}": f"{value:g}" for part, value in own.items()}
    return link, request


def test_random_links_reopen_to_their_request(tmp_path: Path) -> None:
    profile = {"version": 1, "inputs": {"soc": 40, "reserve": 3, "price": 0.4, "charge": True}}
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    rng = np.random.default_rng(59)
    made = [random_link(rng) for _ in range(LINKS)]
    places = {"from": "39.75,-104.99", "via": "Blake Street & 17th Street", "to": "39.74,-104.98"}
    page = AppTest.from_function(reopened, default_timeout=120)
    page.session_state["links"] = [{**link, **places, "trip": ""} for link, _ in made]
    page.run()
    assert not page.exception
    for (link, expected), (request, stops, ignored) in zip(
        made, page.session_state["found"], strict=True
    ):
        assert request.texts() == expected.texts(), link
        assert request == expected, link
        assert stops == list(places.values())
        assert not ignored
