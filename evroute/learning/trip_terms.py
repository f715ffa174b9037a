"""Terms of a trip's energy: what each coefficient of the trip belief multiplies, and its prior.

=====================  ==========================================  ===================  ===
term                   per edge                                    prior mean           std
=====================  ==========================================  ===================  ===
km                     length                                      ``m g Cr/eta_p/3.6``  30
metres up              ``max(dz, 0)``                              ``m g/eta_p/3600``    1
metres down            ``min(dz, 0)``                              ``m g eta_r/3600``    1
minutes                length * pace                               ``P_aux/60``          6
drag                   ``½ rho Cd A length v²``, Wh                ``1/eta_p``           0.4
full battery           ``-max(s - s0, 0)/10 * min(m, 0)``, Wh      0                     0.5
auxiliary power        ``(P - P_aux) * minutes``, Wh               1                     0.5
stops and turns        energy of stops and turns, Wh               1                     0.3
=====================  ==========================================  ===================  ===

All terms are sums over edges, so a search can use them. ``m`` is the prior mean of the edge's
energy, ``s`` the charge in percent and ``s0`` the charge above which recuperation fades; the
coefficient of that term is the share of recuperation lost per 10 % above ``s0``.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.longitudinal import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.learning.trip_regression import CoefficientPrior

NAMES = (
    "km",
    "metres up",
    "metres down",
    "minutes",
    "drag",
    "full battery",
    "auxiliary power",
    "stops and turns",
)
UNITS = ("Wh/km", "Wh/m", "Wh/m", "Wh/min", "", "per 10 %", "", "")
PRIOR_STD = (30.0, 1.0, 1.0, 6.0, 0.4, 0.5, 0.5, 0.3)
KM, UP, DOWN, MINUTES, DRAG, FADE, AUXILIARY, STOPS = range(8)

FULL_BATTERY_PERCENT = 85.0
SPEED_MPS = (1.0, 40.0)
"""Range of the speeds that enter the drag term, m/s."""


def coefficient_prior(
    vehicle: Vehicle, *, full_battery_fade: float = 0.0, stops: bool = False
) -> CoefficientPrior:
    """Return the prior of the coefficients of a vehicle, and the cone of physical coefficients.

    The cone: km, minutes and drag at least 0; ``0 <= metres down <= metres up``; fade at least 0.

    Parameters
    ----------
    vehicle
        Mass, resistances, efficiencies, auxiliary power.
    full_battery_fade
        Prior mean of the share of recuperation lost per 10 % of charge above the threshold.
    stops
        Whether the eighth term, the energy of stops and turns, is included.
    """
    weight_n = vehicle.mass_kg * GRAVITY_MPS2
    p = len(NAMES) if stops else STOPS
    mean = [
        weight_n * vehicle.rolling / vehicle.propulsion_efficiency / 3.6,
        weight_n / vehicle.propulsion_efficiency / J_PER_WH,
        weight_n * vehicle.recuperation_efficiency / J_PER_WH,
        vehicle.auxiliary_w / 60.0,
        1.0 / vehicle.propulsion_efficiency,
        full_battery_fade,
        1.0,
        1.0,
    ]
    cone = np.zeros((6, p))
    cone[np.arange(5), [KM, MINUTES, DRAG, FADE, DOWN]] = 1.0
    cone[5, [UP, DOWN]] = 1.0, -1.0
    return CoefficientPrior(np.array(mean[:p]), np.array(PRIOR_STD[:p]), cone)


def edge_terms(
    vehicle: Vehicle,
    *,
    length_m: FloatArray,
    up_m: FloatArray,
    down_m: FloatArray,
    pace_spm: FloatArray,
    mean_wh: FloatArray,
    soc_percent: FloatArray | float = np.nan,
    auxiliary_w: float = np.nan,
    full_battery_percent: float = FULL_BATTERY_PERCENT,
    stops_wh: FloatArray | None = None,
) -> FloatArray:
    """Return the terms of edges, (k, 7) or (k, 8); a trip's row is their sum over its edges.

    Parameters
    ----------
    vehicle
        Drag coefficient, frontal area and auxiliary power.
    length_m
        (k,) length as driven, m.
    up_m, down_m
        (k,) height gained, at least 0, and height lost, at most 0, m.
    pace_spm
        (k,) expected travel time per metre, s/m.
    mean_wh
        (k,) prior mean of each edge's energy, Wh; its negative part can be lost to a full battery.
    soc_percent
        (k,) charge at the start of each edge, or one charge for all, %; the full-battery term is 0
        where it is NaN (unknown).
    auxiliary_w
        Auxiliary power known at departure, W; its term is 0 where it is NaN (unknown).
    full_battery_percent
        Charge above which recuperation fades, %.
    stops_wh
        (k,) energy of stops and turns, Wh; the eighth term is left out without it.
    """
    minutes = length_m * pace_spm / 60.0
    speed_mps = np.clip(1.0 / pace_spm, *SPEED_MPS)
    area = 0.5 * AIR_DENSITY_KGPM3 * vehicle.drag * vehicle.front_m2
    excess = np.nan_to_num(np.maximum(np.asarray(soc_percent) - full_battery_percent, 0.0)) / 10.0
    extra_w = np.nan_to_num(auxiliary_w - vehicle.auxiliary_w)
    columns = [
        length_m / 1000.0,
        up_m,
        down_m,
        minutes,
        area * length_m * speed_mps**2 / J_PER_WH,
        -excess * np.minimum(mean_wh, 0.0),
        extra_w * minutes / 60.0,
    ]
    return np.column_stack(columns if stops_wh is None else [*columns, stops_wh])


def potential_slope(coefficients: FloatArray, weight_wh_per_m: float) -> float:
    """Return the slope of the search's potential, Wh per metre of height.

    It is the vehicle's weight, held between the coefficients of metres down and metres up, so that
    no edge costs less than its change of potential.
    """
    return float(np.clip(weight_wh_per_m, coefficients[DOWN], coefficients[UP]))
