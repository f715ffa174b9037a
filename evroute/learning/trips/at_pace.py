"""Terms of arms at a pace, over whole edges or the parts of them that are driven."""

from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.learning.trips.terms import DrivenEdges, edge_terms
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork


def terms_at_pace(
    vehicle: Vehicle,
    network: RoadNetwork,
    edge: IntArray,
    moving: FloatArray,
    conditions: DrivingConditions,
    stretches: Stretches | None,
    pace_spm: FloatArray,
) -> FloatArray:
    """Return the terms of edges, (k, 10).

    Parameters
    ----------
    vehicle, network
        Car and roads.
    edge
        (k,) network rows.
    moving
        (k,) mean speed over the speed between stops, which sets the drag.
    conditions
        Conditions of the day.
    stretches
        The driven parts of the edges; None for whole edges.
    pace_spm
        (k,) paces, s/m.
    """
    length_m, up_m = network.length_m[edge], network.ascent_m[edge]
    lost_m = network.descent_m[edge]
    if stretches is not None:
        length_m, (up_m, lost_m) = stretches.length_m, stretches.heights(network)
    driven = DrivenEdges(
        length_m,
        up_m,
        0.0 - lost_m,
        pace_spm / conditions.speed_factor,
        conditions.headwind_mps(network)[edge],
        moving,
    )
    return edge_terms(
        vehicle,
        driven,
        auxiliary_w=conditions.auxiliary_w,
        heating=conditions.heating(vehicle).per_minute,
        air_density_kgpm3=conditions.air_density_kgpm3,
        payload_kg=conditions.payload_kg,
    )
