"""The search problem of a request between positions.

A request between places that are not whole edges has arms of its own behind the roads' arms: a
start on each edge on which it may begin, a turn into each on which it may end, and a piece for two
positions on one edge. All its starts have one potential before them and all its ends one after
them, low and high enough that no weight is negative. So the weights of every candidate sum to its
energy but for one constant, and each search compares the candidates exactly.

By the driver's physics a trip ends at standstill, which returns kinetic energy. Every request then
has such ends, whole edges too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import NoRouteError
from evroute.network.heights.stretches import Stretches
from evroute.network.places.positions import JUNCTION_M, Position, whole_edges
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.piece_steps import OwnBehind
from evroute.planning.searches.legs import Exit, Legs, Piece, Start
from evroute.planning.searches.search import Search, no_way
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_numbers import ArmNumbers, DrivenArms

Vias = Sequence[tuple[int, ...]]


def problem_between(
    numbers: ArmNumbers,
    search: Search,
    starts: Sequence[Position],
    via: Vias,
    ends: Sequence[Position],
) -> SearchProblem:
    """Return the searches of a request.

    Parameters
    ----------
    numbers
        The numbers of the arms.
    search
        The search over them.
    starts
        Positions at which it may begin, on different edges.
    via
        For each place on the way the edges, one of which is driven from end to end.
    ends
        Positions at which it may end, on different edges. None for trips to every edge.

    Raises
    ------
    NoRouteError
        If no open way leads to an end.
    """
    single = len(starts) == 1 and len(ends) < 2 - numbers.space.halts
    if single and all(_whole(numbers, each) for each in ends):
        (start,) = starts
        if start.along_m == 0.0:
            last = tuple((each.edge,) for each in ends)
            return problem_over(numbers, search, start.edge, (*via, *last))
    own = OwnArms(numbers, search)
    own.add_starts(starts)
    if ends:
        own.add_ends(() if via else starts, ends)
        if not (own.exits or own.pieces):
            raise NoRouteError(no_way(starts[0].edge, ends[0].edge))
    stops = (*(tuple(each) for each in via), *(() for _ in ends[:1]))
    return own.problem(problem_over(numbers, search, starts[0].edge, stops))


def problem_over_edges(
    numbers: ArmNumbers, search: Search, edges: tuple[int, ...]
) -> SearchProblem:
    """Return the searches of a request over edges, from the beginning of the first one.

    Parameters
    ----------
    numbers, search
        As in `problem_between`.
    edges
        Edges to drive over in this order. The searches of less than two have no end.
    """
    if len(edges) < 2:
        return problem_over(numbers, search, edges[0] if edges else 0, ())
    starts = whole_edges(numbers.network, edges[:1], leaving=True)
    ends = whole_edges(numbers.network, edges[-1:], leaving=False)
    return problem_between(numbers, search, starts, [(edge,) for edge in edges[1:-1]], ends)


def problem_over(
    numbers: ArmNumbers, search: Search, origin: int, stops: Sequence[tuple[int, ...]]
) -> SearchProblem:
    """Return the searches of a request over whole edges.

    Parameters
    ----------
    numbers, search
        As in `problem_between`.
    origin
        First edge.
    stops
        For each leg the edges that end it.
    """
    states, arrays = numbers.states, numbers.arrays.of_request()
    none = np.empty(0)
    start = Start(origin, search.starts.start + origin)
    legs = Legs(search, (start,), tuple(stops), numbers.space.arms_of_route)
    return SearchProblem(
        legs,
        arrays.joined("time_s", lambda: numbers.time_s[states.edge], none),
        arrays.joined("length_m", lambda: numbers.length_m, none),
        OwnBehind(numbers.charge, ChargeFunctions.of_one_step(none), arrays),
        numbers.noise_std_wh,
        arrays.joined("tail_wh", lambda: states.tail_wh, none),
        arrays.joined("head_wh", lambda: states.head_wh, none),
        arrays=arrays,
        warm_up=numbers.warm_up,
    )


def _whole(numbers: ArmNumbers, end: Position) -> bool:
    """Return True if an end of a trip is the end of its edge."""
    return end.along_m == numbers.network.length_m[end.edge]


def _joined(
    one: tuple[IntArray, FloatArray], other: tuple[IntArray, FloatArray]
) -> tuple[IntArray, FloatArray]:
    """Return arms and shares of arms of a request, and then of others."""
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


@dataclass(slots=True)
class OwnArms:
    """The arms that only one request has, and their places in its legs.

    Parameters
    ----------
    numbers, search
        The arms of the roads, and the search over them.
    behind
        Number of arms between the roads' arms and these.
    tail_wh, head_wh
        Potentials before and after arms that begin or end at halts, Wh, by their places.
    """

    numbers: ArmNumbers
    search: Search
    behind: int = 0
    tail_wh: dict[int, float] = field(default_factory=dict)
    head_wh: dict[int, float] = field(default_factory=dict)
    arms: list[int] = field(default_factory=list)
    from_m: list[float] = field(default_factory=list)
    to_m: list[float] = field(default_factory=list)
    last: list[bool] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    def add_starts(self, starts: Sequence[Position]) -> None:
        """Add the starts at positions."""
        for each in starts:
            arm, length_m = self.start(each.edge), self.length_m(each.edge)
            row = self.row(arm, each.along_m, length_m, last=False)
            self.starts.append(Start(each.edge, row, each.along_m))

    def add_ends(self, starts: Sequence[Position], ends: Sequence[Position]) -> None:
        """Add the turns into the edges of positions, and the pieces from starts to them."""
        first, before, arms = self.search.turns_into
        for end in ends:
            to_m = None if _whole(self.numbers, end) else end.along_m
            turns = slice(first[end.edge], first[end.edge + 1])
            rows: dict[int, int] = {}
            for left, arm in zip(before[turns].tolist(), arms[turns].tolist(), strict=True):
                if arm not in rows:
                    rows[arm] = self.row(arm, 0.0, end.along_m, last=True)
                self.exits.append(Exit(left, end.edge, rows[arm], to_m))
        self.add_pieces(starts, ends)

    def add_pieces(self, starts: Sequence[Position], ends: Sequence[Position]) -> None:
        """Add the pieces from starts to ends ahead on the same edge."""
        ahead = {each.edge: each.along_m for each in starts}
        for end in ends:
            from_m = ahead.get(end.edge, np.inf)
            if from_m + JUNCTION_M < end.along_m:
                to_m = None if _whole(self.numbers, end) else end.along_m
                row = self.row(self.start(end.edge), from_m, end.along_m, last=True)
                self.pieces.append(Piece(end.edge, row, from_m, to_m))

    def driven(self) -> DrivenArms:
        """Return the arms by the parts of their edges that are driven, in their order."""
        arms = np.array(self.arms, dtype=np.int64)
        edge = self.numbers.states.edge[arms]
        halts = np.array(self.last, dtype=np.bool_) & self.numbers.space.halts
        stretches = Stretches(edge, np.array(self.from_m), np.array(self.to_m), halts)
        return self.numbers.of_parts(arms, stretches)

    def place(self, row: int) -> int:
        """Return the position among these arms of a row behind the network's arms."""
        return row - len(self.numbers.mean_wh) - self.behind

    def problem(self, base: SearchProblem) -> SearchProblem:
        """Return a search problem with these arms behind its own."""
        numbers, driven = self.numbers, self.driven()
        arrays = base.arrays
        assert arrays is not None, "the arms of a network have arrays for requests"
        arms = driven.arms
        tail_wh, head_wh = self._potentials(driven.energy_wh, base)

        def noise_std_wh() -> FloatArray:
            own_wh = np.sqrt(driven.share) * numbers.noise_std_wh()[arms]
            return np.concatenate([base.noise_std_wh(), own_wh])

        return SearchProblem(
            replace(
                base.legs,
                starts=tuple(self.starts),
                exits=tuple(self.exits),
                pieces=tuple(self.pieces),
            ),
            arrays.joined("time_s", lambda: base.time_s, driven.time_s),
            arrays.joined("length_m", lambda: base.length_m, driven.length_m),
            OwnBehind(base.charge, driven.charge, arrays),
            noise_std_wh,
            arrays.joined("tail_wh", lambda: base.tail_wh, tail_wh),
            arrays.joined("head_wh", lambda: base.head_wh, head_wh),
            (arms, driven.share) if base.own is None else _joined(base.own, (arms, driven.share)),
            arrays,
            numbers.warm_up,
        )

    def _potentials(
        self, energy_wh: FloatArray, base: SearchProblem
    ) -> tuple[FloatArray, FloatArray]:
        """Return the potential before and after the arms, (c,) Wh each."""
        first, arms = len(base.time_s), np.array(self.arms, dtype=np.int64)
        tail_wh, head_wh = base.tail_wh[arms], base.head_wh[arms]
        for wh, at_halts in ((tail_wh, self.tail_wh), (head_wh, self.head_wh)):
            wh[list(at_halts)] = list(at_halts.values())
        if not self.starts:
            return tail_wh, head_wh
        begin, end, direct = (
            np.unique([each.arm - first for each in own]).astype(np.int64)
            for own in (self.starts, self.exits, self.pieces)
        )
        before_wh = float((head_wh - energy_wh)[begin].max())
        tail_wh[begin] = tail_wh[direct] = before_wh
        last = np.concatenate([end, direct])
        head_wh[last] = (tail_wh + energy_wh)[last].min(initial=np.inf)
        return tail_wh, head_wh

    def row(self, arm: int, from_m: float, to_m: float, *, last: bool) -> int:
        """Add an arm and return its row.

        Parameters
        ----------
        arm
            Arm of the roads.
        from_m, to_m
            Metres along its edge between which it is driven.
        last
            Whether the car stops at its end.
        """
        self.arms.append(arm)
        self.from_m.append(from_m)
        self.to_m.append(to_m)
        self.last.append(last)
        return len(self.numbers.mean_wh) + self.behind + len(self.arms) - 1

    def start(self, edge: int) -> int:
        """Return the arm of a start on an edge."""
        return self.search.starts.start + edge

    def length_m(self, edge: int) -> float:
        """Return the length of an edge, m."""
        return float(self.numbers.network.length_m[edge])
