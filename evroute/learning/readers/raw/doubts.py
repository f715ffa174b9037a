"""Doubts about a log: columns with a known name and values that the name cannot have.

The trip decides. Its energy per kilometre, the fall of its charge and the speed of its positions
show wrong units, another battery's current, and clocks that are no seconds.
"""

from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray

LEAST_WH_PER_KM, MOST_WH_PER_KM = 3.0, 3_000.0
"""Energy per kilometre of a vehicle, from a scooter to a lorry of 60 t in a traffic jam."""
JUDGED_M = 1_000.0
JUDGED_PERCENT = 5.0
"""Fall of the charge from which on it judges a meter of energy."""
MOST_RATIO = 10.0
"""Largest ratio of an energy to the fall of the charge, either way, by the vehicle's battery."""
MOVING_MPS = 3.0
FASTER = 10.0
"""Largest ratio of two speeds whose units are known no better than a header says them."""
EARTH_M = 6_371_000.0


def energy_doubt(
    energies_wh: Sequence[FloatArray], lengths_m: Sequence[float], fall_wh: float, fall: float
) -> str:
    """Return the reason why the energies of a meter are impossible, or an empty text.

    Parameters
    ----------
    energies_wh
        Energies by edge of each trip, Wh.
    lengths_m
        Length of each trip, m.
    fall_wh, fall
        Fall of the charge over the trips, Wh by the vehicle's battery, and %. NaN where unknown.
    """
    length_m = float(np.sum(lengths_m))
    if length_m < JUDGED_M:
        return ""
    total_wh = float(sum(each.sum() for each in energies_wh))
    turned_over_wh = float(sum(np.abs(each).sum() for each in energies_wh))
    per_km, turned_per_km = total_wh / length_m * 1e3, turned_over_wh / length_m * 1e3
    if turned_per_km < LEAST_WH_PER_KM or abs(per_km) > MOST_WH_PER_KM:
        return (
            f"it gives {per_km:.3g} Wh/km over {length_m / 1e3:.3g} km, where "
            f"{LEAST_WH_PER_KM:g} to {MOST_WH_PER_KM:,.0f} are possible"
        )
    if fall >= JUDGED_PERCENT and not 1 / MOST_RATIO < total_wh / fall_wh < MOST_RATIO:
        return (
            f"it gives {total_wh:,.0f} Wh while the charge falls by {fall:.3g} %, which are "
            f"{fall_wh:,.0f} Wh"
        )
    return ""


def clock_doubt(time_s: FloatArray, lat: FloatArray, lon: FloatArray, speed_mps: FloatArray) -> str:
    """Return how the clock of a trip contradicts its speeds, in words, or empty.

    Parameters
    ----------
    time_s, lat, lon
        (p,) times and positions of its rows, s and degrees, or NaN.
    speed_mps
        (p,) speeds by the log, m/s, or NaN.
    """
    known = np.flatnonzero(np.isfinite(time_s + lat + lon + speed_mps))
    if len(known) < 3:
        return ""
    middle = np.cos(np.radians(np.median(lat[known])))
    x_m, y_m = np.radians(lon[known]) * EARTH_M * middle, np.radians(lat[known]) * EARTH_M
    step_s, step_m = np.diff(time_s[known]), np.hypot(np.diff(x_m), np.diff(y_m))
    shown = (speed_mps[known[1:]] + speed_mps[known[:-1]]) / 2
    moving = (step_s > 0) & (shown > MOVING_MPS)
    if moving.sum() < 3:
        return ""
    by_positions = float(step_m[moving].sum() / step_s[moving].sum())
    by_log = float(np.median(shown[moving]))
    if 1 / FASTER < by_positions / by_log < FASTER:
        return ""
    return (
        f"its positions move at {by_positions:.3g} m/s by its clock, where the log shows "
        f"{by_log:.3g} m/s. Check the units of time and speed"
    )
