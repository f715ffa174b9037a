"""The driver's profile: read, merged by field, set aside where damaged, and deleted."""

import json
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evroute.energy.defaults import VEHICLE
from evroute.network.catalog import stored_path
from evroute.resources import app_path

PATIENCE_S = 600
PLACES = ("Blake Street & 17th Street", "Broadway & 20th Street")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "profile.json"


def written(profile: Path, **content: Any) -> Path:
    table = {"version": 1, "inputs": {}, "home": {}, "places": []}
    profile.write_text(json.dumps(table | content), encoding="utf-8")
    return profile


def opened(page: str = "plan", **address: str) -> AppTest:
    """Open a page in a new session, as another tab does."""
    found = AppTest.from_file(str(app_path(f"views/{page}.py")), default_timeout=PATIENCE_S)
    for name, value in address.items():
        found.query_params[name.rstrip("_")] = value
    found.run()
    assert not found.exception
    return found


def hint(page: AppTest) -> str:
    (found,) = (
        json.loads(each.proto.json)["hint"]
        for each in page.get("bidi_component")
        if each.proto.component_name == "evroute_map"
    )
    return found


def choose_car(page: AppTest, name: str) -> None:
    """Choose a car as the callback of the search does."""
    page.session_state["kept_vehicle"] = name
    page.run()


def car_of(page: AppTest) -> str:
    return str(page.session_state["kept_vehicle"])


def searched(page: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data of the boxes to search in, by their labels."""
    boxes = (
        json.loads(each.proto.json)
        for each in page.get("bidi_component")
        if each.proto.component_name == "evroute_search"
    )
    return {box["label"]: box for box in boxes}


def test_a_changed_input_is_remembered_and_readable_by_its_user_alone(profile: Path) -> None:
    page = opened()
    assert not profile.exists(), "nothing was changed yet"
    assert hint(page).startswith("Example trip")
    choose_car(page, "renault-zoe")
    page.slider(key="soc/0").set_value(35).run()
    page.number_input(key="price/0").set_value(0.4).run()
    assert stat.S_IMODE(profile.stat().st_mode) == 0o600
    known = json.loads(profile.read_text(encoding="utf-8"))
    assert known["version"] == 1
    assert known["inputs"] == {"vehicle": "renault-zoe", "soc": 35, "price": 0.4}
    later = opened()
    assert car_of(later) == "renault-zoe"
    assert later.slider(key="soc/0").value == 35
    assert later.number_input(key="price/0").value == 0.4
    assert hint(later).startswith("Click where you start"), "the example is for a first visit"
    assert car_of(opened("car")) == "renault-zoe"


def test_the_address_comes_before_the_profile_and_is_not_remembered(profile: Path) -> None:
    written(profile, inputs={"vehicle": "renault-zoe", "soc": 35, "price": 0.4, "charge": True})
    before = profile.read_bytes()
    page = opened(trip="A", vehicle="reference")
    assert car_of(page) == "reference"
    assert page.slider(key="soc/0").value == 35
    page.run()
    assert profile.read_bytes() == before
    whole = opened(trip="A", vehicle="reference", soc="60")
    assert whole.number_input(key="price/0").value == 0.0, "a plan's address is complete"
    whole.slider(key="reserve/0").set_value(20).run()
    inputs = json.loads(profile.read_text(encoding="utf-8"))["inputs"]
    assert inputs == json.loads(before)["inputs"] | {"reserve": 20}


def test_two_tabs_keep_each_others_fields(profile: Path) -> None:
    one, two = opened(), opened()
    one.slider(key="soc/0").set_value(35).run()
    two.number_input(key="price/0").set_value(0.4).run()
    one.slider(key="reserve/0").set_value(15).run()
    inputs = json.loads(profile.read_text(encoding="utf-8"))["inputs"]
    assert inputs == {"soc": 35, "price": 0.4, "reserve": 15}


def _writes(name: str, path: str) -> None:
    import memory

    os.environ[memory.VARIABLE] = path
    for number in range(20):
        assert not memory.change(lambda old, k=number: old.with_inputs({f"{name}{k}": k}))


def test_writers_at_once_lose_nothing(profile: Path) -> None:
    writers = [
        multiprocessing.get_context("fork").Process(target=_writes, args=(name, str(profile)))
        for name in "abc"
    ]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
        assert each.exitcode == 0
    inputs = json.loads(profile.read_text(encoding="utf-8"))["inputs"]
    assert inputs == {f"{name}{k}": k for name in "abc" for k in range(20)}


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"version": 0}', '{"version": 1, "places": [["denver"]]}', "\x00"],
)
def test_a_damaged_profile_is_set_aside_with_one_line(profile: Path, content: str) -> None:
    profile.write_text(content, encoding="utf-8")
    page = opened()
    (line,) = (each.value for each in page.caption if "The profile was damaged" in each.value)
    assert "\n" not in line
    assert not profile.exists()
    (aside,) = profile.parent.glob("profile.json.damaged-*")
    assert aside.read_text(encoding="utf-8") == content
    assert hint(page).startswith("Example trip")
    page.slider(key="soc/0").set_value(35).run()
    assert json.loads(profile.read_text(encoding="utf-8"))["inputs"] == {"soc": 35}


@pytest.mark.parametrize("name", ["profile.json", ".profile.json.lock"])
def test_a_link_to_another_folder_is_neither_read_nor_written(
    profile: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    victim = tmp_path_factory.mktemp("elsewhere") / "victim"
    written(victim, inputs={"soc": 35})
    before = victim.read_bytes()
    profile.with_name(name).symlink_to(victim)
    page = opened(trip="A")
    page.slider(key="soc/0").set_value(50).run()
    assert any(f"{name} leads out of" in each.value for each in page.caption)
    assert victim.read_bytes() == before
    assert not list(profile.parent.glob("profile.json.damaged-*"))


def test_a_profile_of_a_later_version_is_left_alone(profile: Path) -> None:
    content = written(profile, version=2, inputs={"soc": 35}).read_bytes()
    page = opened(trip="A")
    assert any("is of version 2" in each.value for each in page.caption)
    page.slider(key="soc/0").set_value(50).run()
    assert profile.read_bytes() == content
    assert any("Nothing can be remembered" in each.value for each in page.caption)


def test_own_places_are_remembered_and_places_of_an_address_are_not(profile: Path) -> None:
    page = opened(from_=PLACES[0], to=PLACES[1])
    assert not profile.exists()
    page.session_state["kept_stops"] = ["Larimer Street & 17th Street", PLACES[1]]
    page.run()
    assert not page.exception
    known = json.loads(profile.read_text(encoding="utf-8"))["places"]
    assert known == [["denver", "Larimer Street & 17th Street"]]
    recent = searched(opened())["From"]["recent"]
    assert recent == [["Larimer Street & 17th Street"] * 2]


def test_the_last_twenty_places_and_the_home_come_first() -> None:
    import memory

    made = memory.Profile()
    for number in range(25):
        made = made.with_places("denver", [str(number)])
    made = made.with_places("denver", ["7"]).with_places("other", ["far"])
    assert made.recent("denver") == ["7", *(str(k) for k in range(24, 5, -1) if k != 7)]
    assert len(made.places) == 20
    assert made.with_home("denver", "9").recent("denver")[:2] == ["9", "7"]
    assert made.with_home("denver", "9").with_home("denver", "").home == {}


def test_a_plan_starts_at_home(profile: Path) -> None:
    written(profile, places=[["denver", PLACES[0]]])
    page = opened("car")
    page.selectbox[-1].set_value(PLACES[0]).run()
    assert json.loads(profile.read_text(encoding="utf-8"))["home"] == {"denver": PLACES[0]}
    plan = opened()
    assert searched(plan)["From"]["shown"] == PLACES[0]
    assert hint(plan).startswith("Now click where you are going")


def test_forget_me_deletes_profile_and_inputs(profile: Path) -> None:
    (profile.parent / "profile.json.damaged-1").write_text("{")
    page = opened("car")
    choose_car(page, "renault-zoe")
    assert profile.exists()
    next(each for each in page.button if each.label == "Forget me").click().run()
    assert not page.exception
    assert not profile.exists()
    assert not list(profile.parent.glob("profile.json*"))
    assert car_of(page) == VEHICLE
    page.run()
    assert not profile.exists()


def test_an_unwritable_profile_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVROUTE_PROFILE", str(tmp_path / "file" / "profile.json"))
    page = opened(trip="A")
    page.slider(key="soc/0").set_value(35).run()
    assert not page.exception
    assert any("Nothing can be remembered" in each.value for each in page.caption)


def test_inputs_that_streamlit_drops_as_the_page_changes_are_kept(
    profile: Path, other_city: str
) -> None:
    page = AppTest.from_file(str(app_path("streamlit_app.py")), default_timeout=PATIENCE_S)
    address = {"network": other_city, "from": PLACES[0], "to": PLACES[1], "soc": "70"}
    for name, text in (address | {"charge": "True"}).items():
        page.query_params[name] = text
    page.run()
    assert not page.exception
    page.main.children.clear()  # a browser sends no inputs that nobody moved, and they are dropped
    for name in ("network", "soc", "charge"):
        del page.session_state[f"{name}/0"]
    page.switch_page("views/car.py").run()
    assert not page.exception
    assert page.query_params["network"] == other_city
    page.switch_page("views/plan.py").run()
    assert address.items() <= dict(page.query_params).items()
    assert page.query_params["charge"] == "yes"
    assert not profile.exists()


def test_a_city_that_is_gone_is_replaced_and_not_forgotten(profile: Path, other_city: str) -> None:
    written(profile, inputs={"network": other_city})
    page = opened()
    kept = stored_path(other_city)
    content = kept.read_bytes()
    kept.unlink()
    page.run()
    assert page.session_state["kept_network"] == "denver"
    assert json.loads(profile.read_text(encoding="utf-8"))["inputs"] == {"network": other_city}
    kept.write_bytes(content)


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ({"soc": "abc"}, ["soc=abc"]),
        ({"soc": "0"}, ["soc=0"]),
        ({"soc": "-5"}, ["soc=-5"]),
        ({"vehicle": "tesla", "soc": "900"}, ["vehicle=tesla", "soc=900"]),
        ({"trip": "Z", "mood": "good"}, ["trip=Z", "mood=good"]),
        ({"depart": "25:00", "drag:renault-zoe": "x"}, ["depart=25", "drag"]),
        ({"folder": "../.."}, ["folder="]),
    ],
)
def test_nonsense_of_an_address_is_named(address: dict[str, str], named: list[str]) -> None:
    page = opened(**address)
    (shown,) = (each.value for each in page.warning if "Ignored in the address" in each.value)
    for text in named:
        assert text in shown.replace("\\", "")
    page.slider(key="soc/0").set_value(77).run()
    assert not [each for each in page.warning if "Ignored" in each.value]


def test_an_address_without_nonsense_ignores_nothing() -> None:
    page = opened(trip="A")
    page.slider(key="temperature/0").set_value(-5).run()
    choose_car(page, "renault-zoe")
    page.number_input(key="drag:renault-zoe/0").set_value(0.9).run()
    again = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    for name, value in page.query_params.items():
        again.query_params[name] = value
    again.run()
    assert not again.warning
    assert again.number_input(key="drag:renault-zoe/0").value == 0.9


PAGES = {
    "learn": {"world": "cold", "horizon": "70", "seeds": "3", "methods": "BI-TS;BI-UCB"}
    | {"sparse": "True"},
    "advanced": {"network": "denver", "seen_by": "renault-zoe", "layer": "incline (%)"},
    "car": {"network": "denver", "vehicle": "renault-zoe", "drag:renault-zoe": "0.9"},
}


@pytest.mark.parametrize("name", PAGES)
def test_the_address_of_a_page_reopens_it(name: str) -> None:
    address = PAGES[name]
    page = opened(name, **address)
    assert not page.warning
    assert address.items() <= dict(page.query_params).items()
    again = opened(name, **page.query_params)
    assert again.query_params == page.query_params


def test_a_low_charge_lowers_the_charge_to_keep_only_for_a_while(profile: Path, asked: Any) -> None:
    page = opened()
    page.slider(key="soc/0").set_value(4).run()
    assert asked(page, "slider", "reserve").value == 4
    page.slider(key="soc/0").set_value(50).run()
    assert asked(page, "slider", "reserve").value == 10
    assert json.loads(profile.read_text(encoding="utf-8"))["inputs"] == {"soc": 50}
    asked(page, "slider", "reserve").set_value(7).run()
    page.slider(key="soc/0").set_value(90).run()
    assert asked(page, "slider", "reserve").value == 7
    assert json.loads(profile.read_text(encoding="utf-8"))["inputs"] == {"soc": 90, "reserve": 7}


def test_remembered_settings_are_shown_in_words() -> None:
    from inputs import remembered_words
    from memory import Profile

    inputs = {"soc": 4, "vehicle": "renault-zoe", "drag:renault-zoe": 0.7, "price": 0.4, "odd": 1}
    profile = Profile(inputs, places=(("denver", "a"), ("denver", "b")))
    assert remembered_words(profile) == (
        "Renault Zoe, charge 4 %, 0.4 per kWh, Renault Zoe: drag 0.7. 2 places."
    )
    assert remembered_words(Profile()) == "No inputs. 0 places."
