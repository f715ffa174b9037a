"""Turn restrictions of OpenStreetMap: relations of ``type=restriction`` applied to turns.

Source: https://wiki.openstreetmap.org/wiki/Relation:restriction. ``no_*`` forbids one way through,
``only_*`` every other. Each relation becomes forbidden successions of edges. A succession of two is
a turn, which is removed. A longer one, from a restriction via a way, needs a memory that turns do
not have, unless it can only be entered, or only be left, as a whole: if e2 is entered from e1
alone, forbidding (e1, e2, e3) is forbidding the turn (e2, e3). If e2 leads to e3 alone, it is
forbidding the turn (e1, e2). Those hold exactly (for trips that do not begin or end on the way
between). Other relations are counted and left out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from evroute.network.sources.osm_tags import VEHICLES, Tags

Turn = tuple[int, int]
Succession = tuple[int, ...]

CONDITIONAL = "conditional (hours, weights)"
EXEMPT = "not for cars"
INCOMPLETE = "with members outside the source"
MALFORMED = "malformed"
UNKNOWN_KIND = "of a kind that is none for cars"
NO_EFFECT = "on ways that cars may not drive so"
VIA_WAY = "via a way, more than turns can express"
_APPLIED = "applied"
_APPLIED_VIA_WAY = "applied via a way"
KINDS = {
    "no_left_turn",
    "no_right_turn",
    "no_straight_on",
    "no_u_turn",
    "no_entry",
    "no_exit",
    "only_left_turn",
    "only_right_turn",
    "only_straight_on",
    "only_u_turn",
}
"""Kinds that are applied. Others are no rules for turns of cars, such as ``no_right_turn_on_red``,
which holds at red lights alone."""
_HOURS = {"hour_on", "hour_off", "day_on", "day_off"}


@dataclass(frozen=True, slots=True)
class Relation:
    """A restriction as mapped.

    A member is (type, id, role). Its type is "node", "way" or "relation".
    """

    tags: Tags
    members: Sequence[tuple[str, int, str]]


@dataclass(frozen=True, slots=True)
class Roads:
    """The directed edges of relations: edge e on way ``way[e]``, node ``tail[e]`` to ``head[e]``.

    nodes: the nodes of every way of the source, open to cars or not, by way id.
    """

    way: Sequence[int]
    tail: Sequence[int]
    head: Sequence[int]
    nodes: Mapping[int, Sequence[int]]
    edges: defaultdict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        edges = defaultdict(list)
        for edge, way in enumerate(self.way):
            edges[way].append(edge)
        object.__setattr__(self, "edges", edges)

    def into(self, way: int, nodes: Container[int]) -> list[int]:
        """Return the edges of ``way`` that end at one of ``nodes``."""
        return [e for e in self.edges.get(way, ()) if self.head[e] in nodes]

    def out_of(self, way: int, nodes: Container[int]) -> list[int]:
        """Return the edges of ``way`` that begin at one of ``nodes``."""
        return [e for e in self.edges.get(way, ()) if self.tail[e] in nodes]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The remaining turns, and the number of relations by fate (the constants of this module)."""

    turns: set[Turn]
    left_out: Counter[str]
    applied: int
    applied_via_way: int

    @property
    def note(self) -> str:
        """One sentence for ``Source.notes``."""
        total = self.applied + self.left_out.total()
        if total == 0:
            return "the source has no turn restrictions"
        via = f" ({self.applied_via_way} of them via ways)" if self.applied_via_way else ""
        left = ", ".join(f"{n} {why}" for why, n in sorted(self.left_out.items()))
        return f"{self.applied} of {total} turn restrictions applied{via}" + (
            f", left out: {left}" if left else ""
        )


class _LeftOutError(Exception):
    """A relation that is not applied. The message is one of the module's constants."""


def apply(relations: Iterable[Relation], roads: Roads, turns: Iterable[Turn]) -> Outcome:
    """Return the turns after applying restrictions. ``only_u_turn`` adds turns.

    Several ``only_*`` relations that begin on the same edge allow each of their turns.

    Parameters
    ----------
    relations
        The restrictions.
    roads
        Edges, ways and nodes.
    turns
        Pairs of edges, before the restrictions.
    """
    turns, fates = set(turns), Counter[str]()
    forbidden: set[Turn] = set()
    only: defaultdict[int, set[int]] = defaultdict(set)
    via_ways: list[tuple[bool, list[Succession]]] = []
    for relation in relations:
        try:
            kind = _kind(relation.tags)
            successions = _successions(relation, kind, roads)
        except _LeftOutError as reason:
            fates[str(reason)] += 1
            continue
        if len(successions[0]) > 2:
            via_ways.append((kind.startswith("only_"), successions))
            continue
        fates[_APPLIED] += 1
        for a, b in successions:
            if kind.startswith("only_"):
                only[a].add(b)
            else:
                forbidden.add((a, b))
            if kind == "only_u_turn":
                turns.add((a, b))
    turns = {(a, b) for a, b in turns - forbidden if a not in only or b in only[a]}
    for fate in _apply_via_ways(via_ways, turns):
        fates[fate] += 1
    via_way, plain = fates.pop(_APPLIED_VIA_WAY, 0), fates.pop(_APPLIED, 0)
    return Outcome(turns, fates, applied=plain + via_way, applied_via_way=via_way)


def _kind(tags: Tags) -> str:
    """Return the restriction that holds for cars at all times, such as ``no_left_turn``."""
    value = next(
        (tags[key] for v in VEHICLES if (key := f"restriction:{v}") in tags),
        tags.get("restriction"),
    )
    others = [key for key in tags if key.startswith("restriction:")]
    if _HOURS & tags.keys():
        raise _LeftOutError(CONDITIONAL)
    if value is None and others:
        conditional = any("conditional" in key for key in others)
        raise _LeftOutError(CONDITIONAL if conditional else EXEMPT)
    if value is None:
        raise _LeftOutError(EXEMPT if _excepts_cars(tags) else MALFORMED)
    if "@" in value:
        raise _LeftOutError(CONDITIONAL)
    if value == "none" or _excepts_cars(tags):
        raise _LeftOutError(EXEMPT)
    if not re.fullmatch(r"(no|only)_\w+", value):
        raise _LeftOutError(MALFORMED)
    if value not in KINDS:
        raise _LeftOutError(UNKNOWN_KIND)
    return value


def _excepts_cars(tags: Tags) -> bool:
    """Return whether a restriction lists cars among the vehicles for which it does not hold."""
    excepted = {word.strip() for word in re.split("[;,]", tags.get("except", ""))}
    return not excepted.isdisjoint(VEHICLES)


@dataclass(frozen=True, slots=True)
class _Members:
    """Ids of a relation's ways in and out, and of its one node or its ways between."""

    origins: Sequence[int]
    targets: Sequence[int]
    node: int | None
    ways: Sequence[int]

    def places(self, roads: Roads) -> set[int]:
        """Return the nodes at which the way in may end, and the way out may begin."""
        if self.node is not None:
            return {self.node}
        return {node for way in self.ways for node in roads.nodes[way]}

    def successions(
        self, origin: int, target: int, places: set[int], roads: Roads
    ) -> list[Succession]:
        """Return the successions from one way to another, by their edges at ``places``."""
        ends = product(roads.into(origin, places), roads.out_of(target, places))
        if self.node is not None:
            return list(ends)
        through = (_through(self.ways, first, last, roads) for first, last in ends)
        return [succession for succession in through if succession is not None]


def _members(relation: Relation, kind: str) -> _Members:
    """Return the members of a well-formed relation."""
    ids: dict[str, list[int]] = {"from": [], "via": [], "to": []}
    types: dict[str, set[str]] = {"from": set(), "via": set(), "to": set()}
    for member, ref, role in relation.members:
        if role in ids:
            ids[role].append(ref)
            types[role].add(member)
    if types["from"] != {"way"} or types["to"] != {"way"}:
        raise _LeftOutError(MALFORMED)
    if len(ids["from"]) > 1 and kind != "no_entry":
        raise _LeftOutError(MALFORMED)
    if len(ids["to"]) > 1 and kind != "no_exit":
        raise _LeftOutError(MALFORMED)
    if types["via"] == {"way"}:
        return _Members(ids["from"], ids["to"], None, ids["via"])
    if types["via"] == {"node"} and len(ids["via"]) == 1:
        return _Members(ids["from"], ids["to"], ids["via"][0], ())
    raise _LeftOutError(MALFORMED)


def _successions(relation: Relation, kind: str, roads: Roads) -> list[Succession]:
    """Return the edge sequences of a restriction, one for each pair of from and to."""
    members = _members(relation, kind)
    ends = (*members.origins, *members.targets)
    if not all(way in roads.nodes for way in (*ends, *members.ways)):
        raise _LeftOutError(INCOMPLETE)
    places = members.places(roads)
    if any(places.isdisjoint(roads.nodes[way]) for way in ends):
        raise _LeftOutError(MALFORMED)
    found: list[Succession] = []
    for origin, target in product(members.origins, members.targets):
        successions = members.successions(origin, target, places, roads)
        if len(successions) > 1:
            raise _LeftOutError(MALFORMED)
        found += successions
    if not found:
        raise _LeftOutError(NO_EFFECT)
    return found


def _through(via: Sequence[int], origin: int, target: int, roads: Roads) -> Succession | None:
    """Return the shortest succession between two edges over all via ways, None if there is none."""
    steps = [e for way in via for e in roads.edges.get(way, ())]
    level: list[Succession] = [(origin,)]
    seen: set[int] = set()
    while level:
        level = [
            (*s, e)
            for s in level
            for e in steps
            if roads.tail[e] == roads.head[s[-1]] and e not in seen
        ]
        seen.update(s[-1] for s in level)
        for s in level:
            if roads.head[s[-1]] == roads.tail[target] and {roads.way[e] for e in s[1:]} == set(
                via
            ):
                return (*s, target)
    return None


def _apply_via_ways(
    relations: Sequence[tuple[bool, list[Succession]]], turns: set[Turn]
) -> list[str]:
    """Remove turns that express the (mandatory, successions). Return the fate of each relation."""
    if not relations:
        return []
    before: defaultdict[int, set[int]] = defaultdict(set)
    after: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in turns:
        before[b].add(a)
        after[a].add(b)
    pending = [
        _detours(successions[0], after) if only else set(successions)
        for only, successions in relations
    ]
    changed = True
    while changed:  # each turn removed can make further successions expressible
        changed = False
        for successions in pending:
            for succession in sorted(successions):
                if turns.issuperset(pairwise(succession)):
                    short = _shorten(succession, before, after)
                    if len(short) > 2:
                        continue
                    a, b = short
                    turns.remove((a, b))
                    before[b].remove(a)
                    after[a].remove(b)
                    changed = True
                successions.remove(succession)
    return [VIA_WAY if successions else _APPLIED_VIA_WAY for successions in pending]


def _shorten(
    s: Succession, before: Mapping[int, set[int]], after: Mapping[int, set[int]]
) -> Succession:
    """Drop the ends of a succession that are implied by the rest."""
    while len(s) > 2 and before[s[1]] == {s[0]}:
        s = s[1:]
    while len(s) > 2 and after[s[-2]] == {s[-1]}:
        s = s[:-1]
    return s


def _detours(succession: Succession, after: Mapping[int, set[int]]) -> set[Succession]:
    """Return the forbidden successions of a mandatory one: every way of leaving it."""
    return {
        (*succession[: i + 1], other)
        for i, step in enumerate(succession[:-1])
        for other in after[step] - {succession[i + 1]}
    }
