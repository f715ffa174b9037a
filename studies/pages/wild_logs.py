"""Tables of *files as they are*: logs in the forms of programs and people, given to `learn`.

The files are made here along one drive in Denver. `wild-logs` has a file of each kind, by as many
calls as it takes: where the first one refuses, its message names the option of the second one.
`wild-files` compares many files with one of the same rows, and `wild-fuzz` counts random tables.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.learned import Learned
from evroute.methods.setting import Setting, load_setting
from studies.pages.tables import store

START = datetime(2025, 7, 13, 10)
EPOCH_S = 1_752_400_800
SPEED_MPS, VOLTS, EVERY_M = 6.0, 360.0, 12.0
FILES, ROUNDS = 209, 3
TABLES, SEED = 2000, 54
Rows = list[list[Any]]


@dataclass(frozen=True, slots=True)
class File:
    """A made file.

    option: of the call that reads it, if the first one does not.  named: what its message names.
    """

    rows: Rows
    separator: str = ","
    encoding: str = "utf-8"
    comma: bool = False
    option: dict[str, Any] = field(default_factory=dict)
    named: str = ""

    def write(self, path: Path) -> Path:
        """Write the file."""
        out = io.StringIO()
        cells = [[self._text(cell) for cell in row] for row in self.rows]
        csv.writer(out, delimiter=self.separator, lineterminator="\n").writerows(cells)
        path.write_bytes(out.getvalue().encode(self.encoding))
        return path

    def _text(self, cell: Any) -> str:
        if isinstance(cell, float):
            text = f"{cell:.7f}".rstrip("0").rstrip(".")
            return text.replace(".", ",") if self.comma else text
        return str(cell)


@dataclass(frozen=True, slots=True)
class Drive:
    """Points of a drive: times from its start, s, places, current, A, and energy used, Wh."""

    at_s: list[float]
    lat: list[float]
    lon: list[float]
    amps: list[float]
    used_wh: list[float]

    @classmethod
    def made(cls, setting: Setting, origin: int = 0, destination: int = 500) -> "Drive":
        """Drive along the way of the least time, with a current that changes on it."""
        network = setting.network
        edges = setting.search.route(network.time_s, origin, destination).edges
        own = [slice(*network.shape_start[edge : edge + 2]) for edge in edges]
        x_m = np.concatenate([network.shape_x_m[each] for each in own])
        y_m = np.concatenate([network.shape_y_m[each] for each in own])
        at_m = np.append(0.0, np.cumsum(np.hypot(np.diff(x_m), np.diff(y_m))))
        shown_m = np.arange(0.0, at_m[-1], EVERY_M)
        from pyproj import Transformer

        to_degrees = Transformer.from_crs(network.crs, "EPSG:4326", always_xy=True)
        lon, lat = to_degrees.transform(
            np.interp(shown_m, at_m, x_m), np.interp(shown_m, at_m, y_m)
        )
        amps = 5.0 + 2.0 * np.sin(np.arange(len(shown_m)) / 7.0)
        step_s = EVERY_M / SPEED_MPS
        used_wh = np.append(0.0, np.cumsum(amps[:-1] * VOLTS * step_s / 3600.0))
        at_s = step_s * np.arange(len(shown_m))
        columns = (at_s, lat, lon, amps, used_wh)
        return cls(*(np.asarray(column).tolist() for column in columns))

    def rows(self, head: str, row: Callable[..., Iterable[Any]]) -> Rows:
        """Return a table: headers, and a row of each point."""
        points = zip(self.at_s, self.lat, self.lon, self.amps, self.used_wh, strict=True)
        return [head.split("|"), *(list(row(*point)) for point in points)]


def stamp(at_s: float, form: str = "%Y-%m-%dT%H:%M:%S") -> str:
    """Return a time of the drive as text."""
    return f"{START + timedelta(seconds=at_s):{form}}"


LEAFSPY = "Date/Time|Lat|Long|Elv|Speed|Gids|SOC|Pack Volts|Pack Amps|Aux Pwr(100w)|Ambient"


def _leafspy(t: float, lat: float, lon: float, amps: float, used_wh: float) -> list[Any]:
    charge = round(800_000 - 25 * used_wh)
    return [stamp(t, "%m/%d/%Y %H:%M:%S"), lat, lon, 5250, 13, 300, charge, VOLTS, amps, 3, 70.0]


def _people(temperature: str) -> tuple[str, Callable[..., list[Any]]]:
    return f"trip|time|lat|lon|energy_wh|{temperature}", lambda t, lat, lon, amps, wh: [
        "t1",
        stamp(t),
        lat,
        lon,
        wh,
        21.5,
    ]


def _scanner(drive: Drive) -> Rows:
    head = ["SECONDS", "PID", "VALUE", "UNITS", "LATITUDE", "LONGTITUDE"]
    rows: Rows = [head]
    for t, lat, lon, amps in zip(drive.at_s, drive.lat, drive.lon, drive.amps, strict=True):
        second = 27_000.0 + t
        rows.append([second, "[8C.BMS] DC Battery voltage", VOLTS, "V", lat, lon])
        rows.append([second + 0.2, "[8C.BMS] DC Battery Current", amps, "A", lat, lon])
    return rows


def kinds(drive: Drive) -> dict[str, File]:
    """Return a file of each kind."""
    spy = drive.rows(LEAFSPY, _leafspy)
    half = len(spy) // 2
    plain = drive.rows(*_people("Temperature [°C]"))
    return {
        "LeafSpy": File(spy),
        "LeafSpy, a value more than headers": File([spy[0], *([*row, 0] for row in spy[1:])]),
        "LeafSpy, a value more from half-way on": File(
            [*spy[:half], *([*row, 0] for row in spy[half:])]
        ),
        "German, Windows-1252, decimal comma": File(
            drive.rows(*_people("Temperatur [°C]")), ";", "cp1252", comma=True
        ),
        "French, UTF-16, decimal comma": File(
            drive.rows(*_people("Température [°C]")), ";", "utf-16", comma=True
        ),
        "EUC World": File(
            drive.rows(
                "datetime|speed|voltage|current|power|battery|temp|gps_lat|gps_lon|gps_speed|extra",
                lambda t, lat, lon, amps, _: [
                    stamp(t),
                    21.6,
                    VOLTS,
                    amps,
                    VOLTS * amps,
                    80,
                    26,
                    lat,
                    lon,
                    21.6,
                    "",
                ],
            )
        ),
        "VESC Tool": File(
            drive.rows(
                "ms_today|input_voltage|current_in|speed_meters_per_sec|gnss_lat|gnss_lon|gnss_gVel",
                lambda t, lat, lon, amps, _: [
                    round(36e6 + 1000 * t),
                    VOLTS,
                    amps,
                    SPEED_MPS,
                    lat,
                    lon,
                    SPEED_MPS,
                ],
            ),
            ";",
        ),
        "Bluelink, a row at each stop": File(
            [
                ["datetime", " longitude", " latitude", " engineOn", " odometer", " SOC%"],
                *(
                    [
                        f"2023-01-02 {10 + k}:10:09",
                        drive.lon[-(k % 2)],
                        drive.lat[-(k % 2)],
                        False,
                        21847.1 + 4.0 * k,
                        76 - k,
                    ]
                    for k in range(6)
                ),
            ]
        ),
        "WheelLog, no positions": File(
            drive.rows(
                "date|time|speed|voltage|current|power|battery_level|distance",
                lambda t, lat, lon, amps, _: [
                    stamp(t, "%Y-%m-%d"),
                    stamp(t, "%H:%M:%S"),
                    21.6,
                    VOLTS,
                    amps,
                    VOLTS * amps,
                    80,
                    6.0 * t,
                ],
            ),
            option={"reader": "totals"},
            named="--totals",
        ),
        "whole per cents of charge": File(
            drive.rows(
                "time|lat|lon|SoC (%)",
                lambda t, lat, lon, amps, wh: [stamp(t), lat, lon, round(80 - wh / 50)],
            )
        ),
        "TeslaMate, positions": File(
            drive.rows(
                "id|date|latitude|longitude|speed|power|battery_level|outside_temp|drive_id",
                lambda t, lat, lon, amps, wh: [
                    round(t),
                    stamp(t, "%Y-%m-%d %H:%M:%S"),
                    lat,
                    lon,
                    22,
                    VOLTS * amps / 1000,
                    round(80 - wh / 400),
                    20.5,
                    41,
                ],
            )
        ),
        "OVMS": File(
            drive.rows(
                "time|v.p.latitude|v.p.longitude|v.b.voltage|v.b.current|v.e.temp",
                lambda t, lat, lon, amps, _: [stamp(t), lat, lon, VOLTS, amps, 20],
            )
        ),
        "ABRP": File(
            drive.rows(
                "utc|soc|power|speed|lat|lon|ext_temp",
                lambda t, lat, lon, amps, wh: [
                    EPOCH_S + t,
                    80 - wh / 400,
                    VOLTS * amps / 1000,
                    21.6,
                    lat,
                    lon,
                    20,
                ],
            )
        ),
        "Car Scanner, a row a reading": File(_scanner(drive), ";"),
        "tabs, and joined with itself": File([*plain, *plain], "\t", "utf-8-sig"),
        "names that nobody knows": File(
            drive.rows(
                "clock|y pos|x pos|u volt|i amp",
                lambda t, lat, lon, amps, _: [stamp(t), lat, lon, VOLTS, amps],
            ),
            option={
                "column": {
                    "time": "clock",
                    "lat": "y pos",
                    "lon": "x pos",
                    "volts": "u volt",
                    "amps": "i amp",
                }
            },
            named="--column",
        ),
    }


def learned_of(table: Path, out: Path, **option: Any) -> Learned:
    """Learn files as the Leaf's."""
    return learn(table, out, network="denver", vehicle="nissan-leaf-40", **option)


def read(file: File, folder: Path) -> list[object]:
    """Return the cells of a kind: rows, trips, those set aside, calls, CPU, and what was said."""
    path = file.write(folder / "log.csv")
    begun_s, calls = process_time(), 1
    try:
        learned = learned_of(path, folder / "belief")
    except EvrouteError as error:
        if not file.option or file.named not in str(error):
            return [len(file.rows) - 1, 0, 1, "none", f"{process_time() - begun_s:.1f}", error]
        calls = 2
        learned = learned_of(path, folder / "belief", **file.option)
    cpu_s = process_time() - begun_s
    said = [note for note in learned.notes if "row" in note or "value" in note or "header" in note]
    said = [note.replace(str(folder), "") for note in said]
    cells = [len(file.rows) - 1, learned.new, len(learned.skipped), calls]
    return [*cells, f"{cpu_s:.1f}", "; ".join(said) or "–"]


COLUMNS = ("kind", "rows", "trips read", "set aside", "calls", "CPU s", "said of its rows")


def wild_logs() -> None:
    """Write what happens to a file of each kind."""
    drive = Drive.made(load_setting("denver", "nissan-leaf-40"))
    files = kinds(drive)
    rows = list[list[object]]()
    for kind, file in [("warm-up", files["LeafSpy"]), *files.items()]:
        with TemporaryDirectory() as folder:
            rows.append([kind, *read(file, Path(folder))])
    command = "python -m studies.pages --run wild-logs"
    store("wild-logs", COLUMNS, rows[1:], command=command, networks=["denver"])


def days(number: int) -> Sequence[Rows]:
    """Return the rows of logs, each of another day and way."""
    setting = load_setting("denver", "nissan-leaf-40")
    found = list[Rows]()
    for day in range(number):
        drive = Drive.made(setting, day, 900 - day)
        head = "time|lat|lon|energy_wh"
        later_s = EPOCH_S + 86_400 * day
        row = partial(_row_of_day, later_s)
        found.append(drive.rows(head, row))
    return found


def _row_of_day(later_s: float, t: float, lat: float, lon: float, _: float, wh: float) -> list[Any]:
    return [later_s + t, lat, lon, wh]


def wild_files() -> None:
    """Write the CPU of many files in one call and of one file with their rows, in turns."""
    logs = days(FILES)
    cpu_s: dict[str, list[float]] = {f"{FILES} files": [], "one file": []}
    trips = dict[str, int]()
    with TemporaryDirectory() as folder:
        many, one = Path(folder, "logs"), Path(folder, "one.csv")
        many.mkdir()
        for k, rows in enumerate(logs):
            File(rows).write(many / f"{k:03d}.csv")
        File([logs[0][0], *(row for rows in logs for row in rows[1:])]).write(one)
        for turn in range(ROUNDS):
            for name, path in zip(cpu_s, (many, one), strict=True):
                begun_s = process_time()
                learned = learned_of(path, Path(folder, f"{path.stem}-{turn}"))
                cpu_s[name].append(process_time() - begun_s)
                trips[name] = learned.new
    least_s = {name: min(each) for name, each in cpu_s.items()}
    rows = [
        [name, trips[name], f"{least:.1f}", f"{least / least_s['one file']:.2f}"]
        for name, least in least_s.items()
    ]
    columns = ("given", "trips", f"CPU s, least of {ROUNDS}", "over one file")
    command = "python -m studies.pages --run wild-files"
    store("wild-files", columns, rows, command=command, networks=["denver"])


def wild_fuzz() -> None:
    """Write how random tables end: read, refused in one line, or with an internal error."""
    from tests.learning.readers.test_random_tables import refused

    setting = load_setting("denver", "reference")
    ends = dict.fromkeys(("read", "refused in one line", "internal errors"), 0)
    for each in range(TABLES):
        try:
            reason = refused(setting, 1_000_003 * SEED + each)
        except Exception:
            ends["internal errors"] += 1
            continue
        end = "refused in one line" if reason else "read"
        ends["internal errors" if "\n" in reason else end] += 1
    columns = ("tables", *ends)
    command = "python -m studies.pages --run wild-fuzz"
    row = [f"{TABLES:,}, seed {SEED}", *(f"{number:,}" for number in ends.values())]
    store("wild-fuzz", columns, [row], command=command)


RUNS = {"wild-logs": wild_logs, "wild-files": wild_files, "wild-fuzz": wild_fuzz}
