"""Raw files of other programs: encodings, widths, numbers, names, and columns that are doubted."""

import csv
import io
import shlex
import tomllib
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.readers.clocks import seconds
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.headers import TABLE, recognised
from evroute.methods.setting import Setting

START = datetime(2025, 7, 13, 10)


def text_of(rows, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def rows_of(columns, headers):
    """Return a table as lists of texts, the headers first."""
    values = [[str(each) for each in np.asarray(columns[name]).tolist()] for name in headers]
    return [list(headers.values()), *map(list, zip(*values, strict=True))]


@pytest.fixture
def driven(setting, drive):
    """Columns of a drive with ISO times, and the energy of its edges, Wh."""
    columns, _, edge_wh = drive(setting, 0, 500)
    stamps = [f"{START + timedelta(seconds=float(each))}" for each in columns["time"]]
    return columns | {"time": stamps}, float(edge_wh.sum())


PLAIN = {name: name for name in ("trip", "time", "lat", "lon", "energy_wh")}


def read(path, setting, **given):
    return read_measured(path, setting, ["reference"], **given)


def put(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_of_any_encoding_are_read(driven, setting, tmp_path, encoding, separator) -> None:
    columns, total_wh = driven
    columns["warm"] = [21.5] * len(columns["trip"])
    rows = rows_of(columns, PLAIN | {"warm": "Außentemperatur [°C]"})
    if separator == ";":
        rows = [rows[0], *([each.replace(".", ",") for each in row] for row in rows[1:])]
    path = put(tmp_path / "t.csv", text_of(rows, separator), encoding)
    (trip,) = read(path, setting).trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)
    assert trip.temperature_c == 21.5


@pytest.mark.parametrize("from_row", [0, 20])
def test_values_beyond_the_header_are_cut_and_missing_ones_are_empty(
    driven, setting, tmp_path, from_row
) -> None:
    columns, total_wh = driven
    head, *rows = rows_of(columns, PLAIN)
    longer = [row + ["0"] * (number >= from_row) for number, row in enumerate(rows)]
    longer[5] = longer[5][:4]  # no energy in this row
    measured = read(put(tmp_path / "t.csv", text_of([head, *longer])), setting)
    assert measured.trips[0].energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)
    assert any(note.startswith("1 row with fewer") for note in measured.notes)
    assert any(
        note.startswith(f"{len(rows) - from_row - (from_row == 0)} rows with more")
        for note in measured.notes
    )


def test_a_value_too_many_in_the_middle_is_refused_with_its_row(driven, setting, tmp_path) -> None:
    columns, _ = driven
    columns["note"] = ["x"] * len(columns["trip"])
    head, *rows = rows_of(columns, PLAIN | {"note": "note"})
    rows[30:] = [[*row[:4], "7", *row[4:]] for row in rows[30:]]
    with pytest.raises(EvrouteError, match=r"row 31: it has 7 values under 6 headers"):
        read(put(tmp_path / "t.csv", text_of([head, *rows])), setting)


def test_repeats_headers_and_a_last_row_that_is_cut_off_are_left_out(
    driven, setting, tmp_path
) -> None:
    columns, total_wh = driven
    rows = rows_of(columns, PLAIN)
    text = text_of(rows) + text_of(rows) + "a,2025-07-1"  # joined with itself
    measured = read(put(tmp_path / "t.csv", text), setting)
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)
    notes = " ".join(measured.notes)
    assert f"{len(rows) - 1} rows left out that repeat an earlier row" in notes
    assert "1 repeated header left out" in notes
    assert "the last row is cut off" in notes


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_files_with_a_mark_are_joined(driven, setting, tmp_path, mark) -> None:
    rows = rows_of(driven[0], PLAIN)
    path = put(tmp_path / "t.csv", f"\ufeff{text_of(rows)}{mark}{text_of(rows)}")
    measured = read(path, setting)
    assert len(measured.trips) == 1
    assert "1 repeated header left out" in measured.notes


@pytest.mark.parametrize("twice", [lambda rows: rows + rows, lambda rows: np.repeat(rows, 2, 0)])
def test_a_row_of_each_edge_that_is_there_twice_counts_once(
    drive, setting, tmp_path, twice
) -> None:
    _, edges, edge_wh = drive(setting, 0, 500)
    rows = [
        ("a", setting.network.edge_id[edge], wh) for edge, wh in zip(edges, edge_wh, strict=True)
    ]
    text = text_of([("trip", "edge", "energy_wh"), *twice(rows)])
    measured = read(put(tmp_path / "t.csv", text), setting)
    (trip,) = measured.trips
    assert trip.edge.tolist() == edges.tolist()
    assert f"{len(edges)} rows left out that repeat an earlier row" in measured.notes


def test_a_loop_that_is_driven_twice_with_equal_energies_stays(make_network, tmp_path) -> None:
    corners = [(0, 0, 0), (500, 0, 0), (0, 500, 0)]
    ring = make_network([("a", 0, 1), ("b", 1, 2), ("c", 2, 0)], corners)
    rows = [("x", edge, 90) for edge in "abcabc"]
    path = put(tmp_path / "t.csv", text_of([("trip", "edge", "energy_wh"), *rows]))
    (trip,) = read(path, Setting(ring, load_vehicle("reference"))).trips
    assert len(trip.edge) == 6


@pytest.mark.parametrize(
    ("texts", "separator", "numbers"),
    [
        (["1.234,5", "0,5"], ";", [1234.5, 0.5]),
        (["1,234.5", "0.5"], ",", [1234.5, 0.5]),
        (["1,234", "2,345,678"], ",", [1234.0, 2345678.0]),
        (["1,25", "2,5"], ",", [1.25, 2.5]),
        (["1'234.5", "1 234.5"], ";", [1234.5, 1234.5]),
        (["1.234.567", "2"], ";", [1234567.0, 2.0]),
        (["−3", "-", ""], ";", [-3.0, np.nan, np.nan]),
    ],
)
def test_numbers_as_people_write_them(tmp_path, texts, separator, numbers) -> None:
    from evroute.learning.readers.table import read_log

    rows = [["energy_wh", "more"], *([each, "x"] for each in texts)]
    log = read_log(put(tmp_path / "t.csv", text_of(rows, separator)), (), ("energy_wh",))
    np.testing.assert_allclose(log.numbers("energy_wh"), numbers)


def test_a_unit_after_all_numbers_of_a_column_counts(tmp_path) -> None:
    from evroute.learning.readers.table import read_log

    log = read_log(put(tmp_path / "t.csv", "power;x\n2 kW;1\n2,5 kW;1\n"), (), ("power_w",))
    np.testing.assert_allclose(log.numbers("power_w"), [2000.0, 2500.0])


KNOWN = ("time", "date", "lat", "lon", "volts", "amps", "power_w", "soc_percent", "temperature_c",
         "speed_mps", "odometer_km")  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ("datetime,gps_lat,gps_lon,voltage,current,power,battery,temp,speed",
         {"time", "lat", "lon", "volts", "amps", "power_w", "soc_percent"}),
        ("ms_today;input_voltage;current_in;current_motor;battery_level;gnss_lat;gnss_lon;temp_motor",
         {"time", "volts", "amps", "soc_percent", "lat", "lon"}),
        ("datetime, longitude, latitude, engineOn, 12V%, odometer, SOC%",
         {"time", "lon", "lat", "odometer_km", "soc_percent"}),
        ("date,time,speed,voltage,current,power,battery_level,distance,system_temp",
         {"date", "time", "speed_mps", "volts", "amps", "power_w", "soc_percent"}),
        ("Timestamp(ms),Latitude[deg],Longitude[deg],OAT[DegC],HV Battery Current[A],"
         "HV Battery SOC[%]",
         {"time", "lat", "lon", "temperature_c", "amps", "soc_percent"}),
        ("v.p.latitude,v.p.longitude,v.b.soc,v.b.power,v.e.temp,v.b.temp",
         {"lat", "lon", "soc_percent", "power_w", "temperature_c"}),
        ("utc,soc,power,speed,lat,lon,ext_temp,batt_temp",
         {"time", "soc_percent", "power_w", "speed_mps", "lat", "lon", "temperature_c"}),
        ("GPS Time,Device Time,Longitude,Latitude,GPS Speed (Meters/second),Ambient air temp(°F)",
         {"time", "lon", "lat", "speed_mps", "temperature_c"}),
        ("time,HV EV Battery Power (kW),Vehicle speed (km/h),Ambient temperature (℃),"
         "[8C.BMS] DC Battery voltage (V),[8C.BMS] State of charge BMS (%),"
         "DC Battery Temperature (℃),[19.Gate] 12V Battery voltage (V)",
         {"time", "power_w", "speed_mps", "temperature_c", "volts", "soc_percent"}),
        ("Breitengrad;Längengrad;Latitud", {"lat", "lon"}),
        ("latitudine,longitudine", {"lat", "lon"}),
        # the battery of a phone, and temperatures of anything but the air
        ("time,lat,lon,battery,inside_temp,Battery Temperature [°C],Engine Temp(°C)",
         {"time", "lat", "lon"}),
        # a unit of another quantity
        ("Battery Level (kWh),current (°C),power [rpm]", set()),
    ],
)  # fmt: skip
def test_names_of_programs_are_known(headers, found) -> None:
    separator = ";" if ";" in headers else ","
    assert set(recognised([each.strip() for each in headers.split(separator)], KNOWN)) == found


def test_units_are_those_of_the_header_the_program_or_evroute() -> None:
    columns = recognised(["ms_today", "input_voltage", "battery_level"], KNOWN)
    assert (columns["time"].factor, columns["soc_percent"].factor) == (0.001, 100.0)
    (warm,) = recognised(["Ambient Temperature [°F]"], KNOWN).values()
    assert 41 * warm.factor + warm.offset == pytest.approx(5.0)
    (power,) = recognised(["v.b.power"], KNOWN).values()
    assert power.factor == 1000.0
    assert recognised(["zeit", "time"], KNOWN, {"time": "zeit"})["time"].header == "zeit"


def test_every_name_has_a_source() -> None:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    for block in table["names"]:
        assert block["program"]
        assert len(block["source"]) > 10
        assert block["columns"]
    assert set(table["quantities"].values()) <= set(table["units"])


def test_a_milli_clock_of_a_day_and_positions_without_a_fix(driven, setting, tmp_path) -> None:
    columns, total_wh = driven
    n = len(columns["trip"])
    columns |= {"ms": (36_000_000 + 2000 * np.arange(n)), "volts": [360.0] * n}
    amps = np.gradient(np.array(columns["energy_wh"])) / 2 * 3600 / 360
    columns["amps"] = amps
    columns["lat"], columns["lon"] = (np.array(columns[each]) for each in ("lat", "lon"))
    columns["lat"][:2] = columns["lon"][:2] = 0.0
    headers = {"ms": "ms_today", "volts": "input_voltage", "amps": "current_in",
               "lat": "gnss_lat", "lon": "gnss_lon"}  # fmt: skip
    (trip,) = read(put(tmp_path / "t.csv", text_of(rows_of(columns, headers), ";")), setting).trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=0.05)
    assert trip.departed_s == pytest.approx(36_000, abs=10)


@pytest.mark.parametrize("unit_wh", [1e-4, 1e4])
def test_energy_that_no_vehicle_takes_is_set_aside_for_the_charge(
    driven, setting, tmp_path, unit_wh
) -> None:
    columns, total_wh = driven
    percent = 80 - (np.array(columns["energy_wh"]) - 5000) / setting.vehicle.battery_kwh / 10
    columns |= {"energy_wh": np.array(columns["energy_wh"]) * unit_wh, "soc_percent": percent}
    measured = read(
        put(tmp_path / "t.csv", text_of(rows_of(columns, PLAIN | {"soc_percent": "soc"}))), setting
    )
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=0.05)
    (note,) = (each for each in measured.notes if "'energy_wh' left out" in each)
    assert "Wh" in note


def test_the_current_of_another_battery_is_set_aside_by_the_fall_of_the_charge(
    driven, setting, tmp_path
) -> None:
    columns, _ = driven
    n = len(columns["trip"])
    percent = 80 - 5.5 * np.arange(n) / n
    step_s = 2.0
    columns["time"] = [f"{START + timedelta(seconds=step_s * k)}" for k in range(n)]
    columns |= {"power_w": np.full(n, 900.0), "soc_percent": percent}
    del columns["energy_wh"]
    headers = {name: name for name in ("trip", "time", "lat", "lon", "power_w", "soc_percent")}
    measured = read(put(tmp_path / "t.csv", text_of(rows_of(columns, headers))), setting)
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(
        0.055 * setting.vehicle.battery_kwh * 1000, rel=0.05
    )
    assert any(
        "'power_w' left out" in note and "the charge falls" in note for note in measured.notes
    )


def test_a_clock_that_contradicts_the_speed_sets_the_trip_aside(driven, setting, tmp_path) -> None:
    columns, _ = driven
    n = len(columns["trip"])
    columns |= {"speed": [36.0] * n, "time": 2000.0 * np.arange(n)}  # milliseconds in a column time
    path = put(tmp_path / "t.csv", text_of(rows_of(columns, PLAIN | {"speed": "Speed (km/h)"})))
    with pytest.raises(
        EvrouteError, match=r"0\.00993 m/s by its clock, where the log shows 10 m/s"
    ):
        read(path, setting)


def test_a_temperature_of_no_air_is_unknown(driven, setting, tmp_path) -> None:
    columns, _ = driven
    columns["warm"] = np.linspace(20, 60, len(columns["trip"]))
    rows = rows_of(columns, PLAIN | {"warm": "Temperature"})
    measured = read(put(tmp_path / "t.csv", text_of(rows)), setting)
    assert np.isnan(measured.trips[0].temperature_c)
    assert any("from 20 to 60 °C within one trip" in note for note in measured.notes)


@pytest.mark.parametrize(
    ("texts", "second"),
    [
        (["13.07.2025 10:00:00", "13.07.2025 10:00:02"], 36_002.0),
        (["13-Jul-2025 10:00:00.500", "13-Jul-2025 10:00:02.500"], 36_002.5),
        (["07/13/2025 1:00 PM", "07/13/2025 1:01 PM"], 46_860.0),
        (["10:00:00.000", "10:00:02.000"], 36_002.0),
        (["2025/07/13 10:00:00", "2025/07/13 10:00:02"], 36_002.0),
    ],
)  # fmt: skip
def test_more_forms_of_times(tmp_path, texts, second) -> None:
    assert seconds(tmp_path, texts)[1] == pytest.approx(second)


def test_the_order_of_day_and_month_is_said(driven, setting, tmp_path) -> None:
    columns, _ = driven
    columns["time"] = [
        f"{datetime.fromisoformat(each):%d/%m/%Y %H:%M:%S}" for each in columns["time"]
    ]
    measured = read(put(tmp_path / "t.csv", text_of(rows_of(columns, PLAIN))), setting)
    assert "dates such as 13/07/2025 10:00:00 are read with the day first" in measured.notes


def test_times_under_a_header_with_blanks_are_texts(driven, setting, tmp_path) -> None:
    columns, total_wh = driven
    columns["time"] = [f"{k * 2}" for k in range(len(columns["trip"]))]
    headers = {name: f" {name} " for name in PLAIN}
    (trip,) = read(put(tmp_path / "t.csv", text_of(rows_of(columns, headers))), setting).trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)


def test_a_few_values_that_are_no_numbers_are_left_out_and_many_refused(
    driven, setting, tmp_path
) -> None:
    columns, total_wh = driven
    head, *rows = rows_of(columns, PLAIN)
    rows[7][4] = "Error"
    measured = read(put(tmp_path / "t.csv", text_of([head, *rows])), setting)
    assert measured.trips[0].energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)
    assert "1 value of 'energy_wh' left out: no numbers" in measured.notes
    for row in rows[::5]:
        row[4] = "Error"
    with pytest.raises(EvrouteError, match="column 'energy_wh'"):
        read(put(tmp_path / "t.csv", text_of([head, *rows])), setting)


def test_a_file_with_unknown_names_says_what_it_has_and_the_call_that_reads_it(
    driven, setting, tmp_path
) -> None:
    columns, _ = driven
    headers = {"time": "datetime", "lat": "gps_lat", "lon": "gps_lon", "energy_wh": "used energy"}
    path = put(tmp_path / "my log.csv", text_of(rows_of(columns, headers)))
    with pytest.raises(EvrouteError) as error:
        read(path, setting)
    said = str(error.value)
    assert "\n" not in said
    assert "It has times (datetime). It lacks positions and energy, power or charge" in said
    call = said.partition("This call reads it: ")[2]
    words = shlex.split(call)
    assert words[:3] == ["evroute", "learn", "my log.csv"]
    given = dict(each.split("=") for each in words[4::2])
    assert given == {"lat": "gps_lat", "lon": "gps_lon", "energy_wh": "used energy"}
    assert read(path, setting, columns=given).trips


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_line_of_a_spreadsheet_that_names_the_separator_is_no_header(
    driven, setting, tmp_path, encoding
) -> None:
    """The names are German and in no table: the call in the message reads the file."""
    columns, total_wh = driven
    headers = {"time": "Zeitpunkt", "lat": "Breitengrad", "lon": "Längengrad"}
    rows = rows_of(columns, headers | {"energy_wh": "Energie (Wh)"})
    path = put(tmp_path / "t.csv", "sep=;\r\n" + text_of(rows, ";"), encoding)
    with pytest.raises(EvrouteError) as error:
        read(path, setting)
    words = shlex.split(str(error.value).partition("This call reads it: ")[2])
    given = dict(each.split("=") for each in words[4::2])
    (trip,) = read(path, setting, columns=given).trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=1e-3)


def test_a_file_without_positions_says_so(driven, setting, tmp_path) -> None:
    columns, _ = driven
    columns |= {"u": [80] * len(columns["trip"]), "v": [20] * len(columns["trip"])}
    headers = {"time": "time", "u": "voltage", "v": "current"}
    with pytest.raises(EvrouteError, match=r"It has times .time. and volts and amps .voltage, cur"):
        read(put(tmp_path / "t.csv", text_of(rows_of(columns, headers))), setting)


@pytest.mark.parametrize("name", ["2026-05-04 07-30-00.csv", "ride.csv"])
def test_records_of_single_channels_become_a_row_each_second(
    driven, setting, drive, tmp_path, name
) -> None:
    """Volts, amps and speed come one after another, as an adapter asks for them."""
    columns, total_wh = driven
    at_s = drive(setting, 0, 500)[0]["time"]
    watts = np.append(np.diff(columns["energy_wh"]) / np.diff(at_s) * 3600, 0.0)
    rows = [["SECONDS", "PID", "VALUE", "UNITS", "LATITUDE", "LONGTITUDE", ""]]
    for k, second in enumerate(27_000.0 + at_s):
        place = [f"{columns['lat'][k]:.7f}", f"{columns['lon'][k]:.7f}", ""]
        rows += [
            [f"{second:.4f}", "[8C.BMS] DC Battery voltage", "400.0", "V", *place],
            [
                f"{second + 0.2:.4f}",
                "[8C.BMS] DC Battery Current",
                f"{watts[k] / 400}",
                "A",
                *place,
            ],
            [f"{second + 0.4:.4f}", "[19.Gate] 12V Battery voltage", "14.1", "V", *place],
            [f"{second + 0.6:.4f}", "Hybrid/EV Battery System Voltage", "1023.984", "V", *place],
            [f"{second + 0.7:.4f}", "Vehicle speed", "36", "km/h", *place],
        ]
    text = "\n".join(";".join(f'"{each}"' for each in row).removesuffix('""') for row in rows)
    measured = read(put(tmp_path / name, text + "\n"), setting)
    (trip,) = measured.trips
    assert trip.energy_wh.sum() == pytest.approx(total_wh, rel=0.05)
    assert any(note.startswith(f"{len(rows) - 1:,} readings of") for note in measured.notes)
    begun = datetime(2026, 5, 4, 7, 30, tzinfo=ZoneInfo("America/Denver")).timestamp()
    begun_s = 27_000.0 if name == "ride.csv" else begun
    assert trip.departed_s == pytest.approx(begun_s, abs=2.0)
