"""Tables with a row for each edge driven.

Columns: trip, edge (the network's own ids, in driving order), energy_wh or energy_kwh. Optional are
time (when the edge was entered), travel_s, departed_s (of the trip, used where there is no time),
vehicle, car, known_variance_wh2 (of the meter, one value a trip), and of the day soc_percent
(charge when the edge was entered), auxiliary_w, temperature_c and payload_kg. Of a trip that begins
or ends inside an edge start_m and end_m are the metres along its first and its last edge, one value
a trip. Energies and times of these edges are for the parts driven.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray, IntArray
from evroute.learning.gate import admit, readings
from evroute.learning.measured import (
    AT_DEPARTURE,
    ImpossibleTripError,
    Measured,
    MeasuredTrip,
    car_of,
    check_times,
)
from evroute.learning.readers.base import Reader, columns_reader
from evroute.learning.readers.clocks import since_1970
from evroute.learning.readers.table import Log, check_columns, first_rows, repeats_note, trips_of
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork

ONCE = (*AT_DEPARTURE, "auxiliary_mean_w", "known_variance_wh2")
"""Columns of which a trip keeps one number."""
PLACES = ("start_m", "end_m")
"""Columns of the metres along the first and the last edge."""
COLUMNS = (
    "trip",
    "edge",
    "time",
    "energy_wh",
    "travel_s",
    "departed_s",
    "vehicle",
    "car",
    *ONCE,
    *PLACES,
)


def read_edges(log: Log, setting: Setting, vehicle_names: Sequence[str]) -> Measured:
    """Return the trips of a log with a row for each edge.

    Parameters
    ----------
    log
        Table with `COLUMNS`.
    setting
        Network and vehicle of the trips.
    vehicle_names
        Names of the setting's vehicle in the column ``vehicle``. Trips of others are set aside.

    Raises
    ------
    EvrouteError
        If a column is missing.
    """
    path, table = log.path, log.table
    check_columns(path, table.column_names, ("trip", "edge", "energy_wh"))
    edge_id = table["edge"].to_pylist()
    energy_wh, travel_s = log.numbers("energy_wh"), log.numbers("travel_s")
    time_s = (
        since_1970(path, table["time"].to_pylist(), setting.network)
        if "time" in log.columns
        else None
    )
    departures_s = log.numbers("departed_s") if time_s is None else time_s
    of_day = {name: log.numbers(name) for name in ONCE}
    ends_m = [log.numbers(name) for name in PLACES]
    measured, repeats = Measured(), 0
    for trip, all_rows in trips_of(path, table):
        try:
            car = car_of(table, all_rows, vehicle_names)
            edges = _rows_of(setting.network, [edge_id[row] for row in all_rows])
        except ImpossibleTripError as error:
            measured.skipped[trip] = str(error)
            continue
        if setting.network.has_turns(edges).all():
            rows = all_rows
        else:
            once = _once(table.take(all_rows), edges, setting.network)
            rows, edges = all_rows[once], edges[once]
            repeats += len(all_rows) - len(rows)
        driven_s, departed_s = travel_s[rows], float(departures_s[rows[0]])
        if time_s is not None:
            try:
                driven_s = _travel(driven_s, time_s[rows])
            except ImpossibleTripError as error:
                measured.unknown.setdefault("time", {})[trip] = str(error)
                departed_s = np.nan
        read = readings(of_day, rows)
        found = MeasuredTrip(
            trip, edges, energy_wh[rows], driven_s, departed_s, car=car, **read.values
        )
        start_m, end_m = (first_number(column[rows]) for column in ends_m)
        found = replace(found, start_m=float(np.nan_to_num(start_m)), end_m=end_m)
        admit(measured, found, setting, read.ignored)
    if repeats:
        measured.notes.append(repeats_note(repeats))
    return measured


def _once(rows: pa.Table, edges: IntArray, network: RoadNetwork) -> IntArray:
    """Return the rows that equal no earlier one if these are a route, or else all rows, (k,).

    They are asked for where all rows are no route: a road may be driven twice with equal energies.
    """
    once = first_rows(rows)
    return once if network.has_turns(edges[once]).all() else np.arange(len(edges))


def first_number(values: FloatArray) -> float:
    """Return the first number of a column (k,), or NaN if there is none."""
    return float(next(iter(values[np.isfinite(values)]), np.nan))


def _rows_of(network: RoadNetwork, ids: Sequence[Any]) -> IntArray:
    if unknown := [each for each in ids if each not in network.row_of]:
        raise ImpossibleTripError(f"network '{network.name}' has no edge '{unknown[0]}'")
    return np.array([network.row_of[each] for each in ids])


def _travel(travel_s: FloatArray, times: FloatArray) -> FloatArray:
    """Return the given travel times, or the differences of entry times with NaN for the last."""
    check_times(times)
    return np.where(np.isfinite(travel_s), travel_s, np.append(np.diff(times), np.nan))


READER = Reader(
    about="A row for each edge driven, with its energy.",
    log=columns_reader(COLUMNS),
    trips=read_edges,
    accepts=lambda headers: True,  # a table that no other format accepts
)
