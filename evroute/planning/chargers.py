"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evroute.energy.charging import charging_s
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError, require
from evroute.network.chargers import edges_at, stations
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge_tree import charge_tree
from evroute.planning.charging import Charger, charging_stops
from evroute.planning.rows import Rows
from evroute.planning.search_problem import SearchProblem
from evroute.planning.shortage import Shortage


def chargers_for(network: RoadNetwork, vehicle: Vehicle) -> tuple[Charger, ...]:
    """Return the sockets of a network that fit a car."""
    return tuple(
        Charger(station.name, edges_at(network, station), socket, kw, time_s)
        for station in stations(network)
        for socket, kw in station.sockets
        if (time_s := charging_s(vehicle, socket, kw)) is not None
    )


def refuse_without_chargers(
    network: RoadNetwork, vehicle: Vehicle, chargers: Sequence[Charger]
) -> None:
    """Raise EvrouteError with the reason if there is no socket for a car.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    chargers
        From `chargers_for`.
    """
    if chargers:
        return
    found = stations(network)
    require(
        found,
        f"network '{network.name}' has no charging stations; add them with 'evroute network "
        f"chargers {network.name} FILE'",
    )
    require(
        vehicle.ac_kw or vehicle.dc_kw,
        f"vehicle '{vehicle.name}' has no charging power; choose another one of 'evroute "
        "vehicle list', or set ac_kw or dc_kw in a vehicle file",
    )
    kinds = sorted({socket for station in found for socket, _ in station.sockets})
    raise EvrouteError(
        f"no compatible plug: the {len(found)} charging stations of network '{network.name}' have "
        f"{', '.join(kinds)}; vehicle '{vehicle.name}' has "
        f"{' and '.join(['ac'] * bool(vehicle.ac_kw) + [vehicle.dc_plug] * bool(vehicle.dc_kw))}"
    )


def rows_with_stops(problem: SearchProblem, battery: Battery, chargers: Sequence[Charger]) -> Rows:
    """Return the row ``charge``, the fastest route with stops.

    Parameters
    ----------
    problem, battery, chargers
        As in `charging_stops`.

    Raises
    ------
    NotEnoughChargeError
        If no plan keeps the reserve; the message has the leg that fails, and the missing charge.
    """
    found = charging_stops(problem, battery, chargers)
    if found is None:
        short = Shortage(problem.legs, problem.head_wh, problem.charge).error(battery)
        raise with_advice(short, problem, battery, chargers)
    route, stops, proof = found
    return Rows({"charge": route}, {"charge": proof}, "charge", stops)


def with_advice(
    error: NotEnoughChargeError,
    problem: SearchProblem,
    battery: Battery,
    chargers: Sequence[Charger],
) -> NotEnoughChargeError:
    """Return an error with the stops that mend it, or the leg that fails also with stops.

    Parameters
    ----------
    error
        Error of the plan without stops.
    problem, battery, chargers
        As in `charging_stops`.
    """
    reason = str(error)
    if found := charging_stops(problem, battery, chargers):
        advice = f"or {', then '.join(stop.advice for stop in found[1])} (--charge)"
    else:
        advice = failing_leg(problem, battery, chargers)
        reason = reason.replace("charge on the way, or take", "take")
    return NotEnoughChargeError(f"{reason}; {advice}", error.start_percent)


def failing_leg(problem: SearchProblem, battery: Battery, chargers: Sequence[Charger]) -> str:
    """Return which leg fails where no plan with stops keeps the reserve, and the energy it lacks.

    Parameters
    ----------
    problem
        The request and its numbers.
    battery
        Charge at the start, and reserve.
    chargers
        Sockets that fit the car.
    """
    legs, capacity_wh = problem.legs, battery.capacity_wh
    reached = {legs.stops[0]: ("the start", battery.start_wh)}
    searched = set[tuple[int, float]]()
    while new := {(edge, held) for edge, (_, held) in reached.items()} - searched:
        searched.add(begin := min(new))
        leg = replace(problem, legs=replace(legs, stops=begin[:1]))
        within = set(charge_tree(leg, replace(battery, start_wh=begin[1])).edges.tolist())
        for each in chargers:
            if not within.isdisjoint(each.edges):
                reached |= dict.fromkeys(each.edges, (each.station, capacity_wh))
    if len(legs.stops) > 2:
        return "charging on the way does not help"
    shortage = Shortage(legs, problem.head_wh, problem.charge)
    need_wh = shortage.least_starts_wh(
        replace(battery, capacity_wh=np.inf, fade=0.0), legs.stops[-1:]
    )
    edge = min(reached, key=lambda edge: need_wh[edge] - reached[edge][1])
    station, held_wh = reached[edge]
    return (
        f"charging on the way does not help: the last leg, from {station} with "
        f"{battery.percent(held_wh):.4g} %, needs {(need_wh[edge] - held_wh) / 1000:.2f} kWh more"
    )
