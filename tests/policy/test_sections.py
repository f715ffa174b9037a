"""Sections in which routes differ, and what trips took on them: by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evroute.policy.licence import Journal, Totals, differing

BASELINE = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)


def test_a_detour_keeps_two_shared_edges_on_either_side() -> None:
    assert differing((0, 1, 2, 3, 20, 21, 6, 7, 8, 9), BASELINE) == [
        ((2, 3, 20, 21, 6, 7), (2, 3, 4, 5, 6, 7))
    ]


def test_near_the_ends_there_are_fewer_to_keep() -> None:
    assert differing((0, 20, 2, 3, 4, 5, 6, 7, 8, 9), BASELINE) == [((0, 20, 2, 3), (0, 1, 2, 3))]


def test_detours_far_apart_are_two_and_near_ones_are_one() -> None:
    far = (0, 20, 2, 3, 4, 5, 6, 7, 21, 9)
    assert differing(far, BASELINE) == [
        ((0, 20, 2, 3), (0, 1, 2, 3)),
        ((6, 7, 21, 9), (6, 7, 8, 9)),
    ]
    near = (0, 20, 2, 3, 4, 21, 6, 7, 8, 9)
    assert differing(near, BASELINE) == [((0, 20, 2, 3, 4, 21, 6, 7), (0, 1, 2, 3, 4, 5, 6, 7))]


def test_a_route_that_skips_an_edge_differs_there() -> None:
    assert differing((0, 1, 2, 3, 5, 6, 7, 8, 9), BASELINE) == [((2, 3, 5, 6), (2, 3, 4, 5, 6))]


def test_the_same_route_differs_nowhere() -> None:
    assert differing(BASELINE, BASELINE) == []


@given(
    st.permutations(range(1, 12)),
    st.integers(0, 11),
    st.permutations(range(1, 12)),
    st.integers(0, 11),
)
def test_sections_start_and_end_alike_and_hold_all_that_differs(a, m, b, n) -> None:
    route, baseline = (0, *a[:m], 12), (0, *b[:n], 12)
    pairs = differing(route, baseline)
    rest_route, rest_baseline = list(route), list(baseline)
    for own, known in pairs:
        assert (own[0], own[-1]) == (known[0], known[-1])
        at, instead = route.index(own[0]), baseline.index(known[0])
        assert route[at : at + len(own)] == own
        assert baseline[instead : instead + len(known)] == known
        rest_route = [edge for edge in rest_route if edge not in own]
        rest_baseline = [edge for edge in rest_baseline if edge not in known]
    assert rest_route == rest_baseline


def test_a_section_counts_every_trip_that_drove_it_whole_before_and_after_it_was_asked_for() -> (
    None
):
    journal = Journal()
    journal.add((0, 1, 2, 3), np.array([1.0, 2.0, 3.0, 4.0]))
    totals = journal.totals((1, 2))
    journal.add((7, 1, 2), np.array([0.0, 5.0, 4.0]))
    journal.add((1, 3, 2), np.array([9.0, 9.0, 9.0]))
    assert totals == Totals(2, 14.0, 106.0)
    assert (totals.total_wh / totals.count, totals.within_wh2) == (7.0, 8.0)
    assert journal.totals((2, 1)).count == 0
