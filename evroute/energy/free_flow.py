"""Free flow: how drivers reach their speeds, brake for turns and stop.

Every edge has one speed between stops, the same on whatever way it is reached. It is at most the
speed that drivers choose under the limit (`chosen_mps`). On a short road it is less: drivers
accelerate and brake gently, so the square of the speed that they reach is `REACHED_MPS2` times the
metres between two stops. The road of an edge goes on in both directions, straight on, up to the
turns that are braked for: those with a control or without right of way (`energy.crossings`), sharp
ones, and changes of the chosen speed. So a road that is cut by a junction without a crossing keeps
its speeds.

Let cars stop at a turn with probability ``p``, and else keep the share ``q`` of their speed, at
most ``t``. The mean square of their speed there is ``u^2 = (1 - p) min(q v, t)^2``. On a road of L
metres between two turns they reach the speed v with

    v^2 = REACHED_MPS2 * L + (u_back^2 + u_front^2) / 2.

For a row of equal roads and turns with ``g = (1 - p) q^2`` that is ``REACHED_MPS2 * L / (1 - g)``:
as if the share ``w = g / (2 - g)`` of all metres beyond each turn belonged to the road before it.
They are counted so for every road (`RoadEnds.reaching_m`). So the speed does not jump between
blocks of unequal length.

The constants are measured, none is fitted to plans (docs/results/real-trips.md names the sources).

- `REACHED_MPS2`: median of ``v^2 / L`` over roads of 50 to 500 m between two stops: 0.37 in 127
  drives of a Renault Twizy at 1 Hz (0.48 in the 15 of the cycles UDDS, HWFET and WLTC).
- `ACCELERATION_MPS2`, `BRAKING_MPS2`: from standstill to 80 % of the speed reached, and back. The
  medians over distance are 0.53 and 0.56 in 325 drives of the Twizy, 0.53 and 0.77 in 27 of the
  cycles, here weighted by their numbers. They give a mean square of the speed of 0.67 of the square
  that is reached. Drives of 50 to 500 m have 0.65 (Twizy) and 0.69 (cycles).
- `LOST_SPMPS`: the time of these drives beyond that at the speed reached: 1.2 s and 1.04 s.
- `WAIT_S`: a stop takes 14 s in the median (Twizy), 15.4 s in the mean (UDDS).
- `OUTSIDE`: 0.80 in the average traffic of England's motorways and trunk roads (55.9 of 70 mph;
  Department for Transport, 2009), 0.81 where cars are free on single carriageways, 0.85 on the
  Twizy's roads of 80 km/h (root mean square), 0.92 where cars are free on roads of 80 and 130 km/h
  in France. `TOWN`: 1.00 where cars are free on roads of 30 mph, 0.89 at 50 km/h in France, 0.92 on
  the Twizy's roads of 40 km/h. Speeds of free cars are computed from the published shares of cars
  above the limit, with a normal spread: Department for Transport, Vehicle speed compliance
  statistics, 2022; ONISR, Observatoire des vitesses, 2018.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evroute.arrays import BoolArray, FloatArray, IntArray, freeze
from evroute.energy.crossings import speed_kept, stop_probability, turn_speed_mps
from evroute.network.controls import LIGHT
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable

REACHED_MPS2 = 0.37
ACCELERATION_MPS2 = 0.53
BRAKING_MPS2 = 0.58
LOST_SPMPS = 1.2
"""Time lost by braking to a stop and by accelerating again, s for each m/s of the speed."""
WAIT_S = 15.0
"""Mean time of a stop at a light, s. A stop sign is passed without waiting."""
OUTSIDE, TOWN = 0.85, 0.95
"""Speed that drivers keep over the limit, outside towns and in towns."""
TOWN_MPS = 60.0 / 3.6
"""Limit up to which a road counts as one in a town, m/s."""
FAR_M = 10_000.0
"""Metres over which every speed is reached."""
ENDLESS_M = 1e6
"""Length of a circle, m."""
CHANGING = 0.5
"""Greatest share of the square of the speed that drag lacks: speeds change on all of the road."""
LEAST = 1e-12
"""Share of the metres beyond a turn that does not matter."""
DIGITS = 6
"""Decimals of speeds, so that the edges of one road have equal ones."""


@dataclass(frozen=True, slots=True, eq=False)
class FreeFlow:
    """How drivers drive the n edges of a network.

    Parameters
    ----------
    speed_mps
        (n,) speed between stops, m/s.
    going
        (n,) mean speed, with stops and changes of speed, over the speed between stops.
    rushing
        (n,) speed that has the mean drag, over the speed between stops.
    """

    speed_mps: FloatArray
    going: FloatArray
    rushing: FloatArray

    @property
    def moving(self) -> FloatArray:
        """(n,) mean speed over the speed that has the mean drag."""
        return self.going / self.rushing

    def __post_init__(self) -> None:
        n = len(self.speed_mps)
        freeze(self, **{name: (getattr(self, name), np.float64, (n,)) for name in self.__slots__})


@dataclass(frozen=True, slots=True, eq=False)
class RoadEnds:
    """The turns at which the roads of n edges end, in one direction.

    Parameters
    ----------
    away_m
        (n,) metres of the road beyond the edge.
    stopping
        (n,) probability of stopping there.
    kept
        (n,) share of the speed that is kept otherwise.
    passing_mps
        (n,) greatest speed at which the turn is passed, m/s.
    waiting_s
        (n,) mean time of standing there, s.
    reaching_m
        (n,) metres beyond the edge over which drivers reach its speed, those beyond the turn too.
    """

    away_m: FloatArray
    stopping: FloatArray
    kept: FloatArray
    passing_mps: FloatArray
    waiting_s: FloatArray
    reaching_m: FloatArray


@lru_cache(maxsize=4)
def flow_on(network: RoadNetwork) -> FreeFlow:
    """Return how drivers drive the edges of a network."""
    chosen = chosen_mps(network)
    back, front = _ends(network, chosen, ahead=False), _ends(network, chosen, ahead=True)
    road_m = np.round(network.length_m + back.away_m + front.away_m, DIGITS)
    reaching_m = network.length_m + back.reaching_m + front.reaching_m
    reached = np.minimum(chosen, np.sqrt(REACHED_MPS2 * reaching_m))
    speed_mps = reached.round(DIGITS)
    lost_s, slower = np.zeros((2, network.n_edges))
    for end, rate_mps2 in ((back, ACCELERATION_MPS2), (front, BRAKING_MPS2)):
        passing = np.minimum(end.passing_mps, end.kept * speed_mps)
        slowing = (1.0 - end.stopping) * (1.0 - passing / speed_mps) ** 2
        lost_s += LOST_SPMPS / 2.0 * speed_mps * (end.stopping + slowing)
        change = end.stopping * speed_mps**4
        change += (1.0 - end.stopping) * (speed_mps**2 - passing**2) ** 2
        slower += change / (4.0 * rate_mps2)
    lost_s += front.waiting_s
    return FreeFlow(
        speed_mps,
        1.0 / (1.0 + speed_mps * lost_s / road_m),
        np.sqrt(1.0 - np.minimum(slower / (road_m * speed_mps**2), CHANGING)),
    )


@lru_cache(maxsize=4)
def speed_factors(network: RoadNetwork) -> FloatArray:
    """Return the mean speed of drivers over the limit of each edge, (n,)."""
    flow = flow_on(network)
    factors: FloatArray = flow.speed_mps * flow.going / network.speed_mps
    factors.setflags(write=False)
    return factors


def chosen_mps(network: RoadNetwork) -> FloatArray:
    """Return the speeds that drivers choose where nothing slows them, (n,) m/s."""
    fast = network.speed_mps > TOWN_MPS
    chosen: FloatArray = network.speed_mps * np.where(fast, OUTSIDE, TOWN)
    return chosen


def _ends(network: RoadNetwork, chosen: FloatArray, *, ahead: bool) -> RoadEnds:
    """Return the ends of the roads of all edges, in front of them or behind them.

    Parameters
    ----------
    network
        n edges.
    chosen
        (n,) speeds that drivers choose, m/s.
    ahead
        Whether the ends are in front.
    """
    table = TurnTable.from_network(network)
    near, far = (table.left, table.entered) if ahead else (table.entered, table.left)
    straight = _straight_on(table, near[: table.n_turns])
    has = straight >= 0
    row = np.where(has, straight, 0)
    stopping = np.where(has, stop_probability(table)[row], 1.0)
    kept = np.where(has, speed_kept(network, table)[row], 0.0)
    other = np.where(has, far[row], 0)
    passing = np.where(
        has, np.minimum(np.round(turn_speed_mps(table.angle_rad[row]), 3), chosen[other]), 0.0
    )
    is_light = has & (False if table.control is None else table.control[row] == LIGHT)
    waiting_s = np.where(is_light, stopping * WAIT_S, 0.0)
    alike = (passing >= kept * chosen) & has
    goes_on: BoolArray = alike & (stopping == 0.0) & (kept == 1.0) & (chosen[other] == chosen)
    away_m, last = _followed(np.where(goes_on, other, -1), network.length_m)
    moving = (1.0 - stopping) * kept**2
    share = np.where(alike, moving / (2.0 - moving), 0.0)
    own_m = np.where(alike, 0.0, (1.0 - stopping) * passing**2 / (2.0 * REACHED_MPS2))
    reaching_m = _reaching_m(own_m, share, np.where(alike, other, -1), network.length_m)
    return RoadEnds(away_m, stopping[last], kept[last], passing[last], waiting_s[last], reaching_m)


def _straight_on(table: TurnTable, near: IntArray) -> IntArray:
    """Return the straightest turn of each edge, (n,), -1 without one.

    Parameters
    ----------
    table
        The turns.
    near
        (m,) the edge that each turn belongs to.
    """
    order = np.lexsort((table.angle_rad[: table.n_turns], near))
    edges, first = np.unique(near[order], return_index=True)
    straight = np.full(table.n_edges, -1)
    straight[edges] = order[first]
    return straight


def _followed(following: IntArray, length_m: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the metres beyond each edge along its road, (n,), and the last edge of the road, (n,).

    Parameters
    ----------
    following
        (n,) next edge of the road, -1 at its end.
    length_m
        (n,) lengths of the edges, m.
    """
    last = np.where(following >= 0, following, np.arange(len(following)))
    away_m = np.where(following >= 0, length_m[last], 0.0)
    going = np.flatnonzero(following >= 0)
    for _ in range(len(following).bit_length()):  # enough for all roads but circles
        further = last[last[going]]
        going = going[further != last[going]]
        if not len(going):
            break
        away_m[going], last[going] = away_m[going] + away_m[last[going]], last[last[going]]
    return np.where(following[last] >= 0, ENDLESS_M, away_m), last


def _reaching_m(
    own_m: FloatArray, share: FloatArray, following: IntArray, length_m: FloatArray
) -> FloatArray:
    """Return ``r = own_m + share * (length_m + r)`` with the values of the next edge, (n,) m.

    Parameters
    ----------
    own_m, share
        (n,) numbers of each edge, the share at most 1.
    following
        (n,) next edge, -1 for none.
    length_m
        (n,) lengths of the edges, m.
    """
    last = np.where(following >= 0, following, np.arange(len(following)))
    share = np.where(following >= 0, share, 0.0)
    reaching_m = own_m + share * length_m[last]
    while np.any((share > LEAST) & (reaching_m < FAR_M)):
        reaching_m = np.minimum(reaching_m + share * reaching_m[last], FAR_M)
        share, last = share * share[last], last[last]
    return reaching_m
