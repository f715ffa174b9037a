"""Road load from a table of consumption at steady speeds on a level road.

At speed v a vehicle takes ``(m g c_r + rho A c_w v² / 2) / eta_p + P_aux / v`` per metre (eq. 8).
Rolling resistance and drag are the least-squares fit of the relative differences, both positive. So
a vehicle of a table climbs, carries loads and meets wind as every other.
"""

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2
from evroute.errors import EvrouteError
from evroute.validation.invalid import first_problem

MPS_PER_KMH = 1 / 3.6
WORST = 0.15
"""Largest relative difference between a table and its fit."""


class _Table(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    consumption: list[tuple[float, float]] = Field(min_length=2)
    mass_kg: float = Field(strict=True, gt=0)
    front_m2: float = Field(strict=True, gt=0)
    propulsion_efficiency: float = Field(strict=True, gt=0, le=1)
    auxiliary_w: float = Field(strict=True, ge=0)


def road_load_of(consumption: Any, numbers: dict[str, Any], where: str) -> tuple[float, float]:
    """Return the coefficients of rolling resistance and drag that explain a table.

    Parameters
    ----------
    consumption
        Pairs of a speed, km/h, and the energy from the battery at that speed, Wh/km, at least two.
    numbers
        Other numbers of the vehicle: mass, frontal area, propulsion efficiency, auxiliary power.
    where
        Name of the file, for messages.

    Raises
    ------
    EvrouteError
        If the table has fewer than two points, its speeds do not rise, a number is missing, or no
        road load explains it within 15 %.
    """
    from scipy.optimize import nnls

    known = ("mass_kg", "front_m2", "propulsion_efficiency", "auxiliary_w")
    given = {name: numbers[name] for name in known if name in numbers}
    try:
        table = _Table(consumption=consumption, **given)
    except ValidationError as error:
        raise EvrouteError(f"{where} {first_problem(error)}") from None
    kmh, wh_per_km = np.array(table.consumption).T
    if not ((np.diff(kmh) > 0).all() and kmh[0] > 0 and (wh_per_km > 0).all()):
        raise EvrouteError(
            f"{where} consumption: speeds (km/h) must rise from above 0 and Wh/km be positive"
        )
    speed_mps = kmh * MPS_PER_KMH
    rolling = np.full(len(kmh), table.mass_kg * GRAVITY_MPS2)
    drag = 0.5 * AIR_DENSITY_KGPM3 * table.front_m2 * speed_mps**2
    per_wh_per_km = table.propulsion_efficiency * 3.6  # 1 N is 1 J/m, 1 / 3.6 Wh/km
    terms = np.column_stack([rolling, drag]) / per_wh_per_km / wh_per_km[:, None]
    left = 1 - table.auxiliary_w / kmh / wh_per_km
    coefficients, _ = nnls(terms, left)
    difference = terms @ coefficients - left
    worst = abs(difference).argmax()
    if abs(difference[worst]) > WORST or not coefficients.all():
        raise EvrouteError(
            f"{where} consumption: no rolling resistance and drag explain it (off by "
            f"{100 * difference[worst]:+.0f} % at {kmh[worst]:g} km/h). Check the table, mass_kg "
            "and auxiliary_w"
        )
    return float(coefficients[0]), float(coefficients[1])
