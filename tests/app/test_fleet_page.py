"""The dashboard plans for a car of a fleet that its address names."""

import pytest
from streamlit.testing.v1 import AppTest

from evroute.door.plan import plan
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.methods.setting import load_setting
from evroute.resources import app_path

LEAF, VAN = "nissan-leaf-40", "ford-e-transit"
PLACES = ("39.753100,-104.996500", "39.760000,-104.975000")


@pytest.fixture
def fleet(tmp_path):
    """Return the belief of two cars in ``runs/vans``; the second takes half more."""
    setting = load_setting("denver", LEAF)
    network, lines = setting.network, ["trip,car,edge,energy_wh"]
    for number in range(24):
        factor = 1.5 if number % 2 else 1.0
        route = setting.search.route(network.time_s, 40 * number, 17 * number + 300)
        lines += [
            f'{number},van-{number % 2},"{network.edge_id[edge]}",'
            f"{factor * setting.prior.dissipated_wh[edge] + setting.potential_wh[edge]}"
            for edge in route.edges
        ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "cars.csv").write_text(f"car,vehicle\nvan-0,{LEAF}\nvan-1,{VAN}\n")
    learn(tmp_path / "t.csv", tmp_path / "runs" / "vans", vehicle=LEAF)
    learn(tmp_path / "t.csv", tmp_path / "runs" / "types", cars=tmp_path / "cars.csv")
    return load_belief(tmp_path / "runs" / "vans")


def page_of(car: str, folder: str = "vans") -> AppTest:
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=600)
    link = {"from": PLACES[0], "to": PLACES[1], "folder": folder, "car": car}
    for field, value in link.items():
        page.query_params[field] = value
    return page.run()


def test_the_address_of_a_page_names_the_car(fleet) -> None:
    for car in ("van-0", "van-1"):
        page = page_of(car)
        assert not page.exception
        assert not page.error
        _, shown = page.session_state["last_plan"]
        expected = plan("denver", *PLACES, belief=fleet, car=car)
        for row, route in expected.routes.items():
            assert shown.routes[row].energy_wh == pytest.approx(route.energy_wh, rel=1e-9)
        assert page.query_params["car"] == car
    unknown = page_of("van-9")
    assert not unknown.exception
    (message,) = (each.value for each in unknown.error)
    assert "without car" in message
    assert "van-9" in message


@pytest.mark.parametrize(("car", "vehicle"), [("van-0", LEAF), ("van-1", VAN)])
def test_the_car_finds_the_folder_of_its_type(fleet, tmp_path, car: str, vehicle: str) -> None:
    page = page_of(car, "types")
    assert not page.exception
    assert not page.error
    _, shown = page.session_state["last_plan"]
    belief = load_belief(tmp_path / "runs" / "types" / vehicle)
    expected = plan("denver", *PLACES, belief=belief, car=car)
    for row, route in expected.routes.items():
        assert shown.routes[row].energy_wh == pytest.approx(route.energy_wh, rel=1e-9)
