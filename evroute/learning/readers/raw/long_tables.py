"""Long tables: a row for each reading of one channel, as Car Scanner exports its records.

Headers are ``SECONDS;PID;VALUE;UNITS`` and, with positions, ``LATITUDE;LONGTITUDE``. Each second
becomes a row with a column for each channel that has a known name. A channel keeps its last reading
for `HELD_S`, since an adapter asks one channel after another. Seconds count from a midnight. The
name of the file has its date.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from evroute.learning.readers.headers import plain, recognised

MARK = ("seconds", "pid", "value", "units")
PLACES = {"latitude": "lat", "longtitude": "lon", "longitude": "lon"}
"""Headers of positions, and the columns here. One is misspelt in the files."""
KNOWN = ("volts", "amps", "power_w", "soc_percent", "temperature_c", "speed_mps", "odometer_km")
"""Columns that channels are looked up for."""
HELD_S = 5
MOST_APART = timedelta(hours=2)
"""Difference of the clock and the name of a file up to which the seconds count from midnight."""
_BEGUN = re.compile(r"\d{4}-\d\d-\d\d[ _-]\d\d-\d\d-\d\d")


def is_long(headers: Sequence[str]) -> bool:
    """Return whether a table with these headers is a long one."""
    return tuple(map(plain, headers[: len(MARK)])) == MARK


def widened(rows: Iterable[Sequence[str]], name: str) -> list[list[str]]:
    """Return a long table as a table with a row for each second, its header first.

    Parameters
    ----------
    rows
        Rows of the table, its header first.
    name
        Name of its file.
    """
    table = iter(rows)
    headers = [plain(each) for each in next(table)]
    places = {PLACES[each]: k for k, each in enumerate(headers) if each in PLACES}
    read = [_reading(row, places) for row in table]
    readings = sorted((each for each in read if each is not None), key=lambda each: each[0])
    channels = dict.fromkeys(channel for _, channel, _, _ in readings if channel)
    used = [column.header for column in recognised(list(channels), KNOWN).values()]
    wide = [["time", *places, *used]]
    begun = _begun(name, readings[0][0]) if readings else None
    held: dict[str, tuple[float, str]] = {}
    place = [""] * len(places)
    for k, (second_s, channel, value, at) in enumerate(readings):
        held[channel] = second_s, value
        place = at if all(at) else place
        whole = int(second_s)
        if k + 1 < len(readings) and int(readings[k + 1][0]) == whole:
            continue
        time = str(whole) if begun is None else (begun + timedelta(seconds=whole)).isoformat()
        values = [held.get(each, (-HELD_S - 1.0, "")) for each in used]
        wide.append([time, *place, *(v if second_s - s <= HELD_S else "" for s, v in values)])
    return wide


Reading = tuple[float, str, str, list[str]]
"""Second, channel with its unit, value, and position."""


def _reading(row: Sequence[str], places: dict[str, int]) -> Reading | None:
    """Return the reading of a row, or None where it has none."""
    if len(row) < len(MARK):
        return None
    try:
        second_s = float(row[0].replace(",", "."))
    except ValueError:
        return None
    at = [row[k].strip() if k < len(row) else "" for k in places.values()]
    unit = row[3].strip()
    channel = f"{row[1].strip()} ({unit})" if unit else row[1].strip()
    return second_s, channel, row[2].strip(), at


def _begun(name: str, first_s: float) -> datetime | None:
    """Return the moment of second 0 by the name of a file, or None where it has no date."""
    match = _BEGUN.search(name)
    if match is None:
        return None
    try:
        named = datetime.strptime(re.sub(r"\D", "", match[0]), "%Y%m%d%H%M%S")
    except ValueError:
        return None
    midnight = named.replace(hour=0, minute=0, second=0)
    if abs(midnight + timedelta(seconds=first_s) - named) <= MOST_APART:
        return midnight
    return named - timedelta(seconds=int(first_s))
