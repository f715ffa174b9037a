"""A fleet over the service: trips that name cars, and answers by car at every path."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import evroute
from evroute.errors import EvrouteError, UnknownNameError
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.methods.setting import load_setting
from evroute.service.requests import MatrixBody, NeededRequest, PlanBody, RangeBody, Trips
from evroute.service.work import Work

ENDS = {"origin": "Walnut Street & 33rd Street", "destination": "Broadway & 20th Street"}
FACTORS = {"van-1": 0.8, "van-2": 1.2}


def trips_of(n: int, **common) -> dict:
    """Return the body of n trips by turns of two cars."""
    setting, rng = load_setting("denver", "nissan-leaf-40"), np.random.default_rng(2)
    ids, trips = setting.network.edge_id, []
    for number in range(n):
        car = list(FACTORS)[number % 2]
        ends = rng.choice(setting.network.n_edges, 2, replace=False).tolist()
        rows = setting.search.route(setting.network.time_s, *ends).edges
        wh = FACTORS[car] * setting.prior.dissipated_wh + setting.potential_wh
        edges = [{"edge": ids[row], "energy_wh": float(wh[row])} for row in rows]
        trips.append({"trip": str(number), "car": car, "edges": edges} | common)
    return {"belief": "vans", "vehicle": "nissan-leaf-40", "trips": trips}


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Work:
    work = Work(tmp_path_factory.mktemp("beliefs"), 60.0)
    assert work.learn(Trips.model_validate(trips_of(40)))["new"] == 40
    return work


def test_each_path_answers_by_car_as_python_does(work) -> None:
    belief = load_belief(work.beliefs / "vans")
    plans, ranges, needs, cells = {}, {}, {}, {}
    for car in FACTORS:
        own = {"belief": "vans", "car": car}
        plans[car] = work.plan(PlanBody(**ENDS, **own))["routes"]["energy"]["energy_wh"]
        by_python = evroute.plan("denver", **ENDS, belief=belief, car=car)
        assert plans[car] == by_python.routes["energy"].energy_wh
        ranges[car] = work.range(RangeBody(origin=ENDS["origin"], soc=1.0, **own))["roads"]
        query = {"from": ENDS["origin"], "to": ENDS["destination"], "p": 0.9, **own}
        needs[car] = work.needed(NeededRequest.model_validate(query))["expected_percent"]
        body = MatrixBody(origins=[ENDS["origin"]], destinations=[ENDS["destination"]], **own)
        cells[car] = float(work.matrix(body).values[0, 0, 0])
        assert cells[car] == pytest.approx(plans[car], rel=1e-6)
    assert plans["van-1"] < plans["van-2"]
    assert ranges["van-1"] > ranges["van-2"]
    assert needs["van-1"] < needs["van-2"]
    with pytest.raises(EvrouteError, match=r"without car 'van-7'. It knows van-"):
        work.plan(PlanBody(**ENDS, belief="vans", car="van-7"))


def test_trips_without_a_car_are_refused_and_the_fleet_stays(work) -> None:
    alone = trips_of(1, car=None, trip="x")
    with pytest.raises(EvrouteError, match="is the belief of a fleet with car 'van-1'"):
        work.learn(Trips.model_validate(alone))
    reordered = trips_of(1, car="van\u202e-1", trip="x")
    with pytest.raises(EvrouteError, match=r"holds U\+202E, which cannot be shown"):
        work.learn(Trips.model_validate(reordered))
    assert work.belief("vans")["trips"] == 40
    ranked = [line for line in work.belief("vans")["findings"] if "than its type" in line]
    assert [line.split()[0] for line in ranked] == ["van-2", "van-1"]


VAN = "ford-e-transit"


def test_a_type_and_a_car_are_added_as_by_a_table_of_cars(tmp_path) -> None:
    body = trips_of(8)
    own = {"leaf-1": "nissan-leaf-40", "van-1": VAN}
    names = {"van-1": "leaf-1", "van-2": "van-1"}
    for trip in body["trips"]:
        trip["car"] = names[trip["car"]]
    del body["vehicle"]
    work = Work(tmp_path / "beliefs", 60.0)
    asked = body | {"cars": [{"car": car, "vehicle": type_} for car, type_ in own.items()]}
    assert work.learn(Trips.model_validate(asked)) == {"new": 8, "known": 0, "skipped": {}}
    columns = {name: [] for name in ("trip", "car", "edge", "energy_wh")}
    for trip in body["trips"]:
        for edge in trip["edges"]:
            for name, values in columns.items():
                values.append((trip | edge)[name])
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "trips.csv")
    lines = [f"{car},{type_}" for car, type_ in own.items()]
    (tmp_path / "cars.csv").write_text("\n".join(["car,vehicle", *lines]))
    learn(tmp_path / "trips.csv", tmp_path / "alone", network="denver", cars=tmp_path / "cars.csv")
    for car, type_ in own.items():
        there = load_belief(work.beliefs / "vans", car=car)
        alone = load_belief(tmp_path / "alone", car=car)
        assert there.vehicle.name == type_
        for name, numbers in alone.state().items():
            np.testing.assert_array_equal(there.state()[name], numbers, err_msg=name)
    further = {"belief": "vans", "trips": [body["trips"][0] | {"trip": "new", "car": "van-2"}]}
    with pytest.raises(EvrouteError, match=r"^trip 'new' is of car 'van-2', which is not in cars"):
        work.learn(Trips.model_validate(further))
    wrong = {"cars": [{"car": "leaf-1", "vehicle": VAN}]}
    with pytest.raises(EvrouteError, match=r"^car 'leaf-1' is of type 'ford-e-transit' in cars"):
        work.learn(Trips.model_validate(further | wrong))
    unknown = {"cars": [{"car": "van-2", "vehicle": "nowhere"}]}
    with pytest.raises(EvrouteError, match=r"unknown vehicle 'nowhere'"):
        work.learn(Trips.model_validate(further | unknown))
    added = {"cars": [{"car": "van-2", "vehicle": VAN}]}
    assert work.learn(Trips.model_validate(further | added))["new"] == 1
    plan = work.plan(PlanBody(**ENDS, belief="vans", car="van-2"))
    assert plan["vehicle"] == VAN
    assert work.belief("vans", "van-2")["trips"] == 5
    assert work.learn(Trips.model_validate(further)) == {"new": 0, "known": 1, "skipped": {}}


def test_a_belief_states_no_car_that_it_does_not_know(work) -> None:
    assert work.belief("vans", "van-1")["trips"] == 40
    with pytest.raises(UnknownNameError, match=r"without car 'van-7'"):
        work.belief("vans", "van-7")
