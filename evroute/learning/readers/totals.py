"""Totals of trips: logs with speeds and a meter whose way is unknown.

Columns: time, a speed (speed_mps or one with a unit) and a meter (`meters.READINGS`). Optional are
trip, car, vehicle and `AT_DEPARTURE`. Positions are not read. A trip teaches the coefficients of
the car and no road. Its heights are unknown: it counts as level, and a rise of ± `RISE_M` is part
of its variance.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import require
from evroute.learning.gate import LIMITS, WH_PER_KWH, readings
from evroute.learning.measured import (
    AT_DEPARTURE,
    ImpossibleTripError,
    Measured,
    MeasuredTrip,
    car_of,
    check_times,
)
from evroute.learning.readers.base import Reader, columns_reader
from evroute.learning.readers.clocks import times_of
from evroute.learning.readers.cuts import EARTH_M, cut, rise
from evroute.learning.readers.drives import SHORTEST_M
from evroute.learning.readers.meters import Meter, by_catalogue, meters_of
from evroute.learning.readers.points import COLUMNS, GAP_S, POWER_GAP_S, SIGN_CHANGED
from evroute.learning.readers.raw.doubts import energy_doubt
from evroute.learning.readers.table import Log, check_columns, trips_of
from evroute.learning.roads.road_lines import RoadLines
from evroute.learning.roads.trip_record import TripRecord
from evroute.learning.trips.speed_terms import speed_terms, steady_wh
from evroute.learning.trips.terms import weight_wh_per_m
from evroute.methods.setting import Setting
from evroute.text import counted

RISE_M = 20.0
"""Deviation of the rise of a trip, m.

Two junctions differ in height by 11 m in downtown Denver and by 30 m in the city of Luxembourg.
"""


def read_totals(log: Log, setting: Setting, vehicle_names: Sequence[str]) -> Measured:
    """Return the totals of the trips of a log, cut at stops, charges and gaps.

    Parameters
    ----------
    log
        Table with the columns above.
    setting
        Vehicle of the trips, and the network of the folder.
    vehicle_names
        Names of the setting's vehicle in the column ``vehicle``. Trips of others are set aside.

    Raises
    ------
    EvrouteError
        If a column is missing.
    """
    check_columns(log.path, list(log.columns), ("time", "speed_mps"))
    time_s, notes = times_of(log, setting.network)
    meter = meters_of(log)[0]
    measured = Measured(notes=[*notes, *meter.notes])
    if meter.kind == "charge":
        measured.notes.append(by_catalogue(setting.vehicle))
    speed_mps = log.numbers("speed_mps")
    for trip, rows in trips_of(log.path, log.table):
        try:
            car = car_of(log.table, rows, vehicle_names)
            check_times(time_s[rows])
            pieces = _pieces(time_s[rows], speed_mps[rows], rows, meter, setting.vehicle)
        except ImpossibleTripError as error:
            measured.skipped[trip] = str(error)
            continue
        for number, (its, driven_mps) in enumerate(pieces, start=1):
            name = f"{trip}/{number}" if number > 1 else trip
            try:
                of_piece = _total(name, its, time_s[its], driven_mps, car, log, meter, setting)
            except ImpossibleTripError as error:
                measured.skipped[name] = str(error)
            else:
                measured.trips.append(of_piece)
    trips_wh = [float(each.energy_wh.sum()) for each in measured.trips]
    if meter.kind == "power" and sum(trips_wh) < 0.0:  # trips that count as level take energy
        measured.trips[:] = [replace(each, energy_wh=-each.energy_wh) for each in measured.trips]
        measured.notes.append(SIGN_CHANGED)
    measured.notes.append(
        f"{counted(len(trips_wh), 'total')} of trips without their ways: they teach the car's "
        "coefficients and no road"
    )
    return measured


def _pieces(
    time_s: FloatArray, speed_mps: FloatArray, rows: IntArray, meter: Meter, vehicle: Vehicle
) -> list[tuple[IntArray, FloatArray]]:
    """Return the rows of each part of a trip, and their speeds, cut at stops, charges and gaps.

    Parameters
    ----------
    time_s, speed_mps
        (k,) times and speeds of the rows of a trip, s and m/s. Unknown speeds lie between known.
    rows
        (k,) the rows.
    meter, vehicle
        Meter of the log, and the vehicle.

    Raises
    ------
    ImpossibleTripError
        If speeds are missing or impossible.
    """
    known, most = np.isfinite(speed_mps), LIMITS["speed_mps"].high
    require(known.sum() > 1, "fewer than two rows have a speed", ImpossibleTripError)
    largest_mps = float(np.abs(speed_mps[known]).max())
    require(
        largest_mps <= most,
        f"its speed reaches {largest_mps:.3g} m/s, expected at most {most:g}. Check the units",
        ImpossibleTripError,
    )
    driven_mps = np.interp(time_s, time_s[known], np.abs(speed_mps[known]))
    battery_wh = vehicle.battery_kwh * WH_PER_KWH
    used_wh = meter.used_wh(rows, time_s, battery_wh)
    steps_m = (driven_mps[1:] + driven_mps[:-1]) / 2 * np.diff(time_s)
    along = np.degrees(np.append(0.0, np.cumsum(steps_m)) / EARTH_M)  # as on a straight way
    pieces = cut(
        time_s,
        along,
        np.zeros(len(along)),
        used_wh,
        battery_wh=battery_wh,
        gap_s=POWER_GAP_S if meter.kind == "power" else GAP_S,
    )
    return [(rows[each.rows], driven_mps[each.rows]) for each in pieces]


def _total(
    name: str,
    rows: IntArray,
    time_s: FloatArray,
    driven_mps: FloatArray,
    car: str,
    log: Log,
    meter: Meter,
    setting: Setting,
) -> MeasuredTrip:
    """Return the total of a part of a trip.

    Parameters
    ----------
    name, car
        Names of the trip and of its car.
    rows, time_s, driven_mps
        (k,) its rows, their times, s, and speeds, m/s.
    log, meter, setting
        The log, its meter, and the vehicle.

    Raises
    ------
    ImpossibleTripError
        If it is too short, has fewer than two readings of energy, or an impossible energy.
    """
    vehicle = setting.vehicle
    battery_wh = vehicle.battery_kwh * WH_PER_KWH
    used_wh = meter.used_wh(rows, time_s, battery_wh)
    read = np.flatnonzero(np.isfinite(used_wh))
    require(len(read) > 1, "fewer than two rows have a reading of energy", ImpossibleTripError)
    inside = slice(read[0], read[-1] + 1)
    rows, time_s, driven_mps = rows[inside], time_s[inside], driven_mps[inside]
    steps_m = (driven_mps[1:] + driven_mps[:-1]) / 2 * np.diff(time_s)
    length_m, energy_wh = float(steps_m.sum()), rise(used_wh)
    require(
        length_m >= SHORTEST_M, f"it is {length_m:.0f} m long by its speeds", ImpossibleTripError
    )
    read_of = readings({each: log.numbers(each) for each in AT_DEPARTURE}, rows).values
    known = _conditions(read_of, float(time_s[0]))
    loaded = known.load(vehicle)
    doubt = energy_doubt([np.array([energy_wh])], [length_m], np.nan, np.nan)
    require(not doubt, doubt, ImpossibleTripError)
    lines = RoadLines.unplaced(
        f"total of {name}", length_m, float(time_s[-1] - time_s[0]), setting.network.crs
    )
    record = TripRecord(
        lines,
        np.zeros(1),
        np.zeros(1),
        np.array([steady_wh(loaded, time_s, driven_mps)]),
        speed_terms(vehicle, time_s, driven_mps, known),
        setting.vehicle_numbers,
    )
    unknown_wh = RISE_M * weight_wh_per_m(vehicle)
    return MeasuredTrip(
        name,
        np.array([setting.network.n_edges]),
        np.array([energy_wh]),
        np.array([np.nan]),
        departed_s=float(time_s[0]),
        whole=True,
        known_variance_wh2=meter.variance_wh2(battery_wh) + unknown_wh**2,
        car=car,
        record=record,
        **read_of,
    )


def _conditions(read: dict[str, float], departed_s: float) -> DrivingConditions:
    """Return the conditions of a trip by its readings. Implausible ones are unknown."""
    plausible = {
        name: value if LIMITS[name].low <= value <= LIMITS[name].high else np.nan
        for name, value in read.items()
    }
    read.update(plausible)
    given = {name: None if np.isnan(value) else value for name, value in plausible.items()}
    return DrivingConditions(
        temperature_c=given["temperature_c"],
        payload_kg=given["payload_kg"] or 0.0,
        auxiliary_w=given["auxiliary_w"],
        departed_s=departed_s,
        parked_minutes=given["parked_minutes"],
    )


READER = Reader(
    about="A row for each moment with a speed and a meter, without positions: totals of trips.",
    log=columns_reader(COLUMNS),
    trips=read_totals,
    has_routes=False,
)
