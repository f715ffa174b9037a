"""Times in tables: seconds, seconds since 1970, ISO 8601, dates in two orders, and clocks.

The order of day and month is the same in a file. A number above 12 decides. If none does, day first
where dots separate them, else the order in which the dates span less time, and month first if both
span the same.
"""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.learning.readers.table import Log
from evroute.network.places.zones import DATED_S, zone_of
from evroute.network.road_network import RoadNetwork

EPOCH_MS = 1e11
"""Numbers from here on are milliseconds since 1970 (UTC), from `DATED_S` on seconds."""
S_PER_DAY = 86_400.0
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
_DATE = re.compile(rf"\s*(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}})(?:[\sT,]+{_CLOCK})?\s*")
_NAMED = re.compile(rf"\s*(\d{{1,2}})[-\s]([A-Za-z]{{3}})[-\s](\d{{4}})[\sT,]+{_CLOCK}\s*")
_BARE = re.compile(rf"\s*{_CLOCK}\s*")
DAY_FIRST = "day first"
MONTH_FIRST = "month first"


def times_of(log: Log, network: RoadNetwork) -> tuple[FloatArray, list[str]]:
    """Return the times of a log, (rows,) s since 1970-01-01 UTC, and how its dates were read.

    A column ``date`` goes before clocks without a date. As `since_1970` in all else.
    """
    texts = log.table["time"].to_pylist()
    if "date" in log.columns:
        texts = [
            f"{day} {text}" if day and text and _BARE.fullmatch(text) else text
            for day, text in zip(log.table["date"].to_pylist(), texts, strict=True)
        ]
    column = log.columns["time"]
    given = [text for text in texts if text]
    notes = []
    if (order := date_order(given)) is not None:
        notes.append(f"dates such as {given[0]} are read with the {order}")
    times = since_1970(log.path, texts, network)
    if column.factor != 1.0 and _first(times) < EPOCH_MS / 1000:
        times = times * column.factor
    return times, notes


def since_1970(path: Path, texts: Sequence[str | None], network: RoadNetwork) -> FloatArray:
    """Return times in seconds since 1970-01-01 UTC, (k,), or NaN where empty.

    Small numbers stay as they are: they have no date. Times without an offset to UTC are local in
    the zone of the network.

    Parameters
    ----------
    path
        Table, for messages.
    texts
        (k,) times as written.
    network
        Network on which they were measured.

    Raises
    ------
    EvrouteError
        If a time has none of these forms, or some have an offset to UTC and some have not.
    """
    if (numbers := _numbers(texts)) is not None:
        return numbers / 1000.0 if _first(numbers) >= EPOCH_MS else numbers
    times = np.full(len(texts), np.nan)
    for row, moment in _moments(path, texts):
        local = moment.tzinfo is None
        moment = moment.replace(tzinfo=zone_of(network)) if local else moment
        times[row] = moment.timestamp()
    return times


def seconds(path: Path, texts: Sequence[str | None]) -> FloatArray:
    """Return times in seconds since the midnight before the first of them, (k,). NaN where empty.

    Small numbers stay as they are. Times without an offset to UTC are local. With an offset, the
    midnight is taken at the first time's offset. Seconds and milliseconds since 1970 are UTC.

    Raises
    ------
    EvrouteError
        If a time has none of these forms, or some have an offset to UTC and some have not.
    """
    if (times := _numbers(texts)) is not None:
        first_s = _first(times)
        if first_s >= DATED_S:
            scale = 1000.0 if first_s >= EPOCH_MS else 1.0
            times = times / scale - first_s / scale // S_PER_DAY * S_PER_DAY
        return times
    times, moments = np.full(len(texts), np.nan), _moments(path, texts)
    midnight = min(moment for _, moment in moments).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    for row, moment in moments:
        times[row] = (moment - midnight).total_seconds()
    return times


def date_order(texts: Sequence[str]) -> str | None:
    """Return the order of day and month of all dates, or None if they have neither.

    Parameters
    ----------
    texts
        Times such as ``25/12/2025 07:30:00``.
    """
    matches = [_DATE.fullmatch(text) for text in texts]
    if not matches or not all(matches):
        return None
    dates = {(int(match[1]), int(match[3]), int(match[4])) for match in matches if match}
    spans: dict[str, timedelta] = {}
    for order in (MONTH_FIRST, DAY_FIRST):
        try:
            days = [_day(order, *each) for each in dates]
        except ValueError:
            continue
        spans[order] = max(days) - min(days)
    dotted = any(match[2] == "." for match in matches if match)
    if dotted and DAY_FIRST in spans:
        return DAY_FIRST
    return min(spans, key=lambda order: spans[order], default=None)


def _day(order: str, first: int, second: int, year: int) -> date:
    month, day = (first, second) if order == MONTH_FIRST else (second, first)
    return date(year, month, day)


def _first(times: FloatArray) -> float:
    """Return the least of times (k,), 0 if none is finite."""
    finite = times[np.isfinite(times)]
    return float(finite.min()) if len(finite) else 0.0


def _numbers(texts: Sequence[str | None]) -> FloatArray | None:
    """Return times that are numbers or clocks without a date, (k,), NaN where empty, or None."""
    times = np.full(len(texts), np.nan)
    try:
        for row, text in enumerate(texts):
            if not text:
                continue
            if clock := _BARE.fullmatch(text):
                times[row] = _of_clock(*clock.groups())
            else:
                times[row] = float(text.replace(",", "."))
    except ValueError:
        return None
    times[~np.isfinite(times)] = np.nan
    return times


def _of_clock(
    hour: str, minute: str, second: str | None, fraction: str | None, half: str | None
) -> float:
    """Return the seconds since midnight of a clock. ``half`` is the letter of AM or PM."""
    hours = int(hour)
    if half:
        hours = hours % 12 + 12 * (half in "Pp")
    if hours > 24 or int(minute) > 59 or int(second or 0) > 60:
        raise ValueError("no time of a day")
    return hours * 3600.0 + int(minute) * 60.0 + float(f"{second or 0}.{fraction or 0}")


def _moments(path: Path, texts: Sequence[str | None]) -> list[tuple[int, datetime]]:
    """Return the times that are not empty, with their rows.

    Raises
    ------
    EvrouteError
        If a time has no known form, or some have an offset to UTC and some have not.
    """
    given = [(row, text) for row, text in enumerate(texts) if text]
    order = date_order([text for _, text in given])
    moments = [(row, _moment(path, row, text, order)) for row, text in given]
    if len({moment.tzinfo is None for _, moment in moments}) > 1:
        raise EvrouteError(f"trip table {path}: some times have an offset to UTC and some have not")
    return moments


def _moment(path: Path, row: int, text: str, order: str | None) -> datetime:
    """Return a time of a row, in a date format or in ISO 8601."""
    try:
        if order is not None and (match := _DATE.fullmatch(text)):
            day = _day(order, int(match[1]), int(match[3]), int(match[4]))
            return _at(day, match.groups()[4:])
        if match := _NAMED.fullmatch(text):
            day = date(int(match[3]), MONTHS.index(match[2].lower()) + 1, int(match[1]))
            return _at(day, match.groups()[3:])
        return datetime.fromisoformat(text.strip().replace("/", "-"))
    except (ValueError, OverflowError):
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: time '{text}' is neither seconds nor like "
            "2026-05-04T07:30:00"
        ) from None


def _at(day: date, clock: Sequence[str | None]) -> datetime:
    hour, minute, second, fraction, half = clock
    since_s = 0.0 if hour is None else _of_clock(hour, minute or "0", second, fraction, half)
    return datetime(day.year, day.month, day.day) + timedelta(seconds=since_s)
