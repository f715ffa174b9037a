"""Turn restrictions: on a T-junction, at dual carriageways, and against an exhaustive count of
legal ways.
"""

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork
from evroute.network.sources import restrictions
from evroute.network.sources.restrictions import Relation, Roads

Reader = Callable[..., RoadNetwork]
ROAD = {"highway": "residential"}
# a T: 1 - 2 - 3 from west to east, 5 north of 2
NODES = {1: (0, 0), 2: (1, 0), 3: (2, 0), 5: (1, 1)}
WAYS = {
    10: ((1, 2), ROAD),
    11: ((2, 3), ROAD),
    12: ((2, 5), ROAD),
    13: ((2, 3), {"highway": "cycleway"}),
}
AT_T = {("1", "3"), ("1", "5"), ("3", "1"), ("3", "5"), ("5", "1"), ("5", "3")}


def rule(
    kind: str, *members: tuple[str, int, str], **tags: str
) -> tuple[dict[str, str], list[tuple[str, int, str]]]:
    return {"restriction": kind, **tags}, list(members)


def at_t(kind: str, origin: int = 10, target: int = 12, **tags: str) -> object:
    return rule(kind, ("way", origin, "from"), ("node", 2, "via"), ("way", target, "to"), **tags)


def over_node_2(network: RoadNetwork) -> set[tuple[str, str]]:
    """Return where from, where to, for the turns at node 2."""
    ids = [edge_id.split(",") for edge_id in network.edge_id]
    return {(ids[a][0], ids[b][1]) for a, b in network.turns if ids[a][1] == "2"}


@pytest.mark.parametrize(
    ("relation", "lost", "told"),
    [
        (at_t("no_left_turn"), {("1", "5")}, "1 of 1 turn restrictions applied"),
        (at_t("no_straight_on", target=11), {("1", "3")}, "1 of 1 turn restrictions applied"),
        (at_t("only_straight_on", target=11), {("1", "5")}, "1 of 1 turn restrictions applied"),
        (at_t("only_left_turn"), {("1", "3")}, "1 of 1 turn restrictions applied"),
        (at_t("no_u_turn", target=10), set(), "1 of 1 turn restrictions applied"),
        (
            at_t("no_left_turn", **{"except": "psv;bicycle"}),
            {("1", "5")},
            "1 of 1 turn restrictions applied",
        ),
        (at_t("no_left_turn", **{"except": "psv; motorcar"}), set(), "0 of 1 .*: 1 not for cars"),
        (at_t("no_left_turn", **{"except": "motor_vehicle"}), set(), "0 of 1 .*: 1 not for cars"),
        (({"restriction:hgv": "no_left_turn"}, at_t("")[1]), set(), "0 of 1 .*: 1 not for cars"),
        (({"restriction:motorcar": "no_left_turn"}, at_t("")[1]), {("1", "5")}, "1 of 1"),
        (
            ({"restriction:conditional": "no_left_turn @ (07:00-09:00)"}, at_t("")[1]),
            set(),
            "0 of 1 .*: 1 conditional",
        ),
        (at_t("no_left_turn @ (07:00-09:00)"), set(), "0 of 1 .*: 1 conditional"),
        (at_t("no_left_turn", hour_on="07:00"), set(), "0 of 1 .*: 1 conditional"),
        (at_t("left_turn"), set(), "0 of 1 .*: 1 malformed"),
        (
            rule("no_left_turn", ("way", 10, "from"), ("way", 12, "to")),
            set(),
            "0 of 1 .*: 1 malformed",
        ),
        (
            rule("no_left_turn", ("way", 10, "from"), ("node", 5, "via"), ("way", 12, "to")),
            set(),
            "1 malformed",
        ),
        (
            rule(
                "no_left_turn",
                ("way", 10, "from"),
                ("way", 11, "from"),
                ("node", 2, "via"),
                ("way", 12, "to"),
            ),
            set(),
            "1 malformed",
        ),
        (at_t("no_left_turn", target=99), set(), "1 with members outside the source"),
        (at_t("no_left_turn", target=13), set(), "1 on ways that cars may not drive so"),
        (
            rule(
                "no_entry",
                ("way", 10, "from"),
                ("way", 11, "from"),
                ("node", 2, "via"),
                ("way", 12, "to"),
            ),
            {("1", "5"), ("3", "5")},
            "1 of 1",
        ),
        (
            rule(
                "no_exit",
                ("way", 10, "from"),
                ("node", 2, "via"),
                ("way", 11, "to"),
                ("way", 12, "to"),
            ),
            {("1", "3"), ("1", "5")},
            "1 of 1",
        ),
    ],
)
def test_a_restriction_at_a_t_junction(
    read_osm: Reader, relation: object, lost: set[tuple[str, str]], told: str
) -> None:
    network = read_osm(NODES, WAYS, [relation])
    assert over_node_2(network) == AT_T - lost
    (note,) = [n for n in network.source.notes if "turn restrictions" in n]
    assert re.search(told, note), note


def test_two_mandatory_directions_allow_both(read_osm: Reader) -> None:
    nodes, ways = {**NODES, 6: (1, -1)}, {**WAYS, 14: ((2, 6), ROAD)}
    network = read_osm(nodes, ways, [at_t("only_straight_on", target=11), at_t("only_left_turn")])
    assert {b for a, b in over_node_2(network) if a == "1"} == {"3", "5"}


def test_a_mandatory_u_turn_is_allowed(read_osm: Reader) -> None:
    network = read_osm(NODES, WAYS, [at_t("only_u_turn", target=10)])
    assert {b for a, b in over_node_2(network) if a == "1"} == {"1"}


def test_a_way_that_runs_through_the_via_is_ambiguous(read_osm: Reader) -> None:
    network = read_osm(NODES, {10: ((1, 2, 3), ROAD), 12: ((2, 5), ROAD)}, [at_t("no_left_turn")])
    assert over_node_2(network) == AT_T
    one_way = read_osm(
        NODES,
        {10: ((1, 2, 3), {**ROAD, "oneway": "yes"}), 12: ((2, 5), ROAD)},
        [at_t("no_left_turn")],
    )
    assert ("1", "5") not in over_node_2(one_way)


# Two carriageways, 1 > 2 > 3 eastward and 6 > 5 > 4 westward, joined by 2 - 5; 7 south of 2 and 8
# north of 5.
DUAL = {1: (0, 0), 2: (1, 0), 3: (2, 0), 4: (0, 1), 5: (1, 1), 6: (2, 1), 7: (1, -1), 8: (1, 2)}
ONE_WAY = {**ROAD, "oneway": "yes"}
CARRIAGEWAYS = {
    20: ((1, 2), ONE_WAY),
    21: ((2, 3), ONE_WAY),
    22: ((6, 5), ONE_WAY),
    23: ((5, 4), ONE_WAY),
    24: ((2, 5), ROAD),
}
NO_U_TURN = rule("no_u_turn", ("way", 20, "from"), ("way", 24, "via"), ("way", 23, "to"))


def turn_ids(network: RoadNetwork) -> set[tuple[str, str]]:
    return {(network.edge_id[a], network.edge_id[b]) for a, b in network.turns}


def test_a_u_turn_over_a_connection_of_its_own_is_forbidden_exactly(read_osm: Reader) -> None:
    free = turn_ids(read_osm(DUAL, CARRIAGEWAYS))
    network = read_osm(DUAL, CARRIAGEWAYS, [NO_U_TURN])
    assert free - turn_ids(network) == {("2,5,0", "5,4,0")}
    assert "1 of 1 turn restrictions applied (1 of them via ways)" in network.source.notes


def test_a_u_turn_over_a_shared_connection_is_left_out_and_counted(read_osm: Reader) -> None:
    ways = {**CARRIAGEWAYS, 25: ((7, 2), ROAD), 26: ((5, 8), ROAD)}
    network = read_osm(DUAL, ways, [NO_U_TURN])
    assert turn_ids(network) == turn_ids(read_osm(DUAL, ways))
    assert any(
        "0 of 1 turn restrictions applied, left out: 1 via a way" in note
        for note in network.source.notes
    )


def test_a_mandatory_way_over_a_way_forbids_every_detour(read_osm: Reader) -> None:
    ways = {**CARRIAGEWAYS, 26: ((5, 8), ROAD)}
    straight = rule("only_straight_on", ("way", 20, "from"), ("way", 24, "via"), ("way", 26, "to"))
    network = read_osm(DUAL, ways, [straight])
    lost = turn_ids(read_osm(DUAL, ways)) - turn_ids(network)
    assert lost == {("1,2,0", "2,3,0"), ("2,5,0", "5,4,0")}


def test_several_via_ways_are_followed_in_whatever_order(read_osm: Reader) -> None:
    nodes, ways = {**DUAL, 9: (1, 0.5)}, {**CARRIAGEWAYS, 24: ((2, 9), ROAD), 25: ((5, 9), ROAD)}
    members = [("way", 20, "from"), ("way", 25, "via"), ("way", 24, "via"), ("way", 23, "to")]
    network = read_osm(nodes, ways, [rule("no_u_turn", *members)])
    assert turn_ids(read_osm(nodes, ways)) - turn_ids(network) == {("9,5,0", "5,4,0")}


def legal_ways(turns: set[tuple[int, int]], start: int, steps: int) -> Iterator[tuple[int, ...]]:
    """Yield every succession of edges from ``start`` with up to ``steps`` turns."""
    level: list[tuple[int, ...]] = [(start,)]
    for _ in range(steps):
        yield from level
        level = [(*way, b) for way in level for a, b in turns if a == way[-1]]
    yield from level


def obeys(way: tuple[int, ...], forbidden: tuple[int, ...], mandatory: bool) -> bool:
    """Tell whether a succession of edges obeys a no_* restriction, or an only_* one as far as it
    goes.
    """
    k = len(forbidden)
    for i in range(len(way)):
        stretch = way[i : i + k]
        if mandatory:
            if stretch[0] == forbidden[0] and stretch != forbidden[: len(stretch)]:
                return False
        elif stretch == forbidden:
            return False
    return True


@pytest.mark.parametrize("mandatory", [False, True])
def test_via_way_restrictions_on_random_networks_equal_an_exhaustive_count(mandatory: bool) -> None:
    """What counts as applied holds, for ways that do not begin or end on the via way; the rest
    loses nothing.
    """
    rng = np.random.default_rng(8)
    exact = left_out = 0
    for _ in range(300):
        n, nodes = int(rng.integers(5, 10)), int(rng.integers(3, 6))
        tail, head = rng.integers(nodes, size=n).tolist(), rng.integers(nodes, size=n).tolist()
        all_turns = {(a, b) for a in range(n) for b in range(n) if head[a] == tail[b] and (a != b)}
        chains = [
            (a, b, c)
            for a, b in all_turns
            for c in range(n)
            if (b, c) in all_turns and a != c and tail[b] != head[b]
        ]
        if not chains:
            continue
        origin, via, target = chains[int(rng.integers(len(chains)))]
        roads = Roads(range(n), tail, head, {way: (tail[way], head[way]) for way in range(n)})
        members = [("way", origin, "from"), ("way", via, "via"), ("way", target, "to")]
        kind = "only_straight_on" if mandatory else "no_u_turn"
        outcome = restrictions.apply([Relation({"restriction": kind}, members)], roads, all_turns)
        if outcome.left_out.keys() - {restrictions.VIA_WAY}:
            continue  # ambiguous: origin or target touch the via way at both ends
        for start in set(range(n)) - {via}:
            kept = {way for way in legal_ways(outcome.turns, start, 4) if way[-1] != via}
            right = {
                way
                for way in legal_ways(all_turns, start, 4)
                if way[-1] != via and obeys(way, (origin, via, target), mandatory)
            }
            assert right <= kept if outcome.applied == 0 else right == kept
        exact += outcome.applied
        left_out += 1 - outcome.applied
    assert exact > 20
    assert left_out > 20


def test_a_succession_made_impossible_by_another_restriction_counts_as_applied() -> None:
    roads = Roads(
        [0, 1, 2, 3], [0, 1, 2, 0], [1, 2, 3, 1], {0: (0, 1), 1: (1, 2), 2: (2, 3), 3: (0, 1)}
    )
    turns = {(0, 1), (3, 1), (1, 2)}
    via = Relation(
        {"restriction": "no_u_turn"}, [("way", 0, "from"), ("way", 1, "via"), ("way", 2, "to")]
    )
    at_node = Relation(
        {"restriction": "no_left_turn"}, [("way", 0, "from"), ("node", 1, "via"), ("way", 1, "to")]
    )
    assert restrictions.apply([via], roads, turns).turns == {
        (3, 1),
        (1, 2),
    }  # 1 leads to 2 alone: forbid entering
    assert restrictions.apply([via, at_node], roads, turns).applied == 2
