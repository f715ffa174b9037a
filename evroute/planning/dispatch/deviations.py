"""Standard deviations of the energies of a matrix, by one forecast of all routes of a tree.

The routes from an origin share their first edges, so a belief forecasts the tree of them, as it
does the roads within reach of a charge (`Day.reached_std_wh`).
"""

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.heights.stretches import Stretches
from evroute.planning.dispatch.exits import Chosen, Exits, Found, depths, entered


def deviations_wh(exits: Exits, chosen: Chosen, rows: IntArray) -> FloatArray:
    """Return the deviation of the energy of routes to some destinations, (k,) Wh.

    Parameters
    ----------
    exits
        The ways into the destinations.
    chosen
        Routes from an origin.
    rows
        (k,) destinations that have a route.

    Raises
    ------
    EvrouteError
        If there is neither a belief nor the uncertainty of physics.
    """
    found_wh, day = np.empty(len(rows)), exits.planner.forecasts.day
    for number, found in enumerate(chosen.trees):
        own = np.flatnonzero(chosen.tree[rows] == number)
        if len(own):
            found_wh[own] = _of_tree(exits, found, rows[own])
    for place in np.flatnonzero(chosen.tree[rows] < 0).tolist():
        driven, _ = chosen.single[int(rows[place])]
        forecast = day.forecast(driven.arms, driven.energy_wh, None, driven.stretches)
        found_wh[place] = forecast.std_wh
    return found_wh


def _of_tree(exits: Exits, found: Found, rows: IntArray) -> FloatArray:
    """Return the deviation of the energy of routes of one tree, (k,) Wh."""
    day = exits.planner.forecasts.day
    way, n_exits = found.way[rows], len(exits.before)
    leaving = np.flatnonzero(way < n_exits)
    short = np.flatnonzero(way >= n_exits)
    taken = way[leaving]
    edges = _above(found.before, exits.before[taken])
    place = np.full(len(found.before), -1)
    place[edges] = np.arange(len(edges))
    above = found.before[edges]
    before = [np.where(above >= 0, place[above], -1)]
    arms = [_arms(exits, found, edges)]
    parts = [_whole(exits, found, edges)]
    for driven, at, rests_on in (
        (exits.last, exits.place[taken], place[exits.before[taken]]),
        (found.pieces, way[short] - n_exits, np.full(len(short), -1)),
    ):
        if driven is not None and len(at):
            arms.append(driven.arms[at])
            before.append(rests_on)
            parts.append(driven.stretches[at])
    std_wh = day.reached_std_wh(
        np.concatenate(arms),
        np.concatenate(before),
        np.zeros(sum(map(len, arms))),
        Stretches.joined(parts),
    )
    found_wh = np.empty(len(rows))
    found_wh[np.concatenate([leaving, short])] = std_wh[len(edges) :]
    return found_wh


def _above(before: IntArray, edges: IntArray) -> IntArray:
    """Return edges of a tree and all edges before them, each behind the one before it."""
    wanted, at = np.zeros(len(before), dtype=np.bool_), np.unique(edges)
    while len(at):
        wanted[at] = True
        above = before[at]
        above = np.unique(above[above >= 0])
        at = above[~wanted[above]]
    found = np.flatnonzero(wanted)
    return found[np.argsort(depths(before)[found], kind="stable")]


def _arms(exits: Exits, found: Found, edges: IntArray) -> IntArray:
    """Return the arms of edges of a tree, (k,)."""
    begins = found.before[edges] < 0
    arms = exits.planner.search.starts.start + edges
    arms[~begins] = entered(exits.planner.space, found.before, edges[~begins])
    return arms


def _whole(exits: Exits, found: Found, edges: IntArray) -> Stretches:
    """Return edges of a tree that are driven to their ends."""
    whole = Stretches.whole(exits.planner.network, edges)
    from_m, begun = whole.from_m.copy(), {each.edge: each for each in found.origin.positions}
    for row in np.flatnonzero(found.before[edges] < 0).tolist():
        from_m[row] = begun[int(edges[row])].along_m
    return Stretches(edges, from_m, whole.to_m)
