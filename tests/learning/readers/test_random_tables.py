"""Tables of random encodings, widths, names and units: each is read, or refused in one line.

``python -m tests.learning.readers.test_random_tables 2000 5`` draws more (number, seed).
"""

import csv
import io
import sys
import tomllib
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from evroute.errors import EvrouteError
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.headers import TABLE
from evroute.methods.setting import Setting, load_setting

DRAWN = 120
ENCODINGS = ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "cp437")
SEPARATORS = ",;\t|"
ODD = ("nan", "inf", "-", "NULL", "é°µ", "'=1+1", '"', "a\nb", "12 km", "9e999", "1.2.3", "25:61")
BLOCKS = tomllib.loads(TABLE.read_text("utf-8"))["names"]
NAMED = [name for block in BLOCKS for name in block["columns"]]
MARKS = [mark for block in BLOCKS for mark in block.get("mark", ())]
UNITS = (
    "",
    "",
    "",
    "V",
    "mV",
    "A",
    "kW",
    "W",
    "%",
    "°C",
    "°F",
    "km/h",
    "ms",
    "s",
    "Wh",
    "kWh",
    "?",
)
PROGRAMS = (
    "time|lat|lon|volts|amps|soc_percent",
    "datetime|gps_lat|gps_lon|voltage|current|battery",
    "ms_today|gnss_lat|gnss_lon|input_voltage|current_in|battery_level",
    "Timestamp|Latitude[deg]|Longitude[deg]|Battery Voltage [V]|Battery Current [A]|SOC%",
    "utc|v.p.latitude|v.p.longitude|v.b.voltage|v.b.current|v.b.soc",
    "clock|y pos|x pos|u volt|i amp|soc",
)
FORMS = ("{}", "{}", " {}", "{} [{}]", "{} ({})", "{}_{}", "{}{}", '"{}"')


def cell(rng: Random) -> str:
    draws = (
        lambda: f"{rng.uniform(-1e4, 1e4):.4f}",
        lambda: f"{rng.uniform(39.6, 39.8):.6f}",
        lambda: f"-{rng.uniform(104.8, 105.1):.6f}",
        lambda: str(rng.randrange(10 ** rng.randrange(1, 15))),
        lambda: f"{rng.uniform(0, 1e4):,.2f}",
        lambda: f"{rng.uniform(0, 1e4):.2f}".replace(".", ","),
        lambda: "",
        lambda: f"2025-07-{rng.randrange(1, 40):02d} {rng.randrange(30):02d}:10:00",
        lambda: f"{rng.randrange(1, 32)}/{rng.randrange(1, 32)}/{rng.randrange(1, 9999):04d} 10:00",
        lambda: rng.choice(ODD),
    )
    return rng.choice(draws)()


def header(rng: Random) -> str:
    name = rng.choice([*NAMED, *MARKS, "x", "", "edge", "soc_start", "soc_end", "lat", "lon"])
    return rng.choice(FORMS).format(name, rng.choice(UNITS))


def noise(rng: Random, width: int) -> list[list[str]]:
    return [[cell(rng) for _ in range(width)] for _ in range(rng.randrange(25))]


def drive(rng: Random) -> tuple[list[str], list[list[str]]]:
    """Return headers and rows of a log along a street of Denver, some of its values odd."""
    n = rng.randrange(3, 60)
    at = np.linspace(0, 1, n)
    seconds = np.arange(n) * 4
    clock = rng.choice((seconds, 1.7526e9 + seconds, 1.7526e12 + seconds * 1e3))
    headers = rng.choice(PROGRAMS)
    values = (
        clock,
        39.7484 + 0.0121 * at,
        -104.99877 + 0.0254 * at,
        np.full(n, 360.0),
        10 + 9 * np.sin(9 * at),
        80 - at,
    )
    columns = {**dict(zip(headers.split("|"), values, strict=True)), header(rng): rng.random() + at}
    rows = [[f"{value:.7g}" if abs(value) < 1e5 else f"{value:.0f}" for value in row]
            for row in zip(*columns.values(), strict=True)]  # fmt: skip
    for _ in range(rng.randrange(4)):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = cell(rng)
    return list(columns), rows


def content(rng: Random) -> bytes:
    """Return the bytes of a table."""
    if rng.random() < 0.5:
        headers, rows = drive(rng)
    else:
        headers = [header(rng) for _ in range(rng.randrange(1, 14))]
        rows = noise(rng, len(headers))
    for row in rows:
        if rng.random() < 0.1:
            row[len(row) :] = [cell(rng)] * rng.randrange(3)
            del row[len(row) - rng.randrange(2) :]
    separator = rng.choice(SEPARATORS)
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, None))
    text = io.StringIO()
    if quoting is None:
        text.write("\n".join(separator.join(row) for row in [headers, *rows]))
    else:
        csv.writer(text, delimiter=separator, quoting=quoting).writerows([headers, *rows])
    data = bytearray(text.getvalue().encode(rng.choice(ENCODINGS), errors="replace"))
    if rng.random() < 0.1:
        del data[rng.randrange(len(data) + 1) :]
    for _ in range(rng.choice((0, 0, 0, 3))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def refused(setting: Setting, seed: int) -> str:
    """Read a table, and return why it is refused, or empty."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(content(Random(seed)))
        try:
            read_measured(path, setting, ["reference"])
        except EvrouteError as error:
            return str(error)
    return ""


def draw(number: int, seed: int) -> tuple[int, int]:
    """Return the numbers of tables that are read and refused."""
    setting = load_setting("denver", "reference")
    reasons = [refused(setting, 1_000_003 * seed + each) for each in range(number)]
    assert all("\n" not in reason for reason in reasons)
    return reasons.count(""), number - reasons.count("")


def test_random_tables_are_read_or_refused_in_one_line() -> None:
    read, refusals = draw(DRAWN, 5)
    assert read > DRAWN / 20
    assert refusals > DRAWN / 20


if __name__ == "__main__":
    read, refusals = draw(int(sys.argv[1]), int(sys.argv[2]))
    print(f"{read} read, {refusals} refused")
