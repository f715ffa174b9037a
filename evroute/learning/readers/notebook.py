"""Notebooks with a row for each trip and no route.

Columns: trip, from, to (names, ``"lat,lon"`` or edge ids), departed, soc_start, soc_end (% of the
usable battery). Optional are odometer_km (length of the trip), vehicle, car, auxiliary_w,
temperature_c and payload_kg. A trip stands for its plausible routes, on average: the routes of
about the length by the odometer or, without one, of about the time of the fastest. The spread of
their energies by eq. 8 is part of its known variance.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, NoRouteError, require
from evroute.learning.gate import WH_PER_KWH, admit, readings
from evroute.learning.measured import (
    AT_DEPARTURE,
    ImpossibleTripError,
    Measured,
    MeasuredTrip,
    car_of,
)
from evroute.learning.readers.base import Reader, columns_reader
from evroute.learning.readers.clocks import since_1970
from evroute.learning.readers.headers import recognised
from evroute.learning.readers.meters import Meter, by_catalogue, display_step
from evroute.learning.readers.table import Log, check_columns
from evroute.methods.setting import Setting
from evroute.planning.places import stops

ENDS = ("from", "to", "departed", "soc_start", "soc_end")
COLUMNS = ("trip", *ENDS, "odometer_km", "vehicle", "car", *AT_DEPARTURE)
CLOSE = 0.15
"""Share by which the length or time of a plausible route may differ."""
DETOURS = 4
DETOUR_FACTOR = 1.4
"""Factor on the time of roads of earlier routes, in the search for another route."""


def read_notebook(log: Log, setting: Setting, vehicle_names: Sequence[str]) -> Measured:
    """Return the trips of a notebook.

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
    table = log.table
    check_columns(log.path, table.column_names, ("trip", *ENDS))
    start, end = (log.numbers(name) for name in ("soc_start", "soc_end"))
    meter = Meter("charge", start, display_step(np.concatenate([start, end])))
    battery_wh = setting.vehicle.battery_kwh * WH_PER_KWH
    departed_s = since_1970(log.path, table["departed"].to_pylist(), setting.network)
    odometer_km = log.numbers("odometer_km")
    of_day = {name: log.numbers(name) for name in AT_DEPARTURE} | {"soc_percent": start}
    measured = Measured(notes=[by_catalogue(setting.vehicle)])
    for row, line in enumerate(table.to_pylist()):
        name = line["trip"] or f"row {row + 1}"
        try:
            car = car_of(table, np.array([row]), vehicle_names)
            if not (0 <= start[row] <= 100 and 0 <= end[row] <= 100):
                raise ImpossibleTripError(
                    f"it needs charges at both ends within 0..100 %, not {start[row]:g} and "
                    f"{end[row]:g} %"
                )
            day: dict[str, Any] = readings(of_day, np.array([row])).values
            routes = plausible_routes(setting, line["from"], line["to"], float(odometer_km[row]))
            trip = MeasuredTrip(
                name,
                routes[0],
                _shared((start[row] - end[row]) / 100 * battery_wh, routes[0], setting),
                np.full(len(routes[0]), np.nan),
                float(departed_s[row]),
                known_variance_wh2=meter.variance_wh2(battery_wh),
                car=car,
                **day,
            )
        except EvrouteError as error:
            measured.skipped[name] = str(error)
        else:
            admit(measured, _averaged(trip, routes, setting), setting)
    return measured


def plausible_routes(
    setting: Setting, origin: str, destination: str, odometer_km: float = np.nan
) -> list[IntArray]:
    """Return the routes that a trip may have taken, the fastest first.

    Parameters
    ----------
    setting
        Network and vehicle.
    origin, destination
        Names, ``"lat,lon"`` or edge ids.
    odometer_km
        Length of the trip, km, or NaN if unknown.

    Raises
    ------
    EvrouteError
        If a place is unknown, no way leads between them, or no route is as long as the odometer
        shows.
    """
    network = setting.network
    ends = stops(network, None, (origin, destination))
    require(
        ends[0] != ends[1], "it starts and ends on one edge, so its route is unknown", NoRouteError
    )
    jammed_s = network.time_s.copy()
    weights = [network.time_s, network.length_m]
    weights += [jammed_s] * DETOURS
    found = {}
    for weight in weights:
        edge = setting.search.route(weight, *ends).rows
        found[edge.tobytes()] = edge
        jammed_s[edge] *= DETOUR_FACTOR
    routes = list(found.values())
    measure, wanted = network.length_m, odometer_km * 1000.0
    if np.isnan(odometer_km):
        measure, wanted = network.time_s, float(network.time_s[routes[0]].sum())
    close = [edge for edge in routes if abs(measure[edge].sum() - wanted) <= CLOSE * wanted]
    require(close, f"no plausible route between its ends is {odometer_km:g} km long", NoRouteError)
    return close


def _shared(energy_wh: float, edge: IntArray, setting: Setting) -> FloatArray:
    """Return an energy shared out over edges (k,) by their lengths, (k,) Wh."""
    length_m = setting.network.length_m[edge]
    return energy_wh * length_m / float(length_m.sum())


def _averaged(trip: MeasuredTrip, routes: Sequence[IntArray], setting: Setting) -> MeasuredTrip:
    """Return a trip that stands for several routes."""
    expected_wh = [float(setting.arms.prior_mean_wh[route].sum()) for route in routes]
    edge = np.concatenate(routes)
    return replace(
        trip,
        edge=edge,
        energy_wh=_shared(float(trip.energy_wh.sum()), edge, setting),
        travel_s=np.full(len(edge), np.nan),
        known_variance_wh2=trip.known_variance_wh2 + float(np.var(expected_wh)),
        routes=len(routes),
        whole=True,
    )


READER = Reader(
    about="A row for each trip, with its ends and the charge at both.",
    log=columns_reader(COLUMNS),
    trips=read_notebook,
    accepts=lambda headers: recognised(headers, COLUMNS).keys() >= {"soc_start", "soc_end"},
    has_routes=False,
)
