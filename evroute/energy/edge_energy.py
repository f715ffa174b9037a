"""Energy of edges: eq. 8 on each piece of one slope, summed over the pieces of an edge.

Whether a slope recuperates is decided piece by piece, so it depends on the car, the speed and the
wind. On a network with a profile, rolling resistance plus drag is held at 0 or more on each piece:
no piece takes less than the rise of its potential, and so no edge does. On a network without a
profile an edge is one piece, and nothing is held.
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import AIR_DENSITY_KGPM3
from evroute.energy.longitudinal import EnergyParts, energy_parts
from evroute.energy.vehicle import Vehicle
from evroute.network.pieces import summed
from evroute.network.road_network import RoadNetwork


def piece_energy(
    network: RoadNetwork,
    vehicle: Vehicle,
    edge: IntArray,
    speed_mps: FloatArray,
    *,
    headwind_mps: FloatArray | float = 0.0,
    air_density_kgpm3: float = AIR_DENSITY_KGPM3,
) -> tuple[EnergyParts, IntArray]:
    """Return eq. 8 of the pieces of edges by cause, (q,) Wh, and the position of their edge.

    Parameters
    ----------
    network
        The roads; an edge is one piece where they have no profile.
    vehicle
        The vehicle as loaded.
    edge
        (k,) rows.
    speed_mps, headwind_mps
        (k,) speed and headwind on the edges, m/s.
    air_density_kgpm3
        Density of the air, kg/m³.
    """
    pieces, place = network.pieces, np.arange(len(edge))
    length_m, climb_m = network.length_m[edge], network.climb_m[edge]
    if pieces is not None:
        row, place = pieces.of(edge)
        length_m, climb_m = pieces.length_m[row], pieces.climb_m[row]
    parts = energy_parts(
        vehicle,
        length_m,
        climb_m,
        speed_mps[place],
        headwind_mps=np.broadcast_to(headwind_mps, edge.shape)[place],
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
