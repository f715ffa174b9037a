"""Consumption of a car by outside temperature and by speed, with its trips as points (altair)."""

from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.usual import Consumption, Usual
from evroute.network.road_network import RoadNetwork
from evroute.report.extras import alt, inline, pd

TEMPERATURES_C: FloatArray = np.arange(-15.0, 36.0, 2.5)
SHORTEST_KM = 1.0
"""Trips below this length are no points: their consumption is mostly noise."""
BAND_SD = 1.645
"""Deviations of a 90 % band."""
_LINE, _POINT = "#0072b2", "#555555"
_WIDTH, _HEIGHT = 290, 220


def trip_points(trips: Sequence[MeasuredTrip], network: RoadNetwork) -> "pd.DataFrame":
    """Return consumption, temperature and mean speed of measured trips on one route, as driven.

    Parameters
    ----------
    trips
        Measured trips on the network.
    network
        Its roads.

    Returns
    -------
    pandas.DataFrame
        ``trip``, ``km``, ``wh_per_km``, ``temperature_c`` and ``speed_kmh``, or NaN where unknown.
    """
    rows = []
    for trip in trips:
        if trip.routes > 1 or trip.record is not None:
            continue
        driven_m = trip.share(network.length_m) * network.length_m[trip.edge]
        km = float(driven_m.sum()) / 1000.0
        if km < SHORTEST_KM:
            continue
        measured = np.isfinite(trip.travel_s)
        timed_m = float(driven_m[measured].sum())
        speed_kmh = np.nan
        if timed_m > 500.0 * km:  # on at least half of the way
            speed_kmh = 3.6 * timed_m / float(trip.travel_s[measured].sum())
        rows.append(
            {
                "trip": trip.trip,
                "km": km,
                "wh_per_km": float(trip.energy_wh.sum()) / km,
                "temperature_c": trip.temperature_c,
                "speed_kmh": speed_kmh,
            }
        )
    columns = ["trip", "km", "wh_per_km", "temperature_c", "speed_kmh"]
    return pd.DataFrame(rows, columns=columns)


def consumption_chart(usual: Usual, points: "pd.DataFrame") -> "alt.HConcatChart":
    """Draw the consumption of the usual trip by temperature and by speed, with trips as points.

    The line is the mean of the belief, the band its 90 % doubt. Single trips differ by their roads.

    Parameters
    ----------
    usual
        Usual trip of the car.
    points
        Trips, as `trip_points` returns them.
    """
    speeds = points["speed_kmh"].dropna()
    low, high = 0.6 * usual.speed_kmh, 1.5 * usual.speed_kmh
    if len(speeds):
        low, high = min(low, float(speeds.min())), max(high, float(speeds.max()))
    speed_kmh = np.linspace(low, high, 21)
    return alt.hconcat(
        _panel(
            TEMPERATURES_C,
            usual.by_temperature(TEMPERATURES_C.tolist()),
            points.dropna(subset="temperature_c"),
            ("temperature_c", "outside temperature (°C)"),
        ),
        _panel(
            speed_kmh,
            usual.by_speed(speed_kmh.tolist()),
            points.dropna(subset="speed_kmh"),
            ("speed_kmh", "mean speed, stops included (km/h)"),
        ),
        autosize="pad",
    )


def _panel(
    at: FloatArray, line: Consumption, points: "pd.DataFrame", axis: tuple[str, str]
) -> "alt.LayerChart":
    """Draw one quantity on the axis, with its column and title."""
    column, title = axis
    half = BAND_SD * line.std_wh
    curve = pd.DataFrame(
        {column: at, "mean": line.mean_wh, "low": line.mean_wh - half, "high": line.mean_wh + half}
    )
    x = alt.X(f"{column}:Q", title=title, scale=alt.Scale(zero=False, nice=False))
    y_title = "Wh per km"
    base = alt.Chart(inline(curve))
    band = base.mark_area(color=_LINE, opacity=0.2).encode(
        x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q"
    )
    mean = base.mark_line(color=_LINE).encode(x=x, y=alt.Y("mean:Q", title=y_title))
    dots = (
        alt.Chart(inline(points))
        .mark_point(filled=True, color=_POINT, opacity=0.6, size=30)
        .encode(
            x=x,
            y=alt.Y("wh_per_km:Q", title=y_title),
            tooltip=[
                alt.Tooltip("trip:N"),
                alt.Tooltip("wh_per_km:Q", title="Wh per km", format=".0f"),
                alt.Tooltip(f"{column}:Q", title=title, format=".0f"),
            ],
        )
    )
    layers = alt.layer(band, mean, dots)
    return layers.properties(width=_WIDTH, height=_HEIGHT)  # type: ignore[return-value]
