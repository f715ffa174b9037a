"""Trips from tables, SUMO route files and at random; bad ones are counted and skipped."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.methods.setting import Setting, load_setting
from evroute.network.line_graph import LineGraph
from evroute.planning.searches.search import Search
from evroute.worlds.demand.demand import RandomTrips, load_demand

SEEDS = SeedSequence(0)


@pytest.fixture
def on_the_hill(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def demand(tmp_path: Path, setting: Setting, text: str, name: str = "trips.csv"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return load_demand(str(path), setting, SEEDS)


def test_a_table_gives_trips_in_order_of_departure_as_often_as_it_says(
    tmp_path, on_the_hill
) -> None:
    trips = demand(
        tmp_path,
        on_the_hill,
        "origin,destination,departure,vehicle,count\n"
        "in,out,2026-05-04T08:00:00,,2\nup,home,2026-05-04T07:30:00,volvo-c40,\n",
    )
    told = [(trip.origin, trip.destination, trip.departed_s, trip.vehicle) for trip in trips.trips]
    assert told == [(1, 6, 27_000.0, "volvo-c40"), (0, 5, 28_800.0, ""), (0, 5, 28_800.0, "")]
    assert trips.notes == ("departures were out of order: sorted",)
    assert len({trip.trip_id for trip in trips.trips}) == 3


def test_beyond_the_last_trip_the_list_starts_anew_whole_days_later(tmp_path, on_the_hill) -> None:
    trips = demand(
        tmp_path, on_the_hill, "origin,destination,departure\nin,out,10\nin,home,90000\n"
    )
    assert [trips.trip(t).departed_s for t in (1, 2, 3, 4, 5)] == [
        10,
        90_000,
        172_810,
        262_800,
        345_610,
    ]
    assert [trips.trip(t).destination for t in (1, 2, 3)] == [5, 6, 5]


def test_an_unknown_vehicle_is_refused_and_the_runs_own_is_not_another(
    tmp_path, on_the_hill
) -> None:
    with pytest.raises(EvrouteError, match="row 2: unknown vehicle 'rocket'"):
        demand(tmp_path, on_the_hill, "origin,destination,vehicle\nin,out,\nin,out,rocket\n")
    trips = demand(
        tmp_path, on_the_hill, "origin,destination,vehicle\nin,out,reference\nin,out,volvo-c40\n"
    )
    assert trips.vehicles == ("volvo-c40",)


def test_trips_without_a_route_are_counted_and_the_others_go_on(tmp_path, on_the_hill) -> None:
    trips = demand(
        tmp_path,
        on_the_hill,
        "origin,destination,departure,vehicle,count\n"
        'in,out,0,,\nnowhere,out,0,,3\n,out,0,,\nin,,0,,\nin,in,0,,\nin,out,-5,,\n"89,0",out,0,,\n',
    )
    assert len(trips) == 1
    assert sorted(trips.skipped.values()) == [1, 1, 1, 1, 1, 3]
    told = " ".join(trips.skipped)
    for reason in (
        "no edge 'nowhere'",
        "Choose two places",
        "without an origin",
        "without a destination",
        "departure at -5 s",
        "89.0,0.0",
    ):
        assert reason in told


ROUTES = """<routes>
  <vType id="van"/>
  <route id="over" edges="in up down out"/>
  <vehicle id="a" type="van" depart="30"><route edges="in east west out"/>
    <stop lane="east_0" duration="3"/></vehicle>
  <vehicle id="b" route="over" depart="0:00:20.50"/>
  <vehicle id="c" depart="40"><route edges="in nowhere out"/></vehicle>
  <vehicle id="d" depart="50"><route edges="in out"/></vehicle>
  <vehicle id="e" depart="triggered"><route edges="in up"/></vehicle>
  <trip id="f" depart="60" from="in" to="out"/>
  <trip id="g" depart="60" from="in" to="in"/>
  <flow id="h" begin="0"/>
</routes>"""


@pytest.mark.parametrize("name", ["t.rou.xml", "t.rou.xml.gz"])
def test_sumo_route_files_give_first_and_last_edges(tmp_path, on_the_hill, name) -> None:
    trips = demand(tmp_path, on_the_hill, ROUTES, name)
    told = [(trip.trip_id, trip.origin, trip.destination, trip.departed_s) for trip in trips.trips]
    assert told == [("b", 0, 5, 20.5), ("a", 0, 5, 30.0), ("f", 0, 5, 60.0)]
    assert sorted(trips.skipped.values()) == [1, 1, 1, 1]
    assert trips.notes


@pytest.mark.data
def test_the_commercial_trips_of_monaco(data_dir) -> None:
    trips = load_demand(
        str(data_dir / "monaco" / "most.commercial.rou.xml.gz"),
        load_setting("monaco", "reference"),
        SEEDS,
    )
    assert len(trips) + sum(trips.skipped.values()) == 3500
    assert len(trips) > 2500
    departed_s = [trip.departed_s for trip in trips.trips]
    assert departed_s == sorted(departed_s)


def test_a_random_pair_is_the_first_random_trip_repeated_every_hour(denver) -> None:
    setting = Setting(denver, load_vehicle("reference"))
    pair, trips = (
        load_demand(f"random {word}2-3 km", setting, SeedSequence(4)) for word in ("pair ", "")
    )
    drawn = [pair.trip(t) for t in (1, 2, 30)]
    first = trips.trip(1)
    assert {(trip.origin, trip.destination) for trip in drawn} == {
        (first.origin, first.destination)
    }
    assert [trip.departed_s for trip in drawn] == [0.0, 3600.0, 29 * 3600.0]
    other = load_demand("random pair 2-3 km", setting, SeedSequence(5)).trip(1)
    assert (other.origin, other.destination) != (first.origin, first.destination)


def test_random_trips_keep_to_their_band_and_do_not_depend_on_the_order_of_asking(denver) -> None:
    search = Search(LineGraph.from_network(denver))

    def draw():
        return RandomTrips(
            1000, 2000, search=search, length_m=denver.length_m, seeds=SeedSequence(7)
        )

    trips, again = draw(), draw()
    forward = [trips.trip(t) for t in range(1, 20)]
    assert [again.trip(t) for t in range(19, 0, -1)] == forward[::-1]
    lengths_m = [
        denver.length_m[search.route(denver.length_m, trip.origin, trip.destination).rows].sum()
        for trip in forward
    ]
    assert min(lengths_m) >= 1000
    assert max(lengths_m) <= 2000
    assert len({(trip.origin, trip.destination) for trip in forward}) == 19
    assert np.ptp(lengths_m) > 500


@pytest.mark.parametrize(
    ("trip", "line"),
    [
        ("random", "not like 'random 2-5 km'"),
        ("random 5-2 km", "from less to more"),
        ("random 2-5 miles", "not like"),
        ("random 500-600 km", "no destination within 500-600 km"),
        ("missing.csv", "missing.csv does not exist"),
        ("missing.rou.xml", "missing.rou.xml does not exist"),
    ],
)
def test_demand_that_cannot_be_is_refused(on_the_hill, trip, line) -> None:
    with pytest.raises(EvrouteError, match=line):
        load_demand(trip, on_the_hill, SEEDS)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("origin,goal\nin,out\n", "no column 'destination'"),
        ("origin,destination,colour\nin,out,red\n", "unknown column 'colour'"),
        ("origin,destination,count\nin,out,1.5\n", "row 1: count is 1.5"),
        ("origin,destination,departure\nin,out,noon\n", "row 1: time 'noon'"),
        ("origin,destination\nin,nowhere\n", "no trip that can be driven: .*no edge 'nowhere'"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(tmp_path, on_the_hill, text, line) -> None:
    with pytest.raises(EvrouteError, match=line):
        demand(tmp_path, on_the_hill, text)


@pytest.mark.parametrize("text", ["<routes><vehicle", "not xml", "<routes/>"])
def test_a_file_without_sumo_trips_is_refused_as_routes(tmp_path, on_the_hill, text) -> None:
    with pytest.raises(EvrouteError, match=r"t\.rou\.xml"):
        demand(tmp_path, on_the_hill, text, "t.rou.xml")


def test_a_run_has_the_trips_of_its_file_and_is_not_continued_with_another_file(tmp_path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(
        'origin,destination\n"39.745,-104.99","39.75,-105.0"\n"39.75,-105.0","39.745,-104.99"\nx,y\n'
    )
    wanted = {
        "trips": {"denver": [str(path)]},
        "methods": [{"model": "independent", "index": "ts"}],
        "seeds": 1,
    }
    folder = simulate(Experiment.model_validate(wanted), tmp_path / "out")
    assert folder.rounds().num_rows == 2
    told = folder.manifest()["trip_files"]["denver"][str(path)]
    assert (told["trips"], sum(told["skipped"].values())) == (2, 1)
    path.write_text(path.read_text().replace("39.75,", "39.751,"))
    with pytest.raises(EvrouteError, match="another configuration"):
        simulate(Experiment.model_validate(wanted), tmp_path / "out")
