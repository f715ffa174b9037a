"""Arm spaces: turns of a round and of a trip, in contexts that change and with edges closed."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arms import Arms, Feedback, Round, Route
from evroute.energy.crossings import turn_speed_mps
from evroute.energy.driving import DrivingConditions, temperature_feature
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.network import context
from evroute.network.turn_table import ENTRY_SPEED, NAMES, SPEED, TurnTable
from evroute.planning.spaces.corridor import Corridor
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace

CAR = load_vehicle("reference")


def space_of(network, **options) -> TurnSpace:
    return TurnSpace(EdgeSpace(network, CAR), TurnTable.from_network(network), **options)


def edges_of(network) -> Arms:
    return EdgeSpace(network, CAR).reference


def test_turns_of_a_closed_edge_are_closed(hill) -> None:
    space, edges, row = space_of(hill), edges_of(hill), hill.row_of
    open_edges = edges.take(np.delete(edges.id, row["up"]))
    request = Round(1, open_edges, row["in"], row["out"])
    arms = space.arms(request)
    touched = (space.table.left == row["up"]) | (space.table.entered == row["up"])
    np.testing.assert_array_equal(arms.id, np.flatnonzero(~touched))
    route = space.route(np.ones(len(arms)), request)
    assert [hill.edge_id[e] for e in route.edges] == ["in", "east", "west", "out"]
    cut_off = edges.take(np.delete(edges.id, [row["up"], row["west"]]))
    shut = Round(1, cut_off, row["in"], row["out"])
    with pytest.raises(NoRouteError):
        space.route(np.ones(len(space.arms(shut))), shut)


def test_a_trip_is_measured_on_the_arms_of_its_route(hill) -> None:
    space, edges, row = space_of(hill), edges_of(hill), hill.row_of
    request, route = (
        Round(1, edges, row["in"], row["out"]),
        Route(tuple(row[e] for e in ("in", "up", "down", "out"))),
    )
    measured_wh = np.arange(4.0)
    told = space.feedback(
        Feedback.of_route(edges, route, measured_wh, trip_id="a", travel_s=np.ones(4))
    )
    arms, passed = space.arms(request), space.arms_of_route(route)
    np.testing.assert_array_equal(told.id, arms.id[passed])
    np.testing.assert_array_equal(told.features, arms.features[passed])
    np.testing.assert_allclose(told.prior_mean_wh, arms.prior_mean_wh[passed])
    np.testing.assert_array_equal(told.energy_wh, measured_wh)
    assert (told.trip_id, told.travel_s.tolist()) == ("a", [1.0] * 4)


def test_speeds_of_the_hour_change_the_energy_of_turns(hill) -> None:
    space, edges, row = space_of(hill), edges_of(hill), hill.row_of
    half = edges.features * np.where(np.arange(hill.n_edges) == row["up"], 0.5, 1.0)[
        :, np.newaxis
    ] ** [0, 1, 0]
    slow = Arms(edges.id, half, edges.prior_mean_wh)
    free, jammed = (Round(1, arms, row["in"], row["out"]) for arms in (edges, slow))
    into, out_of = (
        space.table.rows_along(np.array([row[a], row[b]]))[1]
        for a, b in (("in", "up"), ("up", "down"))
    )
    change_wh = space.potential_wh(jammed) - space.potential_wh(free)
    kinetic_wh = 0.5 * CAR.mass_kg * (10.0**2 - 5.0**2) / 3600
    assert change_wh[into] == pytest.approx(-kinetic_wh)
    assert change_wh[out_of] == pytest.approx(kinetic_wh)
    changed = np.abs(space.arms(jammed).prior_mean_wh - space.arms(free).prior_mean_wh) > 1e-9
    touched = (space.table.left == row["up"]) | (space.table.entered == row["up"])
    np.testing.assert_array_equal(changed, touched)


def test_another_vehicle_has_its_own_kinetic_energy(hill) -> None:
    space, edges = space_of(hill), edges_of(hill)
    heavy = load_vehicle("volvo-c40")
    own, other = (
        space.potential_wh(Round(1, edges, 0, 1, vehicle=name)) for name in ("", heavy.name)
    )
    np.testing.assert_allclose(other, own * heavy.mass_kg / CAR.mass_kg)


def test_braking_for_a_turn_is_told_of_the_turn_where_it_is_measured_before(hill) -> None:
    network = replace(hill, speed_mps=np.full(hill.n_edges, 20.0))
    own, row = space_of(network), network.row_of
    braked = space_of(network, braked=True)
    edges, route = edges_of(network), Route(tuple(row[e] for e in ("in", "east", "west", "out")))
    trip = Feedback.of_route(edges, route, np.array([10.0, 20.0, 30.0, 40.0]))
    before, moved = own.feedback(trip), braked.feedback(trip)
    change_wh = moved.energy_wh - before.energy_wh
    assert change_wh.sum() == pytest.approx(0)
    rows = own.table.rows_along(route.rows)
    turn_mps = np.minimum(turn_speed_mps(own.table.angle_rad[rows[1:]]), 20.0)
    back_wh = -CAR.recuperation_efficiency * 0.5 * CAR.mass_kg * (20.0**2 - turn_mps**2) / 3600
    assert back_wh.min() < -1
    np.testing.assert_allclose(change_wh, np.append(0, back_wh) - np.append(back_wh, 0))
    np.testing.assert_array_equal(moved.prior_mean_wh, before.prior_mean_wh)


def test_contexts_merge_on_1_kelvin_and_5_kilometres_an_hour(hill) -> None:
    space, changed = EdgeSpace(hill, CAR, temperature=True), hill.row_of["up"]
    scale = context.build(hill).scale[SPEED]
    known, met = space.reference.features, space.reference.features.copy()
    met[:, -1] = temperature_feature(4.4)
    met[changed, SPEED] = 9.66 / 3.6 / scale
    arms = Arms(space.reference.id, met, space.reference.prior_mean_wh)
    request = Round(1, arms, hill.row_of["in"], hill.row_of["out"])
    merged = space.arms(request).features.copy()
    np.testing.assert_allclose(merged[:, -1], temperature_feature(4.0))
    assert merged[changed, SPEED] * scale * 3.6 == pytest.approx(10.0)
    merged[changed, SPEED] = known[changed, SPEED]
    np.testing.assert_array_equal(merged[:, :-1], known[:, :-1])  # speeds of the map stay
    route = Feedback(arms.id, met, arms.prior_mean_wh, arms.prior_mean_wh)
    again = space.arms(request).features
    np.testing.assert_array_equal(space.feedback(route).features, again)
    np.testing.assert_array_equal(Corridor(space, 9.0).feedback(route).features, again)
    exact = EdgeSpace(hill, CAR, temperature=True, exact_contexts=True).under(DrivingConditions())
    np.testing.assert_array_equal(exact.arms(request).features, met)
    assert EdgeSpace(hill, CAR).feedback(route) is route


def test_turns_merge_contexts_as_edges_do_and_have_the_temperature_last(hill) -> None:
    edges = EdgeSpace(hill, CAR, temperature=True)
    space = TurnSpace(edges, TurnTable.from_network(hill))
    scale, row = context.build(hill).scale[SPEED], hill.row_of
    met = edges.reference.features.copy()
    met[:, -1] = temperature_feature(4.4)
    met[row["in"], SPEED] = 9.66 / 3.6 / scale
    request = Round(
        1, Arms(edges.reference.id, met, edges.reference.prior_mean_wh), row["in"], row["out"]
    )
    arms = space.arms(request)
    assert arms.features.shape[1] == len(NAMES) + 1 == len(space.lengthscale_factors)
    np.testing.assert_allclose(arms.features[:, -1], temperature_feature(4.0))
    entered_from = space.table.left[: space.table.n_turns] == row["in"]
    np.testing.assert_allclose(
        arms.features[: space.table.n_turns][entered_from, ENTRY_SPEED] * scale * 3.6, 10.0
    )
    route = Route(tuple(row[e] for e in ("in", "east", "west", "out")))
    again = space.feedback(Feedback.of_route(request.arms, route, np.ones(4)))
    passed = arms.take(arms.rows_of(np.sort(space.arms_of_route(route))))
    order = np.argsort(space.arms_of_route(route))
    np.testing.assert_array_equal(again.features[order], passed.features)
