"""Energy of edges: eq. 8 at constant speed, summed over the pieces of each edge.

Sandberg et al., eq. 8 and Table 2. Eq. 8 has one powertrain efficiency, Table 2 two: the force is
*divided* by the propulsion efficiency where it is positive and *multiplied* by the recuperation
efficiency where it is negative, as SUMO does. So an edge never returns more than was put in,
``energy - potential >= 0`` on every edge, and no closed walk has negative energy. This potential
makes signed energies searchable (Sachenbacher et al. 2011 use the same one).

Whether a slope recuperates is decided piece by piece, so it depends on the car, the speed and the
wind. On a network with a profile, rolling resistance plus drag is held at 0 or more on each piece:
no piece takes less than the rise of its potential, and so no edge does. On a network without a
profile an edge is one piece, and nothing is held.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2, J_PER_WH
from evroute.energy.vehicle import Vehicle
from evroute.network.heights.pieces import summed
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork


@dataclass(frozen=True, slots=True, eq=False)
class EnergyParts:
    """Energy from the battery on each edge, by cause. The (n,) columns sum to the total, Wh.

    Climb, rolling and drag are divided by the efficiency of the edge, or piece, as a whole.
    ``held_wh``: increase where a tail wind above the car's speed would push it and is held to push
    no more than it rolls, or 0 elsewhere.
    """

    climb_wh: FloatArray
    rolling_wh: FloatArray
    drag_wh: FloatArray
    auxiliary_wh: FloatArray
    held_wh: FloatArray

    def __post_init__(self) -> None:
        shape = np.shape(self.climb_wh)
        freeze(self, **{name: (getattr(self, name), np.float64, shape) for name in self.__slots__})

    @property
    def total_wh(self) -> FloatArray:
        """(n,) energy from the battery, negative where the edge returns some, Wh."""
        return self.climb_wh + self.rolling_wh + self.drag_wh + self.auxiliary_wh + self.held_wh


def energy_parts(
    vehicle: Vehicle,
    length_m: FloatArray,
    climb_m: FloatArray,
    speed_mps: FloatArray,
    *,
    headwind_mps: FloatArray | float = 0.0,
    air_density_kgpm3: float = AIR_DENSITY_KGPM3,
    held: bool = False,
) -> EnergyParts:
    """Return the energy of edges at constant speed by cause, Wh (Sandberg et al., eq. 8).

    Parameters
    ----------
    vehicle
        Mass, resistances, efficiencies, auxiliary power.
    length_m, climb_m, speed_mps
        (n,) length as driven, m; height gained, m (``|climb| <= length``); speed, m/s.
    headwind_mps, air_density_kgpm3
        Drag is proportional to the signed square of ``speed + headwind``. Eq. 8 has no wind.
    held
        Whether rolling resistance plus drag is held at 0 or more. The energy is then never below
        the rise of the potential.
    """
    weight_n = vehicle.mass_kg * GRAVITY_MPS2
    level_m = np.sqrt(np.maximum(length_m**2 - climb_m**2, 0.0))  # length * cos(incline)
    climb = weight_n * climb_m
    rolling = weight_n * vehicle.rolling * level_m
    air_mps = speed_mps + headwind_mps
    drag = (
        0.5
        * vehicle.drag
        * vehicle.front_m2
        * air_density_kgpm3
        * length_m
        * air_mps
        * abs(air_mps)
    )
    raised = np.maximum(-(rolling + drag), 0.0) * held
    driving = climb + rolling + drag + raised >= 0
    factor = (
        np.where(driving, 1.0 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency)
        / J_PER_WH
    )
    auxiliary = vehicle.auxiliary_w * length_m / speed_mps / J_PER_WH
    found = (climb * factor, rolling * factor, drag * factor, auxiliary, raised * factor)
    for part in found:  # its only owner, so that it need not be copied
        np.asarray(part).setflags(write=False)
    return EnergyParts(*found)


def potential_wh(vehicle: Vehicle, climb_m: FloatArray) -> FloatArray:
    """Return the change of potential energy ``m g dz`` over each edge, (n,) Wh.

    It telescopes along a route.
    """
    return vehicle.mass_kg * GRAVITY_MPS2 * climb_m / J_PER_WH


def piece_energy(
    network: RoadNetwork,
    vehicle: Vehicle,
    edge: IntArray | Stretches,
    speed_mps: FloatArray,
    *,
    headwind_mps: FloatArray | float = 0.0,
    air_density_kgpm3: float = AIR_DENSITY_KGPM3,
) -> tuple[EnergyParts, IntArray]:
    """Return eq. 8 of the pieces of edges by cause, (q,) Wh, and the position of their edge.

    Parameters
    ----------
    network
        The roads. An edge is one piece where they have no profile.
    vehicle
        The vehicle as loaded.
    edge
        (k,) rows, or k stretches of edges, of which the pieces that are driven count.
    speed_mps, headwind_mps
        (k,) speed and headwind on the edges, m/s.
    air_density_kgpm3
        Density of the air, kg/m³.
    """
    pieces, place = network.pieces, np.arange(len(edge))
    if isinstance(edge, Stretches):
        length_m, climb_m, place = edge.pieces(network)
    elif pieces is None:
        length_m, climb_m = network.length_m[edge], network.climb_m[edge]
    else:
        row, place = pieces.of(edge)
        length_m, climb_m = pieces.length_m[row], pieces.climb_m[row]
    parts = energy_parts(
        vehicle,
        length_m,
        climb_m,
        speed_mps[place],
        headwind_mps=np.broadcast_to(headwind_mps, len(edge))[place],
        air_density_kgpm3=air_density_kgpm3,
        held=pieces is not None,
    )
    return parts, place


def edge_energy(
    network: RoadNetwork,
    vehicle: Vehicle,
    edge: IntArray,
    speed_mps: FloatArray,
    *,
    headwind_mps: FloatArray | float = 0.0,
    air_density_kgpm3: float = AIR_DENSITY_KGPM3,
) -> EnergyParts:
    """Return eq. 8 of edges by cause, (k,) Wh, summed over their pieces.

    Parameters
    ----------
    network, vehicle, edge, speed_mps, headwind_mps, air_density_kgpm3
        As in `piece_energy`.
    """
    parts, place = piece_energy(
        network,
        vehicle,
        edge,
        speed_mps,
        headwind_mps=headwind_mps,
        air_density_kgpm3=air_density_kgpm3,
    )
    if network.pieces is None:
        return parts
    k = len(edge)
    return EnergyParts(*(summed(getattr(parts, name), place, k) for name in parts.__slots__))


def split_energy(parts: EnergyParts, place: IntArray, k: int) -> tuple[EnergyParts, EnergyParts]:
    """Return the sums over the pieces of each edge that take energy, and that return some, (k,) Wh.

    Parameters
    ----------
    parts, place
        As `piece_energy` returns them.
    k
        Number of edges.
    """
    takes = parts.total_wh >= 0.0
    taken, returned = (
        EnergyParts(*(summed(getattr(parts, name) * each, place, k) for name in parts.__slots__))
        for each in (takes, ~takes)
    )
    return taken, returned


def at_battery(
    vehicle: Vehicle, taken_wh: FloatArray, returned_wh: FloatArray, gained_wh: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the energy of work at the wheels with a change of speed, (a,) Wh, and its factors.

    A car that slows down saves work on the pieces that take energy. One that speeds up is helped by
    the pieces that return some. Work and change of speed are joined there, or, where an edge has no
    such piece, over the whole edge, and divided or multiplied by an efficiency by their sign.

    Parameters
    ----------
    vehicle
        Efficiencies.
    taken_wh, returned_wh
        (a,) work at the wheels over the pieces that take energy, >= 0, and return some, <= 0, Wh.
    gained_wh
        (a,) gain of kinetic energy, Wh.

    Returns
    -------
    energy_wh
        (a,) energy from the battery, Wh.
    of_gain, of_taken, of_returned
        (a,) factors of the gain and of the two kinds of work.
    """
    slows = gained_wh < 0.0
    drive, recuperate = 1.0 / vehicle.propulsion_efficiency, vehicle.recuperation_efficiency
    opposite_wh = np.where(slows, taken_wh, returned_wh)
    apart = opposite_wh != 0.0
    joined_wh = np.where(apart, opposite_wh, taken_wh + returned_wh) + gained_wh
    factor, other = np.where(joined_wh >= 0, drive, recuperate), np.where(slows, recuperate, drive)
    rest_wh = np.where(apart, np.where(slows, returned_wh, taken_wh), 0.0)
    of_taken = np.where(apart & ~slows, other, factor)
    of_returned = np.where(apart & slows, other, factor)
    return joined_wh * factor + rest_wh * other, factor, of_taken, of_returned
