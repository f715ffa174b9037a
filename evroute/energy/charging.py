"""Charging: the time to charge by state of charge, from the car's powers and a socket's.

The car draws the smaller one of its power and the socket's. At a DC socket all of it enters the
battery. At an AC socket the on-board charger and the control units lose a part: the battery gets
`AC_SHARE` of the power from the wall less `AC_CONSTANT_KW`. The battery never takes more than its
charging curve allows, so AC charging tapers near full too. The curve is the car's own, or
`DEFAULT_CURVE` times its DC power where that is unknown. A car without DC has no such limit.
"""

from typing import TypeVar

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle, check_curve

DEFAULT_CURVE = ((0, 0.97), (40, 0.94), (60, 0.70), (80, 0.48), (90, 0.30), (100, 0.12))
"""Charge in %, and share of the DC power: medians of the 113 published curves of open-ev-data."""
AC_SOCKETS = ("ac", "household")
"""Sockets that every car with AC power can use; a household one through a cable of its own."""
AC_SHARE, AC_CONSTANT_KW = 0.94, 0.24
"""Line through the mean losses of four cars at 2.3 kW (16.4 %) and at 11 kW (8.2 %), ADAC 2022."""

Number = TypeVar("Number", float, FloatArray)
Curve = tuple[tuple[float, float], ...]


def charging_s(vehicle: Vehicle, socket: str, socket_kw: float) -> FloatArray | None:
    """Return the time from empty to each whole per cent of charge, (101,) s.

    Parameters
    ----------
    vehicle
        The car.
    socket
        One of `network.sources.charger_files.SOCKETS`.
    socket_kw
        Largest power of the socket, kW.

    Returns
    -------
    time_s
        None if the car has no plug for the socket.

    Raises
    ------
    EvrouteError
        If the charging curve does not cover 0 to 100 %, or has a power that is not positive.
    """
    if socket in AC_SOCKETS and vehicle.ac_kw:
        most_kw = AC_SHARE * min(socket_kw, vehicle.ac_kw) - AC_CONSTANT_KW
        curve = _curve(vehicle) if vehicle.dc_kw else ((0.0, most_kw), (100.0, most_kw))
    elif socket == vehicle.dc_plug and vehicle.dc_kw:
        most_kw, curve = socket_kw, _curve(vehicle)
    else:
        return None
    return _time_s(curve, most_kw, vehicle.battery_kwh) if most_kw > 0 else None


def wall_wh(socket: str, energy_wh: Number, time_s: Number) -> Number:
    """Return the energy that charges take from the wall, Wh: the one that is paid for.

    Parameters
    ----------
    socket
        One of `network.sources.charger_files.SOCKETS`.
    energy_wh
        Energy into the battery, Wh: a number, or (...).
    time_s
        Time for which the car charges, s; likewise.
    """
    if socket not in AC_SOCKETS:
        return energy_wh
    return (energy_wh + 1000 * AC_CONSTANT_KW * time_s / 3600) / AC_SHARE


def _curve(vehicle: Vehicle) -> Curve:
    """Return the greatest power that the battery takes by charge: (%, kW) in rising order."""
    dc_kw = vehicle.dc_kw or 0.0
    curve = vehicle.charging_curve or tuple((at, dc_kw * part) for at, part in DEFAULT_CURVE)
    check_curve(f"vehicle '{vehicle.name}':", curve)
    return curve


def _time_s(curve: Curve, most_kw: float, battery_kwh: float) -> FloatArray:
    """Return the time from empty to each whole per cent on a curve cut at a power, (101,) s."""
    at, kw = np.array(curve, dtype=float).T
    with np.errstate(divide="ignore", invalid="ignore"):
        limited = at[:-1] + (most_kw - kw[:-1]) * np.diff(at) / np.diff(kw)
    inside = limited[(limited > at[:-1]) & (limited < at[1:])]
    percent = np.unique(np.concatenate([np.arange(101.0), at, inside]))
    drawn_kw = np.minimum(np.interp(percent, at, kw), most_kw)
    # power is linear between these points: the mean of its reciprocal is that of a logarithm
    low_kw, rise_kw = drawn_kw[:-1], np.diff(drawn_kw)
    flat = np.abs(rise_kw) < 1e-9 * low_kw
    per_kw = np.log1p(rise_kw / low_kw) / np.where(flat, 1.0, rise_kw)
    hours = np.diff(percent) / 100 * battery_kwh * np.where(flat, 1 / low_kw, per_kw)
    time_s = np.concatenate([[0.0], np.cumsum(3600 * hours)])
    return np.asarray(np.interp(np.arange(101.0), percent, time_s), dtype=np.float64)
