"""Running bounds are reset where earlier bounds no longer hold; a fresh index gives the reference.

Independent edges have prior deviation 1 and noise 1. Only the first is measured, so the bounds of
the others widen with the radius of the confidence set.
"""

import numpy as np
import pytest

from evroute.arms import Arms
from evroute.model.bounds.spectrum import Points, Spectrum
from evroute.policy.bounds import AMMOptions, CMMOptions, DMMOptions, IGPOptions

ARMS = Arms(np.arange(3), np.zeros((3, 1)), np.zeros(3))
SECOND = ARMS.take(np.array([1]))


class Apart:
    """Independent edges; ``mean_wh`` is the mean of ``count`` measurements of the first."""

    count, mean_wh = 0, 0.0

    def spectrum(self) -> Spectrum:
        weight = np.full(min(self.count, 1), float(self.count))
        return Spectrum.of_gram(np.eye(len(weight)), np.full(len(weight), self.mean_wh), weight)

    def points(self, spectrum: Spectrum, arms: Arms) -> Points:
        return spectrum.points((arms.id == 0)[np.newaxis].astype(float), np.ones(len(arms)))

    def n_measured(self) -> float:
        return self.count


@pytest.mark.parametrize("factory", [CMMOptions, DMMOptions, AMMOptions])
def test_bounds_under_a_smaller_norm_are_dropped_when_the_norm_is_raised(factory) -> None:
    model, running = Apart(), factory(B=0.5, running=True).build(None)
    before = running.interval(1, SECOND, model)
    model.count, model.mean_wh = 1000, 2.0
    after = running.interval(2, SECOND, model)
    assert running.norm == pytest.approx(1.5 * running.b_min)
    assert (
        before.high
        < factory(B=running.norm).build(None).interval(2, SECOND, model).high
        == after.high
    )
    assert (
        before.low > factory(B=running.norm).build(None).interval(2, SECOND, model).low == after.low
    )


def test_bounds_stay_while_the_norm_does() -> None:
    model, running = (
        Apart(),
        AMMOptions(B="auto", running=True).build(None),
    )  # 3 as long as that fits
    before = running.interval(1, SECOND, model)
    model.count = 1000
    after = running.interval(2, SECOND, model)
    assert running.norm == 3.0
    assert after.high == before.high < AMMOptions(B=3.0).build(None).interval(2, SECOND, model).high
    assert after.low == before.low > AMMOptions(B=3.0).build(None).interval(2, SECOND, model).low


def test_bounds_stay_when_an_edge_is_available_for_the_first_time(caplog) -> None:
    model, running = Apart(), AMMOptions(B="auto", running=True).build(None)
    before = running.interval(1, SECOND, model)
    model.count = 1000
    after = running.interval(2, ARMS, model)
    fresh = AMMOptions(B=3.0).build(None).interval(2, ARMS, model)
    assert (after.low[1], after.high[1]) == (before.low[0], before.high[0])
    assert (after.low[2], after.high[2]) == (fresh.low[2], fresh.high[2])
    assert not caplog.records


def test_bounds_that_exclude_each_other_on_one_edge_are_dropped_on_all(caplog) -> None:
    model, running = Apart(), IGPOptions(B=0.1, eta=0.01, running=True).build(None)
    before = running.interval(1, ARMS, model)
    model.count, model.mean_wh = 1000, 100.0
    first = running.interval(2, ARMS.take(np.array([0])), model)
    assert first.low[0] > before.high[0]
    after, fresh = (
        running.interval(3, ARMS, model),
        IGPOptions(B=0.1, eta=0.01).build(None).interval(3, ARMS, model),
    )
    assert fresh.high[1] > before.high[1]
    np.testing.assert_array_equal(after.low, fresh.low)
    np.testing.assert_array_equal(after.high, fresh.high)
    assert len(caplog.records) == 1, "nothing excludes anything after the reset"
