"""The licence: eq. 8, beliefs and measured sections combined by hand."""

import numpy as np
import pytest

from evroute.arms import Route
from evroute.policy.licence import Journal, total_of, weigh

SECTION = (1, 2, 7, 4, 5)
EQ8_WH, DISSIPATED_WH = np.full(9, 110.0), np.full(9, 100.0)  # each edge climbs for 10 Wh
NOISE_WH2 = (0.08 * 500) ** 2 + 0.3**2 * 5 * 100**2


def moments(journal: Journal, believed_wh: float) -> tuple[float, float]:
    evidence = weigh(journal, SECTION, believed_wh, eq8_wh=EQ8_WH, dissipated_wh=DISSIPATED_WH)
    assert evidence.noise_wh2 == pytest.approx(NOISE_WH2)
    return evidence.mean_wh, evidence.variance_wh2


def test_without_measurements_the_belief_stands_within_two_deviations_of_eq_8() -> None:
    band_wh = 2 * np.sqrt(NOISE_WH2)
    for believed_wh, held_wh in ((500, 500), (-900, 550 - band_wh), (9000, 550 + band_wh)):
        assert moments(Journal(), believed_wh) == pytest.approx((held_wh, NOISE_WH2))


def test_measured_totals_of_trips_between_any_ends_are_weighed_by_their_variance() -> None:
    journal = Journal()
    for before, total_wh in ((0, 560.0), (8, 580.0)):
        journal.add((before, *SECTION), np.array([99.0, *np.full(5, total_wh / 5)]))
    journal.add(SECTION[1:], np.full(4, 1e6))  # not the whole section
    # two squared deviations of 10 Wh and one degree of freedom, beside ten assumed trips
    total_wh2 = (10 * NOISE_WH2 + 200.0) / (10 + 1)
    weights = np.array([1 / NOISE_WH2, 2 / total_wh2])
    mean_wh = np.average([600.0, 570.0], weights=weights)
    assert moments(journal, 600.0) == pytest.approx((mean_wh, 1 / weights.sum()))


def test_the_total_of_a_section_is_the_sum_of_its_edges() -> None:
    assert total_of((2, 7), Route((1, 2, 7, 4)), np.array([1.0, 20.0, 300.0, 4000.0])) == 320.0
