"""The greatest charge along a route: a car gains no more than the potential energy that it loses.

Forecasts are distributions without a bound, so that the upper end of a band may lie above the
charge at the start where the route never descends.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.longitudinal import potential_wh
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.forecast import ChargeForecast


def greatest_charge_wh(
    network: RoadNetwork,
    vehicle: Vehicle,
    driven: Stretches,
    battery: Battery,
    stops: Sequence[ChargingStop] = (),
) -> FloatArray:
    """Return an upper bound of the charge at the start and after each edge, (k + 1,) Wh.

    A trip begins and ends at rest. Rolling, air and auxiliaries only take energy, so that the
    battery gains at most the potential energy between the start and a place below it, plus the
    charge at stops. A wind from behind is left out.

    Parameters
    ----------
    network
        The roads.
    vehicle
        The vehicle with its payload.
    driven
        The k parts of edges in driving order.
    battery
        Charge at the start.
    stops
        Stops to charge.
    """
    _, climb_m, place = driven.pieces(network)
    reached_m: FloatArray = np.zeros(len(driven))
    np.add.at(reached_m, place, climb_m)
    reached_m = np.cumsum(reached_m)
    most_wh = np.append(0.0, np.maximum(-potential_wh(vehicle, reached_m), 0.0))
    for stop in stops:
        most_wh[stop.after_edges + 1 :] += stop.energy_wh
    return battery.start_wh + most_wh


def bounded(
    forecast: ChargeForecast, most_wh: FloatArray, expected_wh: FloatArray, battery: Battery
) -> ChargeForecast:
    """Return a forecast whose band ends at the greatest charge, or at the expected one above it.

    Its probabilities stay: they are about charges below the start.

    Parameters
    ----------
    forecast
        Forecast of the charge along the route.
    most_wh, expected_wh
        (k + 1,) greatest and expected charge, Wh.
    battery
        Usable capacity.
    """
    ends = np.maximum(most_wh, expected_wh) / battery.capacity_wh * 100
    band = np.minimum(forecast.band_percent, ends[:, np.newaxis])
    return replace(
        forecast,
        band_percent=band,
        arrival_interval_percent=(float(band[-1, 0]), float(band[-1, 1])),
    )
