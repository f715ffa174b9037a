"""Recuperation into a full battery: a known value, the differential equation, cuts, the inverse."""

import numpy as np
import pytest

from evroute.planning.battery import Battery


class Percent:
    """A battery of 172 Wh per cent that fades above 85 %, with charges in per cent."""

    def __init__(self, fade: float) -> None:
        self.battery = Battery(17_200.0, 0.0, 0.0, full_percent=85.0, fade=fade)

    def after(self, percent: float, energy_wh: float) -> float:
        return self.battery.percent(self.battery.after(172.0 * percent, energy_wh))

    def before(self, percent: float, energy_wh: float) -> float:
        return self.battery.percent(self.battery.before(172.0 * percent, energy_wh))


BATTERY = Percent(0.82)


@pytest.mark.parametrize("cuts", [[1500], [700, 800], [15] * 100, [1] * 1500])
def test_a_known_descent_however_it_is_cut(cuts: list[int]) -> None:
    percent = 92.0
    for cut in cuts:
        percent = BATTERY.after(percent, -cut)
    limit = 85 + 10 / 0.82
    assert percent == pytest.approx(limit - (limit - 92) * np.exp(-0.82 * 1500 / 1720), abs=1e-9)
    assert percent == pytest.approx(94.66, abs=0.01)


@pytest.mark.parametrize("start", [60.0, 84.9, 85.0, 96.0, 99.0])
@pytest.mark.parametrize("fade", [0.0, 0.3, 0.82, 2.0])
def test_the_charge_follows_its_differential_equation(start: float, fade: float) -> None:
    """Small explicit steps of ds = share(s) dm / W, at most 100."""
    percent, steps = start, 20_000
    for _ in range(steps):
        share = min(max(1 - fade * max(percent - 85, 0) / 10, 0), 1)
        percent = min(percent + share * 3000 / steps / 172, 100)
    battery = Percent(fade)
    assert battery.after(start, -3000.0) == pytest.approx(percent, abs=2e-3)


def test_cuts_across_the_threshold_change_nothing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        battery = Percent(rng.uniform(0, 2))
        start, parts = rng.uniform(75, 100), rng.uniform(0, 800, 5)
        percent = start
        for part in parts:
            percent = battery.after(percent, -part)
        assert percent == pytest.approx(battery.after(start, -parts.sum()), abs=1e-9)


def test_more_charge_is_never_worse_and_no_descent_gains_more_than_it_returns() -> None:
    starts = np.linspace(70, 100, 301)
    for fade in (0.0, 1e-9, 0.5, 0.82, 5.0):
        battery = Percent(fade)
        for energy_wh in (-10.0, -400.0, -5000.0, 300.0):
            after = np.array([battery.after(start, energy_wh) for start in starts])
            assert np.all(np.diff(after) >= -1e-12)
            assert np.all(after - starts <= -energy_wh / 172 + 1e-12)


def test_the_least_charge_before_is_the_inverse() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        battery = Percent(rng.choice([0.0, 0.3, 0.82, 2.0]))
        needed, energy_wh = rng.uniform(60, 100), rng.uniform(-3000, 500)
        before = battery.before(needed, energy_wh)
        assert battery.after(before, energy_wh) == pytest.approx(needed, abs=1e-9)
        if before < 100:
            assert battery.after(before - 0.01, energy_wh) < needed


def test_a_need_where_nothing_is_taken_stays() -> None:
    assert BATTERY.before(99.0, -1500.0) == 99.0
    assert BATTERY.after(99.0, -1500.0) == 99.0


def test_driving_takes_its_energy_at_any_charge() -> None:
    assert BATTERY.after(95.0, 344.0) == pytest.approx(93.0)
    assert BATTERY.before(93.0, 344.0) == pytest.approx(95.0)
