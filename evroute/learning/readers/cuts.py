"""Cuts of a log into trips, at stops, at charging, and where the log has a gap."""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH

STANDING_M = 50.0
STOP_S = 600.0
"""A vehicle that stays within `STANDING_M` for so long has ended its trip."""
CHARGING_S = 120.0
CHARGED_SHARE = 0.015
"""A charge that rises by more than this share of the battery while standing so long is charging."""
CHARGER_W = 400_000.0
"""Largest charging power. A meter that falls faster is wrong."""
EARTH_M = 6_371_000.0


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Rows of one trip within a log, (k,), and the reason for the cut, empty at the log's end."""

    rows: IntArray
    reason: str


def cut(
    time_s: FloatArray,
    lat: FloatArray,
    lon: FloatArray,
    used_wh: FloatArray,
    *,
    battery_wh: float,
    gap_s: float,
) -> list[Piece]:
    """Return the pieces of a log between its stops, charges and gaps.

    Parameters
    ----------
    time_s
        (p,) times in s, never decreasing.
    lat, lon
        (p,) positions in degrees, or NaN where unknown.
    used_wh
        (p,) energy used up to each point, Wh, or NaN where it was not read.
    battery_wh
        Usable energy of the battery, Wh.
    gap_s
        Time between two rows above which the log has a gap, s.

    Returns
    -------
    list of Piece
        Pieces with two rows or more, in order. The rows of a stop belong to none of them, but for
        its first and last row.
    """
    middle = float(np.median(lat[np.isfinite(lat)])) if np.isfinite(lat).any() else 0.0
    x_m = np.radians(lon) * EARTH_M * np.cos(np.radians(middle))
    y_m = np.radians(lat) * EARTH_M
    pieces: list[Piece] = []
    start = at = 0
    last = len(time_s) - 1

    def close(end: int, reason: str) -> None:
        if end > start:
            pieces.append(Piece(np.arange(start, end + 1), reason))

    while at < last:
        pause_s = time_s[at + 1] - time_s[at]
        if pause_s > gap_s:
            close(at, f"{pause_s / 60:.3g} min without rows")
            start = at = at + 1
            continue
        end = at
        while end < last and time_s[end + 1] - time_s[end] <= gap_s:
            if not np.hypot(x_m[end + 1] - x_m[at], y_m[end + 1] - y_m[at]) < STANDING_M:
                break
            end += 1
        stood_s = float(time_s[end] - time_s[at])
        charged_wh = -rise(used_wh[at : end + 1])
        charged = stood_s >= CHARGING_S and (
            CHARGED_SHARE * battery_wh < charged_wh < CHARGER_W * stood_s / J_PER_WH
        )
        if stood_s >= STOP_S or charged:
            close(
                at,
                f"{stood_s / 60:.3g} min of standing"
                + (f", charging {charged_wh / 1000:.3g} kWh" if charged else ""),
            )
            start = at = end
        else:
            at += 1
    close(last, "")
    return pieces


def rise(readings: FloatArray) -> float:
    """Return the last minus the first of the finite readings (k,). 0 if there are none."""
    read = readings[np.isfinite(readings)]
    return float(read[-1] - read[0]) if len(read) else 0.0
