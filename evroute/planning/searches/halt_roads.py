"""HaltRoads: the roads of a day with the halts at which routes may stop, such as charging stations.

The search has more nodes and turns than the roads. An arm that ends at a halt drives its edge up to
there, and one that begins there drives on. The potential of a halt is the least with which a car
arrives. All requests with the same halts share them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import NoRouteError
from evroute.network.line_graph import LineGraph
from evroute.network.places.positions import JUNCTION_M, Position
from evroute.planning.searches.between import OwnArms, Vias, problem_over
from evroute.planning.searches.halts import Halt, Halts, PartRows
from evroute.planning.searches.legs import Exit, Start
from evroute.planning.searches.search import Search, no_way
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_numbers import ArmNumbers
from evroute.planning.spaces.request_arrays import SharedArrays


@dataclass(frozen=True, slots=True, eq=False)
class HaltRoads:
    """The roads of a day with halts.

    Parameters
    ----------
    numbers
        The numbers of the arms of the roads.
    base
        Search and numbers of the arms, the halts' arms included, without a request.
    halts
        The halts.
    arrived_wh
        Potential at each node of arrival, Wh.
    onward
        By edge, the nodes on which a car that stopped on it drives on to its end.
    arrays
        Arrays over the arms, for the requests.
    """

    numbers: ArmNumbers
    base: SearchProblem
    halts: Halts
    arrived_wh: Mapping[int, float]
    onward: Mapping[int, Sequence[int]]
    arrays: SharedArrays = field(default_factory=SharedArrays)

    @classmethod
    def of(
        cls, numbers: ArmNumbers, search: Search, halts: Sequence[Halt], closed: Sequence[int] = ()
    ) -> "HaltRoads":
        """Return roads with halts.

        Parameters
        ----------
        numbers
            The numbers of the arms.
        search
            The search over them.
        halts
            The halts.
        closed
            Edges that are not driven, as in ``search``.
        """
        nodes = HaltNodes(OwnArms(numbers, search), search.line_graph.n_edges)
        nodes.add(halts, closed)
        base, driven = problem_over(numbers, search, 0, ()), nodes.own.driven()
        arrived_wh = nodes.arrived_wh(base.tail_wh[driven.arms] + driven.energy_wh)
        for row, node in nodes.tail_of.items():
            nodes.own.tail_wh[nodes.own.place(row)] = arrived_wh[node]
        for row, node in nodes.head_of.items():
            nodes.own.head_wh[nodes.own.place(row)] = arrived_wh[node]
        legs = replace(base.legs, search=nodes.search())
        base = nodes.own.problem(replace(base, legs=legs))
        after_wh = base.head_wh[[nodes.entering[node] for node in nodes.numbered]]
        return cls(numbers, base, nodes.halts(after_wh), arrived_wh, nodes.onward())

    def problem(
        self, starts: Sequence[Position], via: Vias, ends: Sequence[Position]
    ) -> SearchProblem:
        """Return the searches of a request that may stop at the halts.

        Parameters
        ----------
        starts, via, ends
            As in `problem_between`.

        Raises
        ------
        NoRouteError
            If no open way leads to an end.
        """
        base, added = self.base, len(self.base.time_s) - len(self.numbers.mean_wh)
        own = OwnArms(self.numbers, base.legs.search, added)
        own.add_starts(starts)
        own.add_ends(() if via else starts, ends)
        self._add_first(own, starts)
        self._add_last(own, ends)
        if not (own.exits or own.pieces):
            raise NoRouteError(no_way(starts[0].edge, ends[0].edge))
        passed = (
            (*edges, *(node for edge in edges for node in self.onward.get(edge, ())))
            for edges in via
        )
        legs = replace(
            base.legs,
            stops=(*passed, ()),
            halts=self.halts,
            beyond=tuple(self._beyond(own, ends)),
        )
        return own.problem(replace(base, legs=legs, arrays=self.arrays.of_request()))

    def _add_first(self, own: OwnArms, starts: Sequence[Position]) -> None:
        """Add the ways from starts to halts ahead on their edges. A start may be at a halt."""
        for start in starts:
            for node, to_m in self.halts.on_edge(start.edge):
                if start.along_m <= to_m + JUNCTION_M:
                    from_m = min(start.along_m, to_m)
                    row = own.row(own.start(start.edge), from_m, to_m, last=True)
                    own.head_wh[own.place(row)] = self.arrived_wh[node]
                    own.starts.append(Start(node, row, start.along_m))

    def _beyond(self, own: OwnArms, ends: Sequence[Position]) -> Iterator[tuple[int, int | None]]:
        """Yield the ways on from ends, to the ends of their edges and to halts (`Legs.beyond`)."""
        for end in ends:
            length_m = own.length_m(end.edge)
            cut = end.along_m < length_m - JUNCTION_M
            onward = own.start(end.edge), end.along_m, length_m
            yield end.edge, own.row(*onward, last=False) if cut else None
            for node, to_m in self.halts.on_edge(end.edge):
                if abs(to_m - end.along_m) <= JUNCTION_M:
                    yield node, None
                elif to_m > end.along_m:
                    yield node, own.row(own.start(end.edge), end.along_m, to_m, last=True)

    def _add_last(self, own: OwnArms, ends: Sequence[Position]) -> None:
        """Add the ways from halts to ends ahead on their edges."""
        ahead = {end.edge: end.along_m for end in ends}
        for node, departures_m in self.halts.departures_m.items():
            for edge, from_m in departures_m.items():
                to_m = ahead.get(edge, -np.inf)
                if from_m + JUNCTION_M < to_m:
                    row = own.row(own.start(edge), from_m, to_m, last=True)
                    own.tail_wh[own.place(row)] = self.arrived_wh[node]
                    whole = to_m == own.length_m(edge)
                    own.exits.append(Exit(node, edge, row, None if whole else to_m))


@dataclass(slots=True)
class HaltNodes:
    """The nodes of halts as they are added, their turns, and their arms.

    Parameters
    ----------
    own
        The arms.
    n_roads
        Number of edges, which are the first nodes.
    arrivals, departures
        Halt and position of each node of arrival. Number of its arrival and position of each node
        of departure.
    turns
        Nodes before and after each turn, and its arm.
    tail_of, head_of
        Nodes of arrival before and after arms.
    entering
        An arm that ends at each node.
    rows
        The arms by edges and metres.
    """

    own: OwnArms
    n_roads: int
    arrivals: list[tuple[Halt, Position]] = field(default_factory=list)
    departures: list[tuple[int, Position]] = field(default_factory=list)
    turns: list[tuple[int, int, int]] = field(default_factory=list)
    tail_of: dict[int, int] = field(default_factory=dict)
    head_of: dict[int, int] = field(default_factory=dict)
    entering: dict[int, int] = field(default_factory=dict)
    rows: PartRows = field(default_factory=lambda: PartRows({}, {}, {}))

    @property
    def first(self) -> int:
        """The number of nodes before the nodes of arrival."""
        return self.n_roads + len(self.departures)

    @property
    def numbered(self) -> range:
        """The nodes of the halts."""
        return range(self.n_roads, self.first + len(self.arrivals))

    def add(self, halts: Sequence[Halt], closed: Sequence[int]) -> None:
        """Add the nodes of halts, and the turns between them and the roads.

        Parameters
        ----------
        halts, closed
            As in `HaltRoads.of`.
        """
        for halt in halts:
            goes_on = [each for each in halt.departures if each.edge not in closed]
            for arrival in halt.arrivals:
                if arrival.edge not in closed:
                    self.departures += [(len(self.arrivals), each) for each in goes_on]
                    self.arrivals.append((halt, arrival))
        leaving, arriving = defaultdict(list), defaultdict(list)
        for number, (_, at) in enumerate(self.departures):
            leaving[at.edge].append(self.n_roads + number)
        for number, (_, at) in enumerate(self.arrivals):
            arriving[at.edge].append((self.first + number, at.along_m))
            self._arrive(self.first + number, at, leaving)
        for number, (row, at) in enumerate(self.departures):
            self._drive_on(self.n_roads + number, self.first + row, at)
            self._drive_to(self.first + row, at, arriving[at.edge])

    def _arrive(self, node: int, at: Position, leaving: Mapping[int, Sequence[int]]) -> None:
        """Add the turns into the edge of an arrival."""
        first, before, arms = self.own.search.turns_into
        turns, made = slice(first[at.edge], first[at.edge + 1]), dict[int, int]()
        for left, arm in zip(before[turns].tolist(), arms[turns].tolist(), strict=True):
            if arm not in made:
                made[arm] = self.own.row(arm, 0.0, at.along_m, last=True)
                self.head_of[made[arm]] = node
            self.entering[node] = self.rows.ends[left, at.edge, at.along_m] = made[arm]
            # the nodes of departure have the turns of their edges
            self.turns += [(each, node, made[arm]) for each in (left, *leaving.get(left, ()))]
        if not made:  # only a trip that begins on the edge gets there
            reached = self.own.start(at.edge), 0.0, at.along_m
            self.entering[node] = self.own.row(*reached, last=True)
            self.head_of[self.entering[node]] = node

    def _drive_on(self, node: int, halt: int, at: Position) -> None:
        """Add the way from a halt to the end of an edge, and the turns there."""
        arm, length_m = self.own.start(at.edge), self.own.length_m(at.edge)
        row = self.own.row(arm, at.along_m, length_m, last=False)
        self.rows.starts[at.edge, at.along_m] = self.entering[node] = row
        self.tail_of[row] = halt
        self.turns.append((halt, node, row))
        search = self.own.search
        turns = slice(*search.line_graph.indptr[at.edge : at.edge + 2].tolist())
        into = zip(
            search.line_graph.indices[turns].tolist(), search.entering[turns].tolist(), strict=True
        )
        self.turns += [(node, edge, arm) for edge, arm in into]

    def _drive_to(self, halt: int, at: Position, ahead: Sequence[tuple[int, float]]) -> None:
        """Add the ways from a halt to halts ahead on an edge."""
        for node, to_m in ahead:
            if at.along_m + JUNCTION_M < to_m:
                row = self.own.row(self.own.start(at.edge), at.along_m, to_m, last=True)
                self.rows.pieces[at.edge, at.along_m, to_m] = row
                self.tail_of[row], self.head_of[row] = halt, node
                self.turns.append((halt, node, row))

    def arrived_wh(self, end_wh: FloatArray) -> dict[int, float]:
        """Return the least potential with which a car arrives at each halt from roads, Wh.

        Parameters
        ----------
        end_wh
            (c,) potential before each arm plus its energy, Wh.
        """
        least: dict[int, float] = {}
        for row, node in self.head_of.items():
            if row not in self.tail_of:
                reached_wh = float(end_wh[self.own.place(row)])
                least[node] = min(reached_wh, least.get(node, np.inf))
        return least

    def search(self) -> Search:
        """Return the search over roads and halts."""
        roads, graph = self.own.search, self.own.search.line_graph
        before, into, arm = np.array(self.turns, dtype=np.int64).reshape(-1, 3).T
        before = np.concatenate([graph.source, before])
        order, n = np.argsort(before, kind="stable"), self.numbered.stop
        counts = np.bincount(before, minlength=n)
        extended = Search(
            LineGraph(
                np.append(0, np.cumsum(counts)).astype(np.int32),
                np.concatenate([graph.indices, into])[order].astype(np.int32),
                before[order].astype(np.int32),
            ),
            compiled=roads.compiled,
        )
        extended.turns, extended.starts = roads.turns, roads.starts
        extended.entering = np.concatenate([roads.entering, arm])[order]
        return extended

    def halts(self, after_wh: FloatArray) -> Halts:
        """Return the halts with the potential at their nodes.

        Parameters
        ----------
        after_wh
            (N - n_roads,) as in `Halts`.
        """
        at = [position for _, position in (*self.departures, *self.arrivals)]
        edges = np.array([position.edge for position in at], dtype=np.int64)
        nodes: dict[Halt, list[int]] = defaultdict(list)
        departures_m: dict[int, dict[int, float]] = defaultdict(dict)
        for number, (halt, _) in enumerate(self.arrivals):
            nodes[halt].append(self.first + number)
        for arrival, position in self.departures:
            departures_m[self.first + arrival][position.edge] = position.along_m
        return Halts(
            self.n_roads,
            self.first,
            np.concatenate([np.arange(self.n_roads), edges]),
            {self.n_roads + k: position.along_m for k, position in enumerate(at)},
            {halt: tuple(each) for halt, each in nodes.items()},
            departures_m,
            after_wh,
            self.rows,
        )

    def onward(self) -> dict[int, list[int]]:
        """Return by edge the nodes on which a car that stopped on it drives on to its end."""
        found = defaultdict(list)
        for number, (arrival, at) in enumerate(self.departures):
            if self.arrivals[arrival][1].edge == at.edge:
                found[at.edge].append(self.n_roads + number)
        return found
