"""Times in tables: seconds, seconds since 1970, ISO 8601, and LeafSpy's dates."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.learning.readers import leafspy
from evroute.network.places.zones import DATED_S, zone_of
from evroute.network.road_network import RoadNetwork

EPOCH_MS = 1e11
"""Numbers from here on are milliseconds since 1970 (UTC), from `DATED_S` on seconds."""
S_PER_DAY = 86_400.0


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


def _first(times: FloatArray) -> float:
    """Return the least of times (k,), 0 if none is finite."""
    finite = times[np.isfinite(times)]
    return float(finite.min()) if len(finite) else 0.0


def _numbers(texts: Sequence[str | None]) -> FloatArray | None:
    """Return times that are numbers, (k,), NaN where empty, or None if one is none."""
    times = np.full(len(texts), np.nan)
    try:
        for row, text in enumerate(texts):
            if text:
                times[row] = float(text.replace(",", "."))
    except ValueError:
        return None
    times[~np.isfinite(times)] = np.nan
    return times


def _moments(path: Path, texts: Sequence[str | None]) -> list[tuple[int, datetime]]:
    """Return the times that are not empty, with their rows.

    Raises
    ------
    EvrouteError
        If a time has no known form, or some have an offset to UTC and some have not.
    """
    given = [(row, text) for row, text in enumerate(texts) if text]
    form = leafspy.date_format([text for _, text in given])
    moments = [(row, _moment(path, row, text, form)) for row, text in given]
    if len({moment.tzinfo is None for _, moment in moments}) > 1:
        raise EvrouteError(f"trip table {path}: some times have an offset to UTC and some have not")
    return moments


def _moment(path: Path, row: int, text: str, form: str | None) -> datetime:
    """Return a time of a row, in a date format or in ISO 8601."""
    if form is not None:
        return datetime.strptime(text.strip(), form)
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: time '{text}' is neither seconds nor like "
            "2026-05-04T07:30:00"
        ) from None
