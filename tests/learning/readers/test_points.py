"""GPS points with a meter: totals are kept, edges get shares, impossible trips are set aside."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evroute.errors import EvrouteError
from evroute.learning.readers.formats import read_measured


def read(tmp_path, setting, columns):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    return read_measured(path, setting, ["reference"])


def test_edges_get_the_energy_between_their_readings(setting, drive, tmp_path) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    (trip,) = read(tmp_path, setting, columns).trips
    assert trip.edge.tolist() == edges.tolist()
    np.testing.assert_allclose(trip.energy_wh, edge_wh, rtol=1e-6, atol=0.2)
    driven_m = setting.network.length_m[edges] * trip.share(setting.network.length_m)
    np.testing.assert_allclose(trip.travel_s, driven_m / 10, rtol=0.02, atol=0.2)  # at 10 m/s


def test_sparse_readings_keep_totals_and_share_them_out_as_eq_8_does(
    setting, drive, tmp_path
) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    columns["energy_wh"] = np.where(
        np.arange(len(columns["trip"])) % 25 == 0, columns["energy_wh"], np.nan
    )
    (trip,) = read(tmp_path, setting, columns).trips
    assert set(trip.edge.tolist()) <= set(edges.tolist())
    own = np.isin(edges, trip.edge)
    driven = trip.share(setting.network.length_m)
    assert driven[0] == pytest.approx(1.0, abs=0.01)
    assert 0.1 < driven[-1] < 0.95  # the last reading is the one of 25 within it
    np.testing.assert_allclose(trip.energy_wh, driven * edge_wh[own], rtol=1e-6, atol=0.2)
    driven_m = driven * setting.network.length_m[trip.edge]
    np.testing.assert_allclose(trip.travel_s, driven_m / 10, rtol=0.05, atol=0.2)


def test_kwh_and_charge_say_the_same(setting, drive, tmp_path) -> None:
    columns, _, _ = drive(setting, 0, 500)
    used_wh = columns.pop("energy_wh")
    kwh = read(tmp_path, setting, columns | {"energy_kwh": used_wh / 1000}).trips[0]
    percent = 90 - used_wh / (10 * setting.vehicle.battery_kwh)
    charge = read(tmp_path, setting, columns | {"soc_percent": percent}).trips[0]
    shared, road_m = np.isin(kwh.edge, charge.edge), setting.network.length_m
    whole, part = (each.energy_wh / each.share(road_m) for each in (kwh, charge))
    np.testing.assert_allclose(part, whole[shared], rtol=1e-6)
    assert charge.start_m > 10.0  # the charge changes behind the start
    both = read(tmp_path, setting, columns | {"energy_wh": used_wh, "energy_kwh": used_wh})
    np.testing.assert_array_equal(both.trips[0].energy_wh, kwh.energy_wh)
    assert both.notes == ["columns not read: energy_kwh"]


def test_a_charge_shown_in_tenths_is_read_where_it_changes(setting, drive, tmp_path) -> None:
    columns, _, edge_wh = drive(setting, 0, 500)
    percent = 90 - columns.pop("energy_wh") / (10 * setting.vehicle.battery_kwh)
    (trip,) = read(tmp_path, setting, columns | {"soc_percent": np.ceil(percent * 10) / 10}).trips
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), rel=0.35)


def test_energy_used_while_standing_belongs_to_the_next_edge(setting, drive, tmp_path) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    stand = len(columns["trip"]) // 2
    for name, column in columns.items():
        columns[name] = np.insert(np.asarray(column), stand, column[stand])
    columns["energy_wh"][stand + 1 :] += 50.0
    (trip,) = read(tmp_path, setting, columns).trips
    assert trip.edge.tolist() == edges.tolist()
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum() + 50, abs=1.0)


def test_a_reading_that_noise_throws_back_belongs_to_where_it_goes_on(
    setting, drive, tmp_path
) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    back = len(columns["trip"]) // 2
    for name, column in columns.items():
        columns[name] = np.insert(np.asarray(column), back + 1, column[back])
    columns["lat"][back + 1], columns["lon"][back + 1] = (
        0.25 * columns[name][back] + 0.75 * columns[name][back - 1] for name in ("lat", "lon")
    )
    columns["energy_wh"][back + 1 :] += 50.0  # while no road is driven
    (trip,) = read(tmp_path, setting, columns).trips
    assert trip.edge.tolist() == edges.tolist()
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum() + 50, abs=1.0)


def test_points_off_the_network_split_the_trip_and_are_told(setting, drive, tmp_path) -> None:
    columns, edges, _ = drive(setting, 0, 500)
    half = len(columns["trip"]) // 2
    columns["lat"][half : half + 3] += 0.02
    measured = read(tmp_path, setting, columns)
    assert [trip.trip for trip in measured.trips] == ["a", "a/2"]
    assert sum(len(trip.edge) for trip in measured.trips) < len(edges) + 1
    assert "3 of" in measured.notes[0]
    columns["lat"] += 0.5
    with pytest.raises(EvrouteError, match="within 50 m of the roads"):
        read(tmp_path, setting, columns)


def test_readings_at_the_ends_of_both_parts_alone_measure_both_from_their_first_points_on(
    setting, drive, tmp_path
) -> None:
    columns, edges, edge_wh = drive(setting, 0, 500)
    last, half = len(columns["trip"]) - 1, len(columns["trip"]) // 2
    columns["lat"][half : half + 3] += 0.02
    read_at = np.isin(np.arange(last + 1), [0, half - 1, half + 3, last])
    columns["energy_wh"] = np.where(read_at, columns["energy_wh"], np.nan)
    first, second = read(tmp_path, setting, columns).trips
    assert (first.departed_s, second.departed_s) == (columns["time"][0], columns["time"][half + 3])
    assert first.edge[0] == edges[0]
    assert second.edge[-1] == edges[-1]
    for part in (first, second):
        driven_wh = part.share(setting.network.length_m) * edge_wh[np.isin(edges, part.edge)]
        np.testing.assert_allclose(part.energy_wh, driven_wh, rtol=1e-3, atol=0.2)


def charged(columns):
    columns["soc_percent"] = 80 - (columns.pop("energy_wh") - 5000) / 1000
    columns["soc_percent"][len(columns["trip"]) // 2 :] += 10
    return columns


def exchanged(columns):
    return columns | {"lat": columns["lon"], "lon": columns["lat"]}


def changed(name, row, value):
    def spoil(columns):
        columns[name] = np.array(columns[name])
        columns[name][row] = value
        return columns

    return spoil


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (charged, "kWh within 20 m, which is impossible"),
        (changed("time", 7, -3.0), "negative time"),
        (changed("time", 7, 500.0), "times go back"),
        (changed("time", 7, np.nan), "a row has no time"),
        (changed("lat", 7, 90.5), "row 8: lat 90.5, lon .* is no place on the earth.*to 180$"),
        (exchanged, "network 'denver', and that lat and lon are not exchanged$"),
        (changed("lon", 7, 180.5), "row 8: lat .*, lon 180.5 is no place on the earth.*to 180$"),
        (changed("energy_wh", slice(1, None), np.nan), "no two readings of energy"),
        (changed("energy_wh", 9, 45_000.0), "kWh within 20 m, which is impossible"),
        (lambda columns: {k: v for k, v in columns.items() if k != "lon"}, "no column 'lon'"),
        (
            lambda columns: {k: v for k, v in columns.items() if k != "energy_wh"},
            "needs one of the columns",
        ),
    ],
)
def test_impossible_points_are_refused_in_one_line(setting, drive, tmp_path, spoil, line) -> None:
    columns, _, _ = drive(setting, 0, 500)
    with pytest.raises(EvrouteError, match=line) as refused:
        read(tmp_path, setting, spoil(columns))
    assert "\n" not in str(refused.value)


def joined(*drives):
    """Return the columns of several drives, one after another, as trips 0, 1 and so on."""
    named = [
        drive | {"trip": [str(number)] * len(drive["trip"])} for number, drive in enumerate(drives)
    ]
    return {name: np.concatenate([each[name] for each in named]) for name in named[0]}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (changed("time", 7, 500.0), "times go back"),
        (changed("lat", slice(None), 39.0), "no two points lie within 50 m of the roads"),
        (changed("energy_wh", 9, 45_000.0), "kWh within 20 m, which is impossible"),
        (changed("energy_wh", slice(1, None), np.nan), "no two readings of energy"),
        (changed("vehicle", slice(None), "truck"), "driven by vehicle 'truck'"),
    ],
)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_trips_after_an_impossible_one_are_read(
    setting, drive, tmp_path, spoil, reason, at
) -> None:
    ways = [(0, 500), (100, 900), (30, 700)]
    made = [drive(setting, *way) for way in ways]
    columns = [each | {"vehicle": ["reference"] * len(each["trip"])} for each, _, _ in made]
    columns[at] = spoil(dict(columns[at]))
    measured = read(tmp_path, setting, joined(*columns))
    assert [trip.trip for trip in measured.trips] == [str(k) for k in range(3) if k != at]
    assert list(measured.skipped) == [str(at)]
    assert reason in measured.skipped[str(at)]
    for trip in measured.trips:
        _, edges, edge_wh = made[int(trip.trip)]
        assert trip.edge.tolist() == edges.tolist()
        assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), abs=1.0)


def test_a_reading_at_departure_beyond_its_limits_is_unknown_and_the_energy_is_read(
    setting, drive, tmp_path
) -> None:
    columns, _, edge_wh = drive(setting, 0, 500)
    n = len(columns["trip"])
    columns |= {"soc_percent": [119.0] * n, "temperature_c": [np.inf] * n, "payload_kg": [75.0] * n}
    columns["temperature_c"][3] = 4.5
    measured = read(tmp_path, setting, columns)
    (trip,) = measured.trips
    assert np.isnan(trip.soc_percent)
    assert (trip.temperature_c, trip.payload_kg) == (4.5, 75.0)
    assert trip.energy_wh.sum() == pytest.approx(edge_wh.sum(), abs=1.0)
    assert measured.notes == ["soc_percent of trip 'a' is left out: 119 %, expected 0 to 100"]
