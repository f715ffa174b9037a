"""Make the files of ``data/examples`` again: ``python studies/made_examples.py FOLDER``.

Drives in Denver that nobody drove. One of 3.3 km, and the way back in the evening, are told in the
forms of many logs: their energy is evroute's own physics of a Renault Zoe in the weather of each
log, times the noise below, shared out over nine stretches of equal length. The fleet's 24 trips
have the physics of a Nissan Leaf, times a share of each car and the same noise. So no figure of
these files says how right evroute is. Cars that show whole per cents round them down.
"""

import csv
import io
import math
import sys
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import numpy as np

import evroute
from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.files import replacing
from evroute.resources import data_path

POINTS = (
    (39.74840, -104.99877),
    (39.75119, -104.99659),
    (39.75357, -104.99353),
    (39.75559, -104.99090),
    (39.75662, -104.98768),
    (39.75625, -104.98484),
    (39.75685, -104.98234),
    (39.75928, -104.97921),
    (39.75907, -104.97633),
    (39.76050, -104.97335),
)
SECONDS = (0, 43, 85, 128, 170, 213, 255, 298, 340, 383)
NOISE = (1.06, 0.95, 1.10, 0.92, 0.98, 1.04, 1.08, 0.91, 1.02)
"""Measured over expected energy of each stretch, and of each road of the fleet in turn."""
BACK_NOISE = 1.03
"""Measured over expected energy of the way back."""
SHARES = {"van-01": 0.9, "van-02": 0.98, "van-03": 1.12}
"""Energy of each car of the fleet over its type's."""
MORNING = datetime(2026, 5, 4, 7, 30)
VOLTS, OHMS = 362.0, 0.02
CHARGE, CAPACITY_WH = 80.0, 52_000.0
ODOMETER_KM = 21_847.1
MILD = evroute.DrivingConditions(temperature_c=20.0)
COLD = evroute.DrivingConditions(temperature_c=-3.5)
EVENING = datetime(2026, 5, 4, 17, 10)
CAR, OF_FLEET = "renault-zoe", "nissan-leaf-40"


class Drive:
    """The drive on one day.

    Parameters
    ----------
    edges
        Ids of the roads.
    conditions
        Weather and auxiliary power.
    """

    def __init__(self, edges: list[str], conditions: evroute.DrivingConditions) -> None:
        network = evroute.load_network("denver")
        planner = evroute.Planner(network, CAR, conditions=conditions)
        rows = tuple(network.row_of[edge] for edge in edges)
        metres = np.append(0.0, np.cumsum(network.length_m[list(rows)]))
        until_wh = np.append(0.0, np.cumsum(planner.describe(Route(rows)).edge_wh))
        at_m = np.linspace(0.0, metres[-1], len(POINTS))
        self.stretch_wh = np.diff(np.interp(at_m, metres, until_wh)) * NOISE
        self.edge_wh = np.diff(np.interp(metres, at_m, self.used_wh))
        self.length_km = float(metres[-1]) / 1000.0
        back = planner.plan(place(-1), place(0)).fastest
        self.back_km = back.length_m / 1000.0
        self.back_wh = BACK_NOISE * back.energy_wh

    @property
    def power_w(self) -> FloatArray:
        """(10,) mean power of the stretch before each point, and at the start of the first, W."""
        power_w = self.stretch_wh / np.diff(SECONDS) * 3600.0
        return np.append(power_w[0], power_w)

    @property
    def used_wh(self) -> FloatArray:
        """(10,) energy since the start, Wh."""
        return np.append(0.0, np.cumsum(self.stretch_wh))

    @property
    def meter(self) -> list[tuple[float, float]]:
        """Volts and amps at each point, amps positive while discharging."""
        volts = [round(VOLTS - OHMS * watts / VOLTS, 1) for watts in self.power_w.tolist()]
        return [(v, watts / v) for v, watts in zip(volts, self.power_w.tolist(), strict=True)]

    @property
    def shown(self) -> list[int]:
        """Charge that a car of whole per cents shows: at the start, there, and back again."""
        back = self.percent[-1] - 100.0 * self.back_wh / CAPACITY_WH
        return [math.floor(each) for each in (CHARGE, self.percent[-1], back)]

    @property
    def percent(self) -> FloatArray:
        """(10,) charge, %."""
        return CHARGE - 100.0 * self.used_wh / CAPACITY_WH


def place(k: int) -> str:
    """Return a point of the drive as text."""
    return f"{POINTS[k][0]:.5f},{POINTS[k][1]:.5f}"


def clock(start: datetime, form: str) -> list[str]:
    """Return the times of the points."""
    return [(start + timedelta(seconds=s)).strftime(form) for s in SECONDS]


def minutes(degrees: float) -> str:
    """Return degrees as degrees and minutes."""
    whole, rest = divmod(abs(degrees), 1.0)
    return f"{'-' * (degrees < 0)}{whole:.0f} {60.0 * rest:.4f}"


def leafspy(drive: Drive, times: list[str], places: list[tuple[str, str]]) -> list[list[str]]:
    """Return the columns that both logs of LeafSpy share."""
    rows = []
    for at, (lat, lon), (volts, amps), soc in zip(
        times, places, drive.meter, drive.percent.tolist(), strict=True
    ):
        gids, charge = f"{3.75 * soc:.0f}", f"{10_000 * soc:.0f}"
        shown = [at, lat, lon, "5250", "22", gids, charge, "790000", f"{volts:.1f}", f"{amps:.2f}"]
        rows.append(shown)
    return rows


def table(header: str, rows: list[list[str]]) -> str:
    """Return a table of commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header.split(","), *rows])
    return text.getvalue()


def leafspy_header(*further: str) -> str:
    """Return the header of a log of LeafSpy with further columns before the last one."""
    shared = "Date/Time,Lat,Long,Elv,Speed,Gids,SOC,AHr,Pack Volts,Pack Amps"
    return ",".join([shared, *further, "Plug State"])


def made(edges_csv: str, fleet_csv: str) -> dict[str, str]:
    """Return the text of each file by its name.

    Parameters
    ----------
    edges_csv
        The table by edges, whose roads and times stay.
    fleet_csv
        The table of the fleet, whose trips, cars and roads stay.
    """
    by_edge = list(csv.reader(edges_csv.splitlines()))
    header, rows = by_edge[0], by_edge[1:]
    edges = [row[1] for row in rows]
    mild = Drive(edges, MILD)
    for row, wh in zip(rows, mild.edge_wh.tolist(), strict=True):
        row[2] = f"{wh:.1f}"
    lat, lon = ([f"{each:.5f}" for each in axis] for axis in zip(*POINTS, strict=True))
    local = clock(MORNING, "%Y-%m-%dT%H:%M:%S")
    powered = Drive(edges, evroute.DrivingConditions(temperature_c=12.0, auxiliary_w=600.0))
    points = [
        ["monday", at, *place, f"{wh:.0f}", "600", "12"]
        for at, *place, wh in zip(local, lat, lon, powered.used_wh.tolist(), strict=True)
    ]
    obd = [
        [f"{at}+02:00", *place, f"{volts:.1f}", f"{-amps:.2f}", "36"]
        for at, *place, (volts, amps) in zip(local, lat, lon, mild.meter, strict=True)
    ]
    track = "".join(
        f'      <trkpt lat="{y}" lon="{x}"><time>{at}Z</time><extensions>'
        f"<ev:energy_wh>{wh:.0f}</ev:energy_wh></extensions></trkpt>\n"
        for at, y, x, wh in zip(local, lat, lon, mild.used_wh.tolist(), strict=True)
    )
    places = list(zip(lat, lon, strict=True))
    lit = Drive(edges, evroute.DrivingConditions(temperature_c=20.0, auxiliary_w=300.0))
    plain = leafspy(lit, clock(MORNING, "%m/%d/%Y %H:%M:%S"), places)
    winter = evroute.DrivingConditions(temperature_c=5.0, auxiliary_w=1800.0)
    british = leafspy(
        Drive(edges, winter),
        clock(datetime(2026, 1, 25, 7, 30), "%d/%m/%Y %H:%M:%S"),
        [(minutes(y), minutes(x)) for y, x in POINTS],
    )
    ambient = ["203"] * 2 + ["41"] * 8
    heater = ["255"] + ["6"] * 9
    uk = [[*row, f, "3", ac, "0"] for row, f, ac in zip(british, ambient, heater, strict=True)]
    return {
        "edges.csv": table(",".join(header), rows),
        "points.csv": table("trip,time,lat,lon,energy_wh,auxiliary_w,temperature_c", points),
        "obd.csv": table(
            "Timestamp,Latitude,Longitude,HV Battery Voltage [V],HV Battery Current [A],"
            "Speed [km/h]",
            obd,
        ),
        "track.gpx": (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<gpx version="1.1" creator="evroute, made up" '
            'xmlns="http://www.topografix.com/GPX/1/1" xmlns:ev="https://example.org/ev">\n'
            "  <trk>\n    <name>monday</name>\n    <trkseg>\n"
            f"{track}    </trkseg>\n  </trk>\n</gpx>\n"
        ),
        "leafspy.csv": table(leafspy_header("Aux Pwr(100w)"), [[*row, "3", "0"] for row in plain]),
        "leafspy-uk.csv": table(leafspy_header("Ambient", "Aux Pwr(100w)", "A/C Pwr(250w)"), uk),
        "tesla.csv": tesla(Drive(edges, COLD), lat, lon),
        "tesla_drives.csv": tesla_drives(Drive(edges, COLD)),
        "percent.csv": percents(mild, local),
        "notebook.csv": notebook(mild),
        "stops.csv": stops(mild),
        "fleet.csv": fleet(fleet_csv),
        "cars.csv": table("car,vehicle", [[car, OF_FLEET] for car in SHARES]),
    }


def percents(drive: Drive, times: list[str]) -> str:
    """Return points with whole per cents, semicolons and decimal commas."""
    lines = ["trip;time;lat;lon;soc_percent;altitude"]
    for at, (lat, lon), charge in zip(times, POINTS, drive.percent.tolist(), strict=True):
        row = f"monday;{at};{lat:.5f};{lon:.5f};{math.floor(charge)};1600.5"
        lines.append(row.replace(".", ","))
    return "\n".join(lines) + "\n"


def notebook(drive: Drive) -> str:
    """Return the drive and the way back with charges and lengths."""
    start, there, back = (str(each) for each in drive.shown)
    out = ["monday", place(0), place(-1), MORNING.isoformat(), start, there]
    home = ["monday back", place(-1), place(0), EVENING.isoformat(), there, back]
    return table(
        "trip,from,to,departed,soc_start,soc_end,odometer_km",
        [[*out, f"{drive.length_km:.1f}"], [*home, f"{drive.back_km:.1f}"]],
    )


def stops(drive: Drive) -> str:
    """Return rows of the parked car, before and after each of the two drives."""
    start, there, back = drive.shown
    far = ODOMETER_KM + drive.length_km
    rows = [
        ("06:10:09", 0, 90, ODOMETER_KM, start),
        ("07:40:11", -1, 90, far, there),
        ("12:00:10", -1, 89, far, there),
        ("17:20:12", 0, 90, far + drive.back_km, back),
    ]
    lines = ["datetime, longitude, latitude, engineOn, 12V%, odometer, SOC%, charging, plugged"]
    for at, k, volts, odometer_km, charge in rows:
        lat, lon = POINTS[k]
        shown = f"{lon:.6f}, {lat:.6f}, False, {volts}, {odometer_km:.1f}, {charge}, False, 0"
        lines.append(f"2026-05-04 {at}-06:00, {shown}")
    return "\n".join(lines) + "\n"


def tesla_drives(drive: Drive) -> str:
    """Return both drives as TeslaMate keeps them, in UTC."""
    start, there, back = (str(each) for each in drive.shown)
    rows = []
    for number, hours, ends, km, charges in (
        ("41", timedelta(hours=13, minutes=30), (0, -1), drive.length_km, (start, there)),
        ("42", timedelta(hours=23, minutes=10), (-1, 0), drive.back_km, (there, back)),
    ):
        begin = datetime(2026, 5, 4) + hours
        took = timedelta(seconds=round(SECONDS[-1] * km / drive.length_km))
        times = f"{begin:%Y-%m-%d %H:%M:%S}.120", f"{begin + took:%Y-%m-%d %H:%M:%S}"
        head = [number, *times, f"{km:.1f}", f"{took.total_seconds() / 60:.0f}", "-3.5"]
        first, last = (place(k).split(",") for k in ends)
        rows.append([*head, *first, charges[0], *last, charges[1]])
    return table(
        "id,start_date,end_date,distance,duration_min,outside_temp_avg,start_latitude,"
        "start_longitude,start_battery_level,end_latitude,end_longitude,end_battery_level",
        rows,
    )


def fleet(fleet_csv: str) -> str:
    """Return the trips of the fleet: physics, times the share of the car and the noise."""
    header, *rows = csv.reader(fleet_csv.splitlines())
    network = evroute.load_network("denver")
    planner = evroute.Planner(network, OF_FLEET, conditions=MILD)
    measured = []
    for (trip, car), driven in groupby(rows, key=lambda row: tuple(row[:2])):
        edges = [row[2] for row in driven]
        expected = planner.describe(Route(tuple(network.row_of[edge] for edge in edges)))
        for k, (edge, wh) in enumerate(zip(edges, expected.edge_wh.tolist(), strict=True)):
            measured.append([trip, car, edge, f"{wh * SHARES[car] * NOISE[k % len(NOISE)]:.1f}"])
    return table(",".join(header), measured)


def tesla(drive: Drive, lat: list[str], lon: list[str]) -> str:
    """Return positions of TeslaMate, the last of the parked car."""
    times = clock(datetime(2026, 5, 4, 13, 30), "%Y-%m-%d %H:%M:%S.250")
    rows = []
    for k, watts in enumerate(drive.power_w.tolist()):
        usable = float(drive.percent[k])
        shown = [f"{24310 + 0.377 * k:.1f}", "", f"{usable:.0f}", "-3.5", "1", "41", "1608"]
        driven = [f"{9000 + k}", times[k], lat[k], lon[k], "36", f"{watts / 1000:.2f}"]
        rows.append([*driven, *shown, f"{usable - 1:.0f}"])
    charge = f"{drive.percent[-1]:.0f}", f"{drive.percent[-1] - 1:.0f}"
    parked = ["9990", "2026-05-04 14:30:00.000", lat[-1], lon[-1], "", "", "", "", charge[0]]
    rows.append([*parked, "-2.0", "1", "", "1608", charge[1]])
    return table(
        "id,date,latitude,longitude,speed,power,odometer,rated_battery_range_km,battery_level,"
        "outside_temp,car_id,drive_id,elevation,usable_battery_level",
        rows,
    )


def main() -> None:
    """Write the files to a folder."""
    kept = (data_path("examples", name) for name in ("edges.csv", "fleet.csv"))
    for name, text in made(*(each.read_text(encoding="utf-8") for each in kept)).items():
        with replacing(Path(sys.argv[1]) / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
