"""Charging: the time to charge by state of charge, from the car's powers and a socket's.

The power is the smaller of the car's and the socket's. A car draws its AC power at any charge. Its
DC power follows its charging curve, or `DEFAULT_CURVE` times its DC power where that is unknown.
Losses of charging are left out: powers are those into the battery.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.vehicle import Vehicle, check_curve

DEFAULT_CURVE = ((0, 0.97), (40, 0.94), (60, 0.70), (80, 0.48), (90, 0.30), (100, 0.12))
"""Charge in %, and share of the DC power: medians of the 113 published curves of open-ev-data."""
AC_SOCKETS = ("ac", "household")
"""Sockets that every car with AC power can use; a household one through a cable of its own."""


def charging_s(vehicle: Vehicle, socket: str, socket_kw: float) -> FloatArray | None:
    """Return the time from empty to each whole per cent of charge, (101,) s.

    Parameters
    ----------
    vehicle
        The car.
    socket
        One of `network.chargers.SOCKETS`.
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
        curve: tuple[tuple[float, float], ...] = ((0.0, vehicle.ac_kw), (100.0, vehicle.ac_kw))
    elif socket == vehicle.dc_plug and vehicle.dc_kw:
        dc_kw = vehicle.dc_kw
        curve = vehicle.charging_curve or tuple((at, dc_kw * part) for at, part in DEFAULT_CURVE)
        check_curve(f"vehicle '{vehicle.name}':", curve)
    else:
        return None
    at, kw = np.array(curve, dtype=float).T
    with np.errstate(divide="ignore", invalid="ignore"):
        limited = at[:-1] + (socket_kw - kw[:-1]) * np.diff(at) / np.diff(kw)
    inside = limited[(limited > at[:-1]) & (limited < at[1:])]
    percent = np.unique(np.concatenate([np.arange(101.0), at, inside]))
    drawn_kw = np.minimum(np.interp(percent, at, kw), socket_kw)
    # power is linear between these points: the mean of its reciprocal is that of a logarithm
    low_kw, rise_kw = drawn_kw[:-1], np.diff(drawn_kw)
    flat = np.abs(rise_kw) < 1e-9 * low_kw
    per_kw = np.log1p(rise_kw / low_kw) / np.where(flat, 1.0, rise_kw)
    hours = np.diff(percent) / 100 * vehicle.battery_kwh * np.where(flat, 1 / low_kw, per_kw)
    time_s = np.concatenate([[0.0], np.cumsum(3600 * hours)])
    return np.asarray(np.interp(np.arange(101.0), percent, time_s), dtype=np.float64)
