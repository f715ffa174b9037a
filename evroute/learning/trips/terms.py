"""Terms of a trip's energy: the factor of each coefficient of the trip belief, and its prior.

=====================  ==========================================  ===================  ===
term                   per edge                                    prior mean           std
=====================  ==========================================  ===================  ===
km                     length                                      ``m g Cr/eta_p/3.6``  25 %
metres up              sum of ``max(dz, 0)``                       ``m g/eta_p/3600``    10 %
metres down            sum of ``min(dz, 0)``                       ``m g eta_r/3600``    20 %
minutes                length * pace                               ``P_aux/60``          8
drag                   ``½ rho Cd A length v²``, Wh                ``1/eta_p``           20 %
full battery           ``-max(s - s0, 0)/10 * sum of min(m, 0)``   0                     0.5
auxiliary power        ``(P - P_aux) * minutes - heating``, Wh     1                     0.5
heating                ``max(T0 - T, 0) * minutes``                `energy.heating`      0.8
warm-up                0; see below                                `energy.heating`      12
cooling                ``max(T - T1, 0) * minutes``                `energy.heating`      1
level                  energy by the prior but for fading (`level`)  0                  0.06
stops and turns        driver's physics less all above, Wh         1                     0.3
=====================  ==========================================  ===================  ===

The last term exists where the driver's physics is on (`turn_prior` in free flow). It is a sum over
the start, the turns and the end of a route, at the speeds of the map, so the prior mean of a trip
is the energy of the driver's plan. Drag then is taken at the mean square of the speed.

Heating, warm-up and cooling are 0 where the temperature is unknown. An auxiliary power that is
known at departure includes them, so its term is less by their energy at the prior means: before any
trip the mean is that power. The warm-up is one number of a whole trip (`departed`).

All terms but the warm-up are sums over edges or turns, so a search can use them. The sums in the
table are over the pieces of an edge with one slope each: one piece where the network has no
profile. ``m`` is the prior mean of a piece's energy, Wh, ``s`` the charge in percent and ``s0`` the
charge above which recuperation fades. The coefficient of that term is the share of recuperation
lost per 10 % above ``s0``.

Single cars of a fleet deviate by two factors (`fleet.car_effects`): on the expected energy less the
change of potential, and on heating, warm-up and cooling.

Standard deviations are for one car. That of the minutes, and the noise of trips, are in proportion
to the vehicle's energy per km (`size`), 1 for a Nissan Leaf.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from evroute.arrays import FloatArray, IntArray, by_row
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.driving import DrivingConditions
from evroute.energy.heating import Heating, heating_coefficients, heating_deviations
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.level import STD
from evroute.learning.trips.regression import CoefficientPrior
from evroute.network.heights.pieces import summed
from evroute.network.road_network import RoadNetwork

NAMES = (
    "km",
    "metres up",
    "metres down",
    "minutes",
    "drag",
    "full battery",
    "auxiliary power",
    "heating",
    "warm-up",
    "cooling",
    "level",
    "stops and turns",
)
PRIOR_SHARES = (0.25, 0.1, 0.2, 0.0, 0.2)
"""Deviations of the first coefficients as shares of their means.

Rolling: the classes A to E of the EU's label of tyres span 6.5 to 10.5 kg/t (Regulation 2020/740),
16 % around 8, its resistance changes by 0.8 % per kelvin (ISO 28580), and four people are 15 % of
the mass. Climbs: the mass, of which a passenger is 5 % and four people are 15 %, and the efficiency
of propulsion. Descents: FASTSim's electric cars recuperate 82 to 87 %, the cars of the catalogue
65 %. Drag: roof boxes and open windows are 15 %, and speeds that differ by 10 % are 20 %.
"""
PRIOR_STD = (0.0, 0.0, 0.0, 8.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, STD, 0.3)
"""Deviations of the coefficients besides. Those of heating are in `energy.heating`.

Minutes, Wh, of a Leaf: the electronics of a Hyundai Ioniq 5 take 0.67 to 0.79 kW by its own meter,
7 to 9 Wh a minute more than the 250 W of the catalogue, which are of laboratories. The mean stays
the catalogue's: with 250, 400 and 700 W fastest plans of a Leaf, an e-Golf and an i3 in Luxembourg
take at most 1.16, 1.19 and 1.24 times the energy of standard cycles at their speed, and one
deviation is 480 W. It costs the Ioniq 5: the days of its log are 13.4 % off with 250 W and would be
10.6 % off with 700 W. Full battery and known power: ours. Stops and turns: the kinetic energy
braked away differs by 30 % between UDDS, the slow and the fast phases of WLTC
(docs/results/real-trips.md).
"""
KM, UP, DOWN, MINUTES, DRAG, FADE, AUXILIARY, HEATING, WARM_UP, COOLING = range(10)
LEVEL, TURNING = 10, 11
BY_TEMPERATURE = slice(HEATING, COOLING + 1)
"""Columns of heating, warm-up and cooling."""
NUMBERS = (KM, UP, DOWN, MINUTES, DRAG)
"""Terms that an edge has by itself. All others are combinations of them, and of its turn."""
LEAF_WH_PER_KM = 75.76
"""Energy of a Nissan Leaf of 40 kWh at 50 km/h (`size`)."""
SPEED_MPS = (1.0, 40.0)
"""Range of the speeds that enter the drag term, m/s."""


def coefficient_prior(vehicle: Vehicle, *, driving: bool = False) -> CoefficientPrior:
    """Return the prior of the coefficients of a vehicle, and the cone of physical coefficients.

    The cone: km, minutes, drag, fade, heating, warm-up, cooling, and stops and turns at least 0,
    and ``0 <= metres down <= metres up``, each with the level's share of its prior mean. The
    coefficient of stops and turns exists if ``driving``.
    """
    weight_n = vehicle.mass_kg * GRAVITY_MPS2
    mean = [
        weight_n * vehicle.rolling / vehicle.propulsion_efficiency / 3.6,
        weight_n / vehicle.propulsion_efficiency / J_PER_WH,
        weight_n * vehicle.recuperation_efficiency / J_PER_WH,
        vehicle.auxiliary_w / 60.0,
        1.0 / vehicle.propulsion_efficiency,
        vehicle.full_battery_fade,
        1.0,
        *heating_coefficients(vehicle).tolist(),
        0.0,
        1.0,
    ]
    std = np.array(PRIOR_STD)
    std[MINUTES] *= size(vehicle)
    std[BY_TEMPERATURE] = heating_deviations(vehicle)
    std[: DRAG + 1] += np.array(PRIOR_SHARES) * mean[: DRAG + 1]
    positive = [KM, MINUTES, DRAG, FADE, DOWN, HEATING, WARM_UP, COOLING]
    cone = np.zeros((len(positive) + 2, len(NAMES)))
    cone[np.arange(len(positive)), positive] = 1.0
    cone[-2, [UP, DOWN]] = 1.0, -1.0
    cone[-1, TURNING] = 1.0
    p = TURNING + driving
    multiplied = np.array(mean)
    multiplied[[FADE, LEVEL]] = 0.0
    cone[:, LEVEL] = cone @ multiplied
    return CoefficientPrior(
        np.array(mean[:p]),
        std[:p],
        cone[: len(positive) + 1 + driving, :p],
        names=NAMES[:p],
        level=LEVEL,
        multiplied=multiplied[:p],
        metered=BY_TEMPERATURE,
        by_car=partial(weights_of_cars, weight_wh_per_m(vehicle)),
    )


def weights_of_cars(weight_wh_per_m: float, coefficients: FloatArray) -> FloatArray:
    """Return the coefficients that a car deviates by, times a factor each, (p, 2).

    The first column is the energy without the change of potential, which no edge has below 0. The
    second is heating, warm-up and cooling.

    Parameters
    ----------
    weight_wh_per_m
        Weight of the vehicle, Wh per metre.
    coefficients
        (p,) shared coefficients with the level's share, in the cone of physical ones.
    """
    weights = np.zeros((len(coefficients), 2))
    weights[:, 0] = coefficients
    weights[[FADE, LEVEL], 0] = 0.0
    weights[[UP, DOWN], 0] -= potential_slope(coefficients, weight_wh_per_m)
    weights[BY_TEMPERATURE, 1] = coefficients[BY_TEMPERATURE]
    return weights


def size(vehicle: Vehicle) -> float:
    """Return the energy of a vehicle per km at 50 km/h on the level in multiples of a Leaf's."""
    speed_mps = 50.0 / 3.6
    drag_n = 0.5 * AIR_DENSITY_KGPM3 * vehicle.drag * vehicle.front_m2 * speed_mps**2
    force_n = vehicle.mass_kg * GRAVITY_MPS2 * vehicle.rolling + drag_n
    rolled_wh = force_n / vehicle.propulsion_efficiency / 3.6
    return (rolled_wh + vehicle.auxiliary_w / 50.0) / LEAF_WH_PER_KM


@dataclass(frozen=True, slots=True, eq=False)
class DrivenEdges:
    """Edges of a trip or of a network, as they are driven.

    Parameters
    ----------
    length_m
        (k,) length as driven, m.
    up_m, down_m
        (k,) height gained, at least 0, and height lost, at most 0, m.
    pace_spm
        (k,) expected travel time per metre, s/m.
    headwind_mps
        (k,) headwind, or one for all. Drag goes with the signed square of ``speed + headwind``.
    moving
        (k,) mean speed over the speed that has the mean drag.
    """

    length_m: FloatArray
    up_m: FloatArray
    down_m: FloatArray
    pace_spm: FloatArray
    headwind_mps: FloatArray | float = 0.0
    moving: FloatArray | float = 1.0


def edge_numbers(vehicle: Vehicle, edges: DrivenEdges, conditions: DrivingConditions) -> FloatArray:
    """Return the numbers of edges of which their terms are combinations, (5, k): `NUMBERS`.

    Parameters
    ----------
    vehicle
        Mass, drag coefficient and frontal area.
    edges
        The k edges as they are driven.
    conditions
        Conditions of the day. A payload scales length and heights.
    """
    loaded = 1.0 + conditions.payload_kg / vehicle.mass_kg
    minutes, drag_wh = minutes_and_drag(vehicle, edges, conditions)
    lengths = edges.length_m / 1000.0, edges.up_m, edges.down_m
    return np.stack([*(loaded * each for each in lengths), minutes, drag_wh])


def minutes_and_drag(
    vehicle: Vehicle, edges: DrivenEdges, conditions: DrivingConditions
) -> FloatArray:
    """Return the numbers of edges that depend on the pace, (2, k): minutes, and drag in Wh.

    Parameters
    ----------
    vehicle, edges, conditions
        As in `edge_numbers`.
    """
    minutes = edges.length_m * edges.pace_spm / 60.0
    air_mps = np.clip(1.0 / (edges.pace_spm * edges.moving), *SPEED_MPS) + edges.headwind_mps
    area = 0.5 * conditions.air_density_kgpm3 * vehicle.drag * vehicle.front_m2
    drag_wh = area * edges.length_m * air_mps * np.abs(air_mps) / J_PER_WH
    return np.stack([minutes, drag_wh])


def joining(vehicle: Vehicle, conditions: DrivingConditions, prior: CoefficientPrior) -> FloatArray:
    """Return the matrix from the numbers of edges to their terms, (5, p).

    It has a sixth row, for the energy of a turn, where the prior has stops and turns. The full
    battery and the warm-up are 0.

    Parameters
    ----------
    vehicle, conditions
        The terms of power and temperature are multiples of the minutes by them. That of a power
        that is not known at departure is 0.
    prior
        Prior of the p coefficients, by which the level is a combination of the others.
    """
    turns = len(prior.mean) > TURNING
    matrix = np.zeros((len(NUMBERS) + turns, len(prior.mean)))
    matrix[np.arange(len(NUMBERS)), NUMBERS] = 1.0
    heating, minutes = conditions.heating(vehicle).per_minute, NUMBERS.index(MINUTES)
    matrix[minutes, BY_TEMPERATURE] = heating
    if conditions.auxiliary_w is not None:
        heating_w = 60.0 * float(heating @ heating_coefficients(vehicle))
        matrix[minutes, AUXILIARY] = (conditions.auxiliary_w - vehicle.auxiliary_w - heating_w) / 60
    if turns:
        matrix[-1, TURNING] = 1.0
    if prior.multiplied is not None:
        matrix[:, LEVEL] = matrix @ prior.multiplied
    return matrix


def joined(numbers: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the terms of k edges or arms by their numbers, (k, p).

    Each row depends on its own numbers alone. The last digits of a product of matrices depend on
    the number of rows.

    Parameters
    ----------
    numbers
        (c, k) numbers (`edge_numbers`).
    matrix
        (c, p) as of `joining`.
    """
    terms = np.multiply.outer(numbers[0], matrix[0])
    for number, row in zip(numbers[1:], matrix[1:], strict=True):
        terms += np.multiply.outer(number, row)
    return terms


def with_level(terms: FloatArray, prior: CoefficientPrior) -> FloatArray:
    """Return terms with the level's, the energy by the prior, nothing lost to a full battery.

    Parameters
    ----------
    terms
        (k, c) terms of edges, turns or trips, and features of fields.
    prior
        Prior of the p coefficients.
    """
    if prior.multiplied is None:
        return terms
    whole = terms.copy()
    whole[:, LEVEL] = by_row(terms[:, : len(prior.mean)], prior.multiplied)
    return whole


def halted(terms: FloatArray, halt_wh: FloatArray | float, prior: CoefficientPrior) -> FloatArray:
    """Return terms with the terms of coming to a standstill at the end, which is one of the stops.

    Parameters
    ----------
    terms
        (..., c) terms of edges, turns or trips, with the level.
    halt_wh
        (...,) energy by physics of the standstill, Wh, at most 0.
    prior
        Prior of the p coefficients, with stops and turns.
    """
    whole = terms.copy()
    whole[..., TURNING] += halt_wh
    if prior.multiplied is not None:
        whole[..., LEVEL] += prior.multiplied[TURNING] * halt_wh
    return whole


def departed(row: FloatArray, heating: Heating, prior: CoefficientPrior) -> FloatArray:
    """Return the terms of a whole trip, driven or planned, at its temperature.

    Parameters
    ----------
    row
        (p,) sum of the terms of its edges or turns.
    heating
        Heating and cooling at its temperature.
    prior
        Prior of the coefficients.
    """
    return reached(row[np.newaxis], heating, prior)[0]


def of_trips(
    sums: FloatArray, by_temperature: FloatArray, in_power: bool, prior: CoefficientPrior
) -> FloatArray:
    """Return terms with other terms by temperature, and all that depends on them, (k, c).

    Parameters
    ----------
    sums
        (k, c) sums of terms of edges or turns, and features of fields.
    by_temperature
        (k, 3) terms of heating, warm-up and cooling.
    in_power
        Whether a known power includes them.
    prior
        Prior of the coefficients.
    """
    whole = sums.copy()
    if in_power:
        more = by_temperature - sums[:, BY_TEMPERATURE]
        whole[:, AUXILIARY] -= more @ prior.mean[BY_TEMPERATURE]
    whole[:, BY_TEMPERATURE] = by_temperature
    return with_level(whole, prior)


def reached(sums: FloatArray, heating: Heating, prior: CoefficientPrior) -> FloatArray:
    """Return the terms of trips up to some ends of edges, (k, c).

    Parameters
    ----------
    sums
        (k, c) sums of the terms since the start, and features of fields.
    heating, prior
        As in `departed`.
    """
    return of_trips(sums, heating.of_trip(sums[:, MINUTES]), heating.in_power, prior)


def full_battery_term(
    vehicle: Vehicle, soc_percent: FloatArray | float, returned_wh: FloatArray
) -> FloatArray:
    """Return the full-battery term of edges, (k,) Wh.

    Parameters
    ----------
    vehicle
        Charge above which recuperation fades.
    soc_percent
        (k,) charge at the start of each edge, or one charge for all, %. 0 where it is NaN.
    returned_wh
        (k,) energy of the pieces that return some (`returned_by_pieces`), at most 0, Wh.
    """
    return (
        -np.nan_to_num(np.maximum(np.asarray(soc_percent) - vehicle.full_battery_percent, 0.0))
        / 10.0
        * returned_wh
    )


def returned_by_pieces(
    network: RoadNetwork, edge: IntArray, terms: FloatArray, mean: FloatArray, loaded: float
) -> FloatArray:
    """Return the energy of those pieces of edges that return some by the prior, (k,) Wh, <= 0.

    Parameters
    ----------
    network
        The roads. An edge is one piece where they have no profile.
    edge
        (k,) rows.
    terms
        (k, p) terms of the edges, the full battery's 0.
    mean
        (p,) prior mean of the coefficients. All but heights is spread evenly over an edge.
    loaded
        Mass with payload over the vehicle's mass.
    """
    mean_wh = terms @ mean
    if network.pieces is None:
        return np.minimum(mean_wh, 0.0)
    row, place = network.pieces.of(edge)
    climb_m = loaded * network.pieces.climb_m[row]
    even_wh = mean_wh - terms[:, [UP, DOWN]] @ mean[[UP, DOWN]]
    piece_wh = np.where(climb_m > 0.0, mean[UP], mean[DOWN]) * climb_m
    piece_wh += (even_wh / np.bincount(place, minlength=len(edge)))[place]
    return summed(np.minimum(piece_wh, 0.0), place, len(edge))


def weight_wh_per_m(vehicle: Vehicle) -> float:
    """Return the weight of a vehicle, Wh per metre of height."""
    return vehicle.mass_kg * GRAVITY_MPS2 / J_PER_WH


def potential_slope(coefficients: FloatArray, weight_wh_per_m: float) -> float:
    """Return the slope of the search's potential, Wh per metre of height.

    It is the vehicle's weight, held between the coefficients of metres down and metres up, so that
    no edge costs less than its change of potential.
    """
    return float(np.clip(weight_wh_per_m, coefficients[DOWN], coefficients[UP]))
