"""Searches between positions, against all routes of small networks with pieces cut by hand."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.constants import AIR_DENSITY_KGPM3, GRAVITY_MPS2
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import NoRouteError
from evroute.network.heights.stretches import Stretches
from evroute.network.places.positions import Position
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_tree import charge_tree
from evroute.planning.charge.risk import RiskSearch
from evroute.planning.charge.risk_bounds import RiskBounds
from evroute.planning.forecasts.first_passage import first_passage
from evroute.planning.planner import Planner
from evroute.planning.searches.between import problem_between
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.searches.tradeoff import cheapest_within

MakeNetwork = Callable[..., RoadNetwork]
CAR = load_vehicle("reference")
MOST_RISK = 0.05


def hilly(make_network: MakeNetwork, seed: int) -> RoadNetwork:
    """Return 6 junctions with two-way and one-way streets over rough ground."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0, 1500, (2, 6))
    z = rng.uniform(0, 60, 6)
    pairs = [(k, (k + 1) % 6) for k in range(6)] + [(0, 3)]
    edges = []
    for a, b in pairs:
        edges.append((f"{a}-{b}", a, b))
        if rng.random() < 0.8:
            edges.append((f"{b}-{a}", b, a))
    ends = [(a, b) for _, a, b in edges]
    straight = [float(np.hypot(x[a] - x[b], y[a] - y[b])) for a, b in ends]
    length_m = [200.0 + 1.1 * each for each in straight]
    speed_mps = rng.choice([8.0, 14.0, 20.0], len(edges))
    network = make_network(
        edges, list(zip(x, y, z, strict=True)), length_m=length_m, speed_mps=speed_mps
    )
    inner = []
    for (a, b), metres in zip(ends, length_m, strict=True):
        k = int(rng.integers(0, 5))
        share = np.arange(1, k + 1) / (k + 1)
        inner.append(z[a] + share * (z[b] - z[a]) + rng.uniform(-1, 1, k) * 0.05 * metres)
    start = np.concatenate([[0], np.cumsum([len(each) for each in inner])])
    heights = np.concatenate(inner).astype(np.float32)
    return network.with_tables({"profile": {"start": start, "height_m": heights}})


def eq8_wh(car: Vehicle, metres: float, climb_m: float, speed_mps: float) -> float:
    """Return eq. 8 of a piece, Wh, written out by hand."""
    weight_n = car.mass_kg * GRAVITY_MPS2
    level_m = (metres**2 - climb_m**2) ** 0.5
    drag = 0.5 * car.drag * car.front_m2 * AIR_DENSITY_KGPM3 * metres * speed_mps**2
    work = weight_n * climb_m + weight_n * car.rolling * level_m + drag
    factor = 1 / car.propulsion_efficiency if work >= 0 else car.recuperation_efficiency
    return (work * factor + car.auxiliary_w * metres / speed_mps) / 3600


def pieces_by_hand(
    network: RoadNetwork, edge: int, from_m: float, to_m: float
) -> list[tuple[float, float]]:
    """Return length and climb of the driven part of each piece of an edge, m."""
    table = network.tables["profile"]
    inner = table["height_m"][table["start"][edge] : table["start"][edge + 1]].tolist()
    heights = [
        network.elevation_m[network.tail[edge]], *inner, network.elevation_m[network.head[edge]]
    ]  # fmt: skip
    each_m = float(network.length_m[edge]) / (len(heights) - 1)
    driven = []
    for k, (low, high) in enumerate(pairwise(heights)):
        metres = min(to_m, (k + 1) * each_m) - max(from_m, k * each_m)
        if metres > 0:
            driven.append((metres, (high - low) * metres / each_m))
    return driven


@dataclass(frozen=True)
class Candidate:
    """A route with the energies of its pieces, Wh, its time, s, and its length, m."""

    route: Route
    steps_wh: list[float]
    time_s: float
    length_m: float

    @property
    def energy_wh(self) -> float:
        return sum(self.steps_wh)

    def left(self, battery: Battery) -> float:
        """Return the charge on arrival, Wh; minus infinity below the reserve."""
        charge = battery.start_wh
        for step in self.steps_wh:
            charge = min(charge - step, battery.capacity_wh)
            if charge < battery.reserve_wh - 1e-6:
                return -np.inf
        return charge


def walks(network: RoadNetwork, first: int, last: int) -> Iterator[list[int]]:
    """Yield the edges of all ways from one edge to another, no edge twice but first as last."""
    onward: dict[int, list[int]] = {}
    for a, b in network.turns.tolist():
        onward.setdefault(a, []).append(b)

    def from_(way: list[int]) -> Iterator[list[int]]:
        for edge in onward.get(way[-1], []):
            if edge == last:
                yield [*way, edge]
            elif edge not in way:
                yield from from_([*way, edge])

    yield from from_([first])


def all_candidates(
    planner: Planner,
    starts: Sequence[Position],
    via: Sequence[tuple[int, ...]],
    ends: Sequence[Position],
) -> list[Candidate]:
    """Return all routes between positions."""
    network = planner.network
    routes = []
    for start in starts:
        for end in ends:
            to_m = None if end.along_m == network.length_m[end.edge] else end.along_m
            if not via and start.edge == end.edge and start.along_m < end.along_m:
                routes.append(Route((start.edge,), start.along_m, to_m))
            ways = [[start.edge]]
            for edges in [*via, (end.edge,)]:
                ways = [
                    [*way[:-1], *walk]
                    for way in ways
                    for edge in edges
                    for walk in walks(network, way[-1], edge)
                ]
            routes += [Route(tuple(way), start.along_m, to_m) for way in ways]
    return [driven(planner, route) for route in routes]


def driven(planner: Planner, route: Route) -> Candidate:
    """Return the numbers of a route, by the pieces that are driven."""
    network, steps, time_s, length_m = planner.network, [], 0.0, 0.0
    arms = planner.space.arms_of_route(route).tolist()
    for k, (edge, arm) in enumerate(zip(route.edges, arms, strict=True)):
        from_m = route.start_m if k == 0 else 0.0
        to_m = float(network.length_m[edge])
        if k == len(route) - 1 and route.end_m is not None:
            to_m = route.end_m
        pieces = pieces_by_hand(network, edge, from_m, to_m)
        speed = float(network.speed_mps[edge])
        each = [eq8_wh(CAR, *piece, speed) for piece in pieces]
        if planner.physics == "driving":
            rows = np.array([arm])
            one = Stretches(np.array([edge]), np.array([from_m]), np.array([to_m]))
            turning = float(planner.space.stretch_wh(rows, one)[0]) - sum(each)
            each = [
                wh + turning * metres / (to_m - from_m)
                for wh, (metres, _) in zip(each, pieces, strict=True)
            ]
        steps += each
        if planner.physics == "driving" and k == len(route) - 1:  # it ends at standstill
            steps.append(float(planner.numbers.halt_wh[edge]))
        time_s += float(planner.time_s[edge]) * (to_m - from_m) / float(network.length_m[edge])
        length_m += to_m - from_m
    return Candidate(route, steps, time_s, length_m)


def drawn_ends(
    network: RoadNetwork, rng: np.random.Generator
) -> tuple[list[Position], list[tuple[int, ...]], list[Position]]:
    """Return random ends: points of streets, junctions or whole edges; sometimes a place between.

    Every third request begins in the middle of a street, where both directions cost nearly alike,
    and every fourth begins and ends on one street.
    """

    def both(edge: int, share: float) -> list[Position]:
        tail, head = network.tail[edge], network.head[edge]
        back = np.flatnonzero((network.tail == head) & (network.head == tail)).tolist()
        length_m = network.length_m
        found = [Position(edge, share * float(length_m[edge]))]
        return found + [Position(each, (1 - share) * float(length_m[each])) for each in back]

    first, last, between = rng.choice(network.n_edges, 3, replace=False).tolist()
    if rng.random() < 0.25:
        last = first
    share = float(rng.choice([0.5, rng.uniform(0.05, 0.95), rng.uniform(0.05, 0.95)]))
    starts = both(first, share)
    ends = both(last, float(rng.uniform(0.05, 0.95)))
    if rng.random() < 0.2:
        node = int(network.tail[first])
        starts = [Position(int(e), 0.0) for e in np.flatnonzero(network.tail == node)]
    if rng.random() < 0.2:
        node = int(network.head[last])
        rows = np.flatnonzero(network.head == node).tolist()
        ends = [Position(e, float(network.length_m[e])) for e in rows]
    via = []
    if rng.random() < 0.3 and between not in (first, last):
        via = [tuple(each.edge for each in both(between, 0.5))]
    return starts, via, ends


@pytest.fixture(params=[False, True], ids=["compiled", "scipy"])
def single(request: pytest.FixtureRequest) -> bool:
    if not request.param:
        pytest.importorskip("numba")
    return bool(request.param)


Risk = Callable[[Route, Battery], float]


def risk_along(problem: SearchProblem, std_wh: FloatArray, factor: float = 1.0) -> Risk:
    """Return a risk of routes over independent arms with these deviations, times a factor."""

    def risk_of(route: Route, battery: Battery) -> float:
        room_wh = problem.follow(battery, route).low_wh[1:] - battery.reserve_wh
        arms = np.diag(std_wh[problem.legs.arms_of_route(route)] ** 2)
        return factor * first_passage(room_wh, arms.cumsum(axis=0).cumsum(axis=1), 6.0)

    return risk_of


@pytest.mark.parametrize("physics", ["eq8", "driving"])
@pytest.mark.parametrize("seed", range(3))
def test_a_limit_of_risk_keeps_the_best_of_all_routes(
    make_network: MakeNetwork, seed: int, physics: str
) -> None:
    network = hilly(make_network, seed)
    planner = Planner(network, CAR, physics=physics)
    rng, seen = np.random.default_rng(seed + 300), Counter[str]()
    while seen["compared"] < 3:
        starts, via, ends = drawn_ends(network, rng)
        known = {each.route: each for each in all_candidates(planner, starts, via, ends)}
        if not known:
            continue
        problem = problem_between(planner.numbers, planner.search, starts, via, ends)
        std_wh = rng.uniform(0.05, 0.6, len(problem.energy_wh)) * np.abs(problem.energy_wh) + 2.0

        risk_of = risk_along(problem, std_wh)
        least_wh = min(each.energy_wh for each in known.values())
        battery = Battery(5000.0, max(least_wh, 0.0) + 20.0 + rng.uniform(10.0, 90.0), 20.0)
        risks = {route: risk_of(route, battery) for route in known}
        safe = [each for route, each in known.items() if risks[route] <= MOST_RISK]
        bounds, half_of = RiskBounds(problem, std_wh), risk_along(problem, std_wh, 0.5)

        def least_of(
            routes: Sequence[Route], battery: Battery, half_of: Risk = half_of
        ) -> list[float]:
            return [half_of(route, battery) for route in routes]

        search = RiskSearch(bounds, battery, MOST_RISK, risk_of, least_of)
        if not safe:
            assert search.best_of((1.0, 0.0), problem.time_s)[0] is None
            seen["none"] += 1
            continue
        for worth, name in (((1.0, 0.0), "energy_wh"), ((0.0, 1.0), "time_s")):
            best, gap = search.best_of(worth, problem.time_s)
            assert gap == 0.0
            least = min(getattr(each, name) for each in safe)
            assert getattr(known[best], name) == pytest.approx(least, abs=1e-6)
        seen["compared"] += 1
        seen["another"] += min(known, key=lambda route: known[route].energy_wh) not in {
            each.route for each in safe
        }
    assert seen["none"] + seen["another"] >= 1, seen


@pytest.mark.parametrize("physics", ["eq8", "driving"])
@pytest.mark.parametrize("seed", range(4))
def test_each_search_finds_the_best_of_all_routes(
    make_network: MakeNetwork, seed: int, physics: str, single: bool
) -> None:
    network = hilly(make_network, seed)
    planner = Planner(network, CAR, physics=physics, single=single)
    rng, searched = np.random.default_rng(seed + 100), 0
    while searched < 8:
        starts, via, ends = drawn_ends(network, rng)
        known = all_candidates(planner, starts, via, ends)
        if not known:
            with pytest.raises(NoRouteError):
                problem_between(planner.numbers, planner.search, starts, via, ends).legs.route(
                    planner.time_s[planner.states.edge]
                )
            continue
        searched += 1
        problem = problem_between(planner.numbers, planner.search, starts, via, ends)
        by_route = {each.route: each for each in known}
        check_additive(problem, by_route)
        check_limited(problem, by_route)
        check_battery(problem, by_route, rng)


def check_additive(problem: SearchProblem, known: dict[Route, Candidate]) -> None:
    """Check the fastest, the shortest and the route of least energy, and all their numbers."""
    for cost, name in ((problem.time_s, "time_s"), (problem.length_m, "length_m")):
        route = problem.legs.route(cost)
        least = min(getattr(each, name) for each in known.values())
        assert getattr(known[route], name) == pytest.approx(least, rel=1e-12)
        assert problem.legs.total(cost, route) == pytest.approx(least, rel=1e-12)
    route = problem.legs.route(problem.weights())
    least_wh = min(each.energy_wh for each in known.values())
    assert problem.taken_wh(route, None) == pytest.approx(least_wh, abs=1e-9)
    assert known[route].energy_wh == pytest.approx(least_wh, abs=1e-9)
    assert problem.weights().min() >= 0.0


def check_limited(problem: SearchProblem, known: dict[Route, Candidate]) -> None:
    """Check least energy within time limits between the fastest and the least energy."""
    fastest = problem.legs.route(problem.time_s)
    least = problem.legs.route(problem.weights())
    for share in (0.3, 0.8):
        limit_s = (1 - share) * known[fastest].time_s + share * known[least].time_s
        route, proof = cheapest_within(problem, (1.0, 0.0), limit_s, None, [fastest])
        allowed = [each for each in known.values() if each.time_s <= limit_s + 1e-9]
        assert proof.startswith("exact")
        assert known[route].energy_wh == pytest.approx(
            min(each.energy_wh for each in allowed), abs=1e-6
        )


def check_battery(
    problem: SearchProblem, known: dict[Route, Candidate], rng: np.random.Generator
) -> None:
    """Check the most charge on arrival with a small battery, and the least charge at the start."""
    spent_wh = min(each.energy_wh for each in known.values())
    capacity_wh = abs(spent_wh) * rng.uniform(1.0, 2.0) + 50.0
    battery = Battery(capacity_wh, capacity_wh * rng.uniform(0.4, 1.0), 0.05 * capacity_wh)
    arrived = {route: each.left(battery) for route, each in known.items()}
    best_wh = max(arrived.values())
    found, _ = problem.label_search.most_charge(battery)
    if found is None:
        assert best_wh == -np.inf
    else:
        assert arrived[found] == pytest.approx(best_wh, abs=1e-6)
        left_wh = problem.follow(battery, found).charge_wh[-1]
        assert left_wh == pytest.approx(best_wh, abs=1e-6)
    shortage = problem.shortage
    need_wh = shortage.least_start_wh(battery)
    least = problem.legs.route(problem.weights())
    assert shortage.least_start_wh(battery, least) == pytest.approx(need_wh, abs=1e-9)

    def reaches(start_wh: float) -> bool:
        begun = Battery(capacity_wh, start_wh, battery.reserve_wh)
        return any(each.left(begun) > -np.inf for each in known.values())

    assert reaches(capacity_wh) == np.isfinite(need_wh)
    if np.isfinite(need_wh):
        assert reaches(min(need_wh + 0.01, capacity_wh))
        assert need_wh - 0.01 < battery.reserve_wh or not reaches(need_wh - 0.01)


@pytest.mark.parametrize("physics", ["eq8", "driving"])
@pytest.mark.parametrize("seed", range(4))
def test_ranges_begin_at_positions(make_network: MakeNetwork, seed: int, physics: str) -> None:
    """The most charge at the end of every edge is that of the best of all routes to it."""
    network = hilly(make_network, seed)
    planner = Planner(network, CAR, physics=physics)
    starts = [Position(0, 0.3 * float(network.length_m[0])), Position(1, 20.0)]
    battery = Battery(700.0, 500.0, 10.0)
    problem = problem_between(planner.numbers, planner.search, starts, (), ())
    tree = charge_tree(problem, battery)
    best: dict[int, float] = {}
    for edge in range(network.n_edges):
        end = Position(edge, float(network.length_m[edge]))
        known = all_candidates(planner, starts, (), [end])
        if physics == "driving":  # the routes go on
            known = [replace(each, steps_wh=each.steps_wh[:-1]) for each in known]
        best[edge] = max((each.left(battery) for each in known), default=-np.inf)
    within = {edge for edge, left_wh in best.items() if left_wh > -np.inf}
    assert set(tree.edges.tolist()) == within
    assert len(within) > 2
    for edge, end_wh in zip(tree.edges.tolist(), tree.end_wh.tolist(), strict=True):
        assert end_wh == pytest.approx(best[edge], abs=1e-6)
