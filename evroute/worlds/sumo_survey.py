"""True energies of turns and starts in SUMO, from a survey of trips that together pass every edge.

The drivers are always the same. A turn that no trip of the survey passed takes the energy of
`energy.turn_prior` at the speeds of the world, plus the mean error of that energy on other
passages of the edge entered.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import BoolArray, FloatArray, IntArray
from evroute.energy.turn_prior import TurnEnergy
from evroute.errors import NoRouteError
from evroute.network.turn_table import TurnTable
from evroute.planning.searches.search import Search

SEED = 20_261_121
TRIPS_PER_NOTE = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Sums over passages of the a turns and starts of a `TurnTable`, (a,) each.

    Parameters
    ----------
    count
        (a,) number of passages.
    energy_wh
        (a,) summed energies, Wh.
    time_s
        (a,) summed times, s.
    """

    count: FloatArray
    energy_wh: FloatArray
    time_s: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Surveyed:
    """True energies and times from a survey.

    Parameters
    ----------
    turn_wh
        (a,) energies of turns and starts, Wh.
    expected_wh
        (n,) energies of edges, Wh, averaged over predecessors.
    time_s
        (n,) mean times, s.
    passed
        (n,) whether the survey drove the edge.
    """

    turn_wh: FloatArray
    expected_wh: FloatArray
    time_s: FloatArray
    passed: BoolArray


def drive_everywhere(
    drive: Callable[[IntArray, np.random.SeedSequence], tuple[FloatArray, FloatArray]],
    table: TurnTable,
    search: Search,
    time_s: FloatArray,
    most_trips: int,
) -> Passages:
    """Drive until every edge was passed, or ``most_trips`` were driven.

    Parameters
    ----------
    drive
        Returns the energies, Wh, and times, s, of the (k,) edges given.
    table
        Turns and starts.
    search
        Search over all edges.
    time_s
        (n,) times of the edges, s, for the choice of routes. Edges passed before are avoided.
    most_trips
        Largest number of trips.
    """
    count, energy_wh, spent_s = np.zeros((3, len(table)))
    for trip, route in enumerate(_routes(table, search, time_s, most_trips), start=1):
        wh, s = drive(route.rows, np.random.SeedSequence(SEED, spawn_key=(trip,)))
        for total, values in ((count, np.ones(len(route))), (energy_wh, wh), (spent_s, s)):
            np.add.at(total, table.rows_along(route.rows), values)
        if trip % TRIPS_PER_NOTE == 0:
            _log.info("SUMO survey: %d trips driven", trip)
    return Passages(count, energy_wh, spent_s)


def _routes(
    table: TurnTable, search: Search, time_s: FloatArray, most_trips: int
) -> Iterator[Route]:
    passages, rng = np.zeros(table.n_edges), np.random.default_rng(SEED)
    for _ in range(most_trips):
        left = np.flatnonzero(passages == 0)
        if len(left) == 0:
            return
        origin, destination = rng.choice(left), rng.integers(table.n_edges)
        if len(left) > 1:
            destination = rng.choice(left[left != origin])
        try:
            route = search.route(time_s * (1 + passages), int(origin), int(destination))
        except NoRouteError:
            passages[origin] = 1
            continue
        np.add.at(passages, route.rows, 1)
        yield route


def surveyed(passages: Passages, energy: TurnEnergy, speed_mps: FloatArray) -> Surveyed:
    """Return the true energies and times, estimated for turns without passages.

    Parameters
    ----------
    passages
        Sums of the survey.
    energy
        Prior energies of turns.
    speed_mps
        (n,) speed limits of the world, m/s.
    """
    table, n = energy.table, energy.table.n_edges
    prior_wh = energy.mean_wh(np.arange(len(table)), speed_mps)
    excess_wh = passages.energy_wh - passages.count * prior_wh
    by_edge, excess, time_s = (
        np.bincount(table.entered, values, minlength=n)
        for values in (passages.count, excess_wh, passages.time_s)
    )
    times = np.maximum(by_edge, 1)
    turn_wh = prior_wh + np.where(
        passages.count > 0,
        excess_wh / np.maximum(passages.count, 1),
        (excess / times)[table.entered],
    )
    m = table.n_turns
    predecessors = np.bincount(table.entered[:m], minlength=n)
    mean_wh = np.bincount(table.entered[:m], turn_wh[:m], minlength=n) / np.maximum(predecessors, 1)
    return Surveyed(
        turn_wh=turn_wh,
        expected_wh=np.where(predecessors > 0, mean_wh, turn_wh[m:]),
        time_s=np.where(by_edge > 0, time_s / times, energy.network.length_m / speed_mps),
        passed=by_edge > 0,
    )
