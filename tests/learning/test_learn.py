"""Learning a table of trips by edges: what is read, refused, set aside, kept and continued."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from evroute.errors import EvrouteError
from evroute.folder import Folder
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.methods.setting import load_setting

QUICK = {"model": "independent", "vehicle": "reference"}


@pytest.fixture(scope="module")
def setting():
    return load_setting("denver", "reference")


def table_of(setting, ends, factor=1.2, **changes):
    """Return trips between edge rows: what they dissipate is eq. 8 times a factor, plus their
    climb.
    """
    rows = {"trip": [], "edge": [], "energy_wh": []}
    for origin, destination in ends:
        route = setting.search.route(setting.network.time_s, origin, destination)
        for edge in route.edges:
            rows["trip"].append(f"{origin}-{destination}")
            rows["edge"].append(setting.network.edge_id[edge])
            rows["energy_wh"].append(
                factor * setting.prior.dissipated_wh[edge] + setting.potential_wh[edge]
            )
    return rows | changes


def write(path, columns):
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pyarrow.csv.write_csv(table, path)
    return path


def same(a, b):
    return str(a.to_pydict()) == str(b.to_pydict())  # where both are NaN, too


def rows_of_second(columns):
    trip = columns["trip"]
    return [i for i, each in enumerate(trip) if each == trip[-1]]


ENDS = [(0, 500), (100, 900)]


def test_a_belief_is_the_posterior_by_bayes(setting, tmp_path) -> None:
    columns = table_of(setting, ENDS[:1])
    learn(write(tmp_path / "t.csv", columns), tmp_path / "out", **QUICK)
    mean_wh = load_belief(tmp_path / "out").edge_posterior.mean_wh
    driven = [setting.network.row_of[each] for each in columns["edge"]]
    prior, noise = setting.prior_variance_wh2[driven], setting.noise_std_wh[driven] ** 2
    share = prior / (prior + noise)
    by_hand = setting.prior.mean_wh[driven] + share * (
        columns["energy_wh"] - setting.prior.mean_wh[driven]
    )
    np.testing.assert_allclose(mean_wh[driven], by_hand)


def test_csv_parquet_and_kwh_say_the_same(setting, tmp_path) -> None:
    columns = table_of(setting, ENDS)
    kwh = {k: v for k, v in columns.items() if k != "energy_wh"} | {
        "energy_kwh": [wh / 1000 for wh in columns["energy_wh"]]
    }
    told = [
        learn(write(tmp_path / name, each), tmp_path / f"out-{name}", **QUICK).trips
        for name, each in (("a.csv", columns), ("b.parquet", columns), ("c.csv", kwh))
    ]
    assert same(told[0], told[1])
    np.testing.assert_allclose(told[2]["energy_wh"].to_numpy(), told[0]["energy_wh"].to_numpy())


def test_continuing_is_as_learning_all_at_once_and_known_trips_are_told(setting, tmp_path) -> None:
    both = write(tmp_path / "both.csv", table_of(setting, ENDS))
    first = write(tmp_path / "first.csv", table_of(setting, ENDS[:1]))
    once = learn(both, tmp_path / "once", model="exact")
    learn(first, tmp_path / "steps", model="exact")
    then = learn(both, tmp_path / "steps", model="exact")
    assert (then.new, then.known, then.trips.num_rows) == (1, 1, 2)
    assert same(then.trips, once.trips)
    beliefs = [
        np.load(tmp_path / name / "beliefs" / "denver-learned.npz") for name in ("once", "steps")
    ]
    for name in beliefs[0].files:
        np.testing.assert_array_equal(beliefs[0][name], beliefs[1][name])


def test_rows_that_the_belief_has_not_learned_are_learned_again(setting, tmp_path) -> None:
    both = write(tmp_path / "both.csv", table_of(setting, ENDS))
    out = tmp_path / "out"
    learn(write(tmp_path / "first.csv", table_of(setting, ENDS[:1])), out, **QUICK)
    belief = out / "beliefs" / "denver-learned.npz"
    old = belief.read_bytes()
    whole = learn(both, out, **QUICK).trips
    new = belief.read_bytes()
    belief.write_bytes(old)  # interrupted between tables and belief
    assert same(learn(both, out, **QUICK).trips, whole)
    assert belief.stat().st_size == len(new)


def test_reset_forgets_and_may_change_the_model(setting, tmp_path) -> None:
    table = write(tmp_path / "t.csv", table_of(setting, ENDS))
    learn(table, tmp_path / "out", **QUICK)
    with pytest.raises(EvrouteError, match="another configuration"):
        learn(table, tmp_path / "out", model="physics")
    again = learn(table, tmp_path / "out", model="physics", reset=True)
    assert (again.new, again.trips.num_rows) == (2, 2)


def test_the_options_of_a_folder_hold_until_they_are_given_anew(setting, tmp_path) -> None:
    first = write(tmp_path / "first.csv", table_of(setting, ENDS[:1]))
    both = write(tmp_path / "both.csv", table_of(setting, ENDS))
    once = learn(both, tmp_path / "once", model="physics+gp", options={"rest_scale": 0.3})
    learn(first, tmp_path / "steps", model="physics+gp", options={"rest_scale": 0.3})
    assert same(learn(both, tmp_path / "steps").trips, once.trips)
    assert load_belief(tmp_path / "steps").method.options["rest_scale"] == 0.3


def test_a_folder_goes_on_with_its_own_model_prior_and_kernel(setting, tmp_path) -> None:
    first = write(tmp_path / "first.csv", table_of(setting, ENDS[:1]))
    both = write(tmp_path / "both.csv", table_of(setting, ENDS))
    options = {"model": "exact", "prior": "dissipation", "kernel": "rbf"}
    once = learn(both, tmp_path / "once", **options)
    learn(first, tmp_path / "steps", **options)
    assert same(learn(both, tmp_path / "steps").trips, once.trips)
    for kernel in ("rbf", "matern-3/2"):
        learn(both, tmp_path / kernel[:3], model="exact", kernel=kernel)
    with pytest.raises(EvrouteError, match=r'kernel: "rbf" there, "matern-3/2" now'):
        learn(both, tmp_path / "rbf", kernel="matern-3/2")
    rbf, matern = (load_belief(tmp_path / name).edge_posterior.mean_wh for name in ("rbf", "mat"))
    assert not np.array_equal(rbf, matern)


def test_expectations_come_before_the_trip_is_learned(setting, tmp_path) -> None:
    columns = table_of(setting, ENDS[:1])
    twice = {k: [*v, *v] for k, v in columns.items()}
    twice["trip"] = ["a"] * len(columns["trip"]) + ["b"] * len(columns["trip"])
    trips = learn(write(tmp_path / "t.csv", twice), tmp_path / "out", **QUICK).trips.to_pydict()
    assert trips["predicted_wh"][0] == pytest.approx(trips["eq8_wh"][0])
    off = np.abs(np.subtract(trips["predicted_wh"], trips["energy_wh"]))
    assert off[1] < 0.5 * off[0]


def test_iso_times_give_departures_and_travel_times(setting, tmp_path) -> None:
    columns = table_of(setting, ENDS[:1])
    n = len(columns["trip"])
    times = [f"2026-05-04T07:{k // 60:02d}:{k % 60:02d}" for k in range(0, 5 * n, 5)]
    learned = learn(write(tmp_path / "t.csv", columns | {"time": times}), tmp_path / "out", **QUICK)
    summer = timezone(timedelta(hours=-6))  # in Denver
    departed_s = datetime(2026, 5, 4, 7, tzinfo=summer).timestamp()
    assert learned.trips["departed_s"].to_pylist() == [departed_s]
    travel_s = pq.read_table(tmp_path / "out" / "routes" / "denver-learned.parquet")[
        "travel_s"
    ].to_numpy()
    assert np.all(travel_s[:-1] == 5.0)
    assert np.isnan(travel_s[-1])


def gap(columns, rows):
    return {k: [x for i, x in enumerate(v) if i != rows[2]] for k, v in columns.items()}


def spoiled(name, value):
    def spoil(columns, rows):
        columns[name] = list(columns[name])
        columns[name][rows[2]] = value
        return columns

    return spoil


def timed(change):
    def spoil(columns, rows):
        times = [10.0 * i for i in range(len(columns["trip"]))]
        times[rows[2]] = change
        return columns | {"time": times}

    return spoil


def scaled(columns, rows):
    energy = [wh / 1000 if i in rows else wh for i, wh in enumerate(columns["energy_wh"])]
    return columns | {"energy_wh": energy}


def of_another(columns, rows):
    return columns | {
        "vehicle": ["truck" if i in rows else "reference" for i in range(len(columns["trip"]))]
    }


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (gap, "a gap: no turn leads"),
        (spoiled("edge", "nowhere"), "no edge 'nowhere'"),
        (spoiled("energy_wh", 40_000.0), "40 kWh, which is impossible"),
        (spoiled("energy_wh", None), "has no energy"),
        (scaled, "which is impossible. Check the units"),
        (of_another, "driven by vehicle 'truck'"),
    ],
)
def test_a_trip_that_cannot_have_been_is_set_aside_and_others_go_on(
    setting, tmp_path, spoil, reason
) -> None:
    columns = table_of(setting, ENDS)
    path = write(tmp_path / "t.csv", spoil(columns, rows_of_second(columns)))
    learned = learn(path, tmp_path / "out", **QUICK)
    assert learned.trips["trip"].to_pylist() == ["0-500"]
    assert list(learned.skipped) == ["100-900"]
    assert reason in learned.skipped["100-900"]


@pytest.mark.parametrize(
    ("time", "reason"),
    [(-5.0, "a negative time, -5 s"), (0.5, "times go back at its row"), (None, "has no time")],
)
def test_impossible_times_of_a_trip_are_left_out_and_its_energy_is_learned(
    setting, tmp_path, time, reason
) -> None:
    columns = table_of(setting, ENDS)
    path = write(tmp_path / "t.csv", timed(time)(columns, rows_of_second(columns)))
    learned = learn(path, tmp_path / "out", **QUICK)
    rows = {row["trip"]: row for row in learned.trips.to_pylist()}
    assert np.isnan(rows["100-900"]["departed_s"])
    assert np.isnan(rows["100-900"]["travel_s"])
    assert rows["100-900"]["energy_wh"] == pytest.approx(
        sum(
            wh
            for wh, trip in zip(columns["energy_wh"], columns["trip"], strict=True)
            if trip == "100-900"
        )
    )
    (note,) = learned.notes
    assert note.startswith("time of trip '100-900' is left out: ")
    assert reason in note


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "neither CSV nor Parquet"),
        ("trip,edge,energy_wh\n", "has no rows"),
        ("trip,edge\na,b\n", "has no column 'energy_wh'"),
        ("edge,energy_wh\nb,1\n", "no column 'trip'"),
        ("trip,energy_wh\nb,1\n", "no column 'edge'"),
        ("trip,edge,energy_wh\na,b,much\n", "column 'energy_wh'"),
        ("trip,edge,energy_wh,energy_wh\na,b,1,1\n", "two columns 'energy_wh'"),
        ("trip,edge,energy_wh\n,b,1\n", "row 1: no trip is named"),
        ("trip,edge,energy_wh,time\na,b,1,noon\n", "row 1: time 'noon' is neither"),
        (
            "trip,edge,energy_wh,time\na,b,1,2026-05-04T07:00Z\na,b,1,2026-05-04T07:00\n",
            "offset to UTC",
        ),
        (
            "trip,edge,energy_wh\na,b,1\n",
            "none of 1 trips can be used; 'a': network 'denver' has no edge 'b'",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_line_and_changes_nothing(
    setting, tmp_path, text, line
) -> None:
    out = tmp_path / "out"
    learn(write(tmp_path / "good.csv", table_of(setting, ENDS[:1])), out, **QUICK)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    bad = tmp_path / "bad.csv"
    bad.write_text(text)
    with pytest.raises(EvrouteError, match=line) as refused:
        learn(bad, out, reset=True, **QUICK)
    assert "\n" not in str(refused.value)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_folder_of_runs_is_not_reset(setting, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text('{"configuration": {}}')
    with pytest.raises(EvrouteError, match="not made by 'evroute learn'"):
        learn(
            write(tmp_path / "t.csv", table_of(setting, ENDS)),
            tmp_path / "out",
            reset=True,
            **QUICK,
        )


def test_on_turns_forecasts_and_beliefs_are_bayes_of_each_edge_by_its_entry(
    setting, tmp_path
) -> None:
    columns = table_of(setting, ENDS[:1])
    n = len(columns["edge"])
    twice = {name: values * 2 for name, values in columns.items()} | {"trip": ["a"] * n + ["b"] * n}
    told = learn(
        write(tmp_path / "t.csv", twice), tmp_path / "out", **QUICK, options={"arms": "turns"}
    )
    edges = np.array([setting.network.row_of[each] for each in columns["edge"]])
    turns = setting.on_turns()
    rows = turns.space.table.rows_along(edges)
    prior_wh, variance = turns.arms.prior_mean_wh[rows], turns.prior_variance_wh2[rows]
    off_wh = np.array(columns["energy_wh"]) - prior_wh
    once_wh, twice_wh = (
        prior_wh + off_wh * k * variance / (k * variance + turns.noise_std_wh[rows] ** 2)
        for k in (1, 2)
    )
    np.testing.assert_allclose(
        told.trips["predicted_wh"].to_numpy(), [prior_wh.sum(), once_wh.sum()]
    )
    belief = load_belief(tmp_path / "out")
    np.testing.assert_allclose(belief.model.posterior(turns.arms).mean_wh[rows], twice_wh)


def test_a_table_learned_on_turns_in_two_halves_is_learned_as_at_once(setting, tmp_path) -> None:
    columns = table_of(setting, ENDS)
    second = rows_of_second(columns)
    halves = [
        {
            name: [v for i, v in enumerate(values) if (i in second) == late]
            for name, values in columns.items()
        }
        for late in (False, True)
    ]
    on_turns = QUICK | {"options": {"arms": "turns", "learn_speeds": True}}
    at_once = learn(write(tmp_path / "t.csv", columns), tmp_path / "once", **on_turns).trips
    for i, half in enumerate(halves):
        by_halves = learn(write(tmp_path / f"{i}.csv", half), tmp_path / "halves", **on_turns).trips
    assert same(at_once, by_halves)


def test_a_new_folder_has_the_physics_of_its_speeds_and_an_older_one_keeps_its_own(
    setting, tmp_path
) -> None:
    first, second = (
        write(tmp_path / f"{origin}.csv", table_of(setting, [(origin, to)])) for origin, to in ENDS
    )
    new, older = tmp_path / "new", tmp_path / "older"
    learn(first, new, vehicle="reference")
    learn(first, older, vehicle="reference", options={"physics": "eq8"})
    for model in (None, "trips"):
        learn(second, new, vehicle="reference", model=model)
        learn(second, older, vehicle="reference", model=model)
    assert Folder(new).manifest()["method"] == {"model": "trips", "physics": "driving"}
    assert load_belief(new).physics == "driving"
    alone = tmp_path / "alone"
    learn(first, alone, vehicle="reference", options={"physics": "driving"})
    learn(second, alone, vehicle="reference")
    assert load_belief(alone).physics == "driving"
    assert load_belief(older).physics == "eq8"
    assert Folder(older).manifest()["method"] == {"model": "trips"}  # as in earlier versions
    with pytest.raises(EvrouteError, match=r"unknown physics 'magic'. There are eq8, driving"):
        learn(first, tmp_path / "third", vehicle="reference", options={"physics": "magic"})
