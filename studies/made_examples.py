"""Make the logs with power of ``data/examples`` again: ``python studies/made_examples.py FOLDER``.

One drive of 3.4 km across Denver that nobody drove. Its energy is evroute's own physics of a
Renault Zoe in the weather of each log, times the noise below, shared out over nine stretches of
equal length. So no figure of these files says how right evroute is. The other files of the folder
have whole per cents or no energy of their own.
"""

import csv
import io
import sys
from datetime import datetime, timedelta
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
"""Measured over expected energy of each stretch."""
MORNING = datetime(2026, 5, 4, 7, 30)
VOLTS, OHMS = 362.0, 0.02
CHARGE, CAPACITY_WH = 80.0, 52_000.0
MILD = evroute.DrivingConditions(temperature_c=20.0)


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
        planner = evroute.Planner(network, "renault-zoe", conditions=conditions)
        rows = tuple(network.row_of[edge] for edge in edges)
        metres = np.append(0.0, np.cumsum(network.length_m[list(rows)]))
        until_wh = np.append(0.0, np.cumsum(planner.describe(Route(rows)).edge_wh))
        at_m = np.linspace(0.0, metres[-1], len(POINTS))
        self.stretch_wh = np.diff(np.interp(at_m, metres, until_wh)) * NOISE
        self.edge_wh = np.diff(np.interp(metres, at_m, self.used_wh))

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
    def percent(self) -> FloatArray:
        """(10,) charge, %."""
        return CHARGE - 100.0 * self.used_wh / CAPACITY_WH


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


def made(edges_csv: str) -> dict[str, str]:
    """Return the text of each file by its name.

    Parameters
    ----------
    edges_csv
        The table by edges, whose roads and times stay.
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
        "tesla.csv": tesla(Drive(edges, evroute.DrivingConditions(temperature_c=-3.5)), lat, lon),
    }


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
    edges_csv = data_path("examples", "edges.csv").read_text(encoding="utf-8")
    for name, text in made(edges_csv).items():
        with replacing(Path(sys.argv[1]) / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
