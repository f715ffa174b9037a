"""The ledger: its inequalities, its books by hand, and its guarantee on 1,000 streams."""

import math
from copy import copy

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from evroute.policy.ledger import (
    DELTA,
    MEMORY,
    PRIOR_TRIPS,
    SAFETY,
    START_TRIPS,
    TRIAL_TRIPS,
    WIDTHS_WH,
    Ledger,
)

STREAMS, TRIP_WH = 1000, 1000.0


@pytest.fixture
def half_a_trip(monkeypatch) -> None:
    """Start with the energy of half a trip: less budget shows its limits in fewer trips."""
    monkeypatch.setattr("evroute.policy.ledger.START_TRIPS", 0.5)


def test_the_inequality_of_the_supermartingale() -> None:
    x = np.concatenate([np.linspace(-50, 50, 20001), np.linspace(-1, 1, 20001)])
    assert np.all(np.exp(x - x**2 / 6) <= (1 + x + x**2 / 3) * (1 + 1e-12))


@pytest.mark.parametrize("variance_wh2", [0.0, 40.0, 3000.0, 2e5])
def test_at_the_margin_the_greatest_one_sided_mixture_reaches_five_over_delta(variance_wh2) -> None:
    """Mixed over s of half-normal density, exp(s x - s² V / 2) is at least 5 / delta there."""
    margin_wh = float(Ledger(0.01)._margin_wh(variance_wh2))

    def mixed(width_wh: float) -> float:
        spread = math.hypot(width_wh, math.sqrt(variance_wh2))
        return quad(
            lambda s: (
                np.exp(s * margin_wh - s**2 * variance_wh2 / 2)
                * 2
                * norm.pdf(s, scale=1 / width_wh)
            ),
            0,
            20 / spread + margin_wh / spread**2,
        )[0]

    assert 5 / DELTA <= max(mixed(width_wh) for width_wh in WIDTHS_WH) < 6.5 / DELTA


def test_the_first_trips_measure_the_noise_on_the_baseline() -> None:
    ledger = Ledger(0.01)
    for _ in range(TRIAL_TRIPS):
        ledger.open(TRIP_WH)
        assert ledger.probability(20.0, 60.0) == 1.0
        ledger.settle(1.0, 1, 99.0, believed_excess_wh=-9.0, noise_wh=20.0, most_wh=60.0)
        assert ledger._lost_wh == ledger.lost_at_most_wh == 0.0
    assert ledger.probability(20.0, 60.0) == 0.8


def least_margin_wh(variance_wh2: float) -> float:
    """Return the least margin of five widths, each with a fifth of DELTA, Wh."""
    totals_wh2 = [(variance_wh2 + width**2, width) for width in (1, 10, 100, 1000, 10000)]
    return min(
        math.sqrt(2 * total * math.log(1 + math.sqrt(total) / width * 5 / (2 * DELTA)))
        for total, width in totals_wh2
    )


def test_the_budget_is_of_the_greatest_mean_trip_and_never_falls() -> None:
    ledger = Ledger(0.01)
    budget_wh = []
    for dissipated_wh in (100.0, 300.0, 50.0, 550.0):
        ledger.open(dissipated_wh)
        budget_wh.append(ledger.income_wh)
    # means 100, 200, 150, 250: four trips of 100, 200, 200, 250, and a hundredth of all trips
    assert budget_wh == pytest.approx([401.0, 804.0, 804.5, 1010.0])


def test_a_budget_in_watt_hours_does_not_depend_on_the_first_trip() -> None:
    ledger = Ledger(0.01, 500.0)
    ledger.open(100.0)
    ledger.open(300.0)
    assert ledger.income_wh == pytest.approx(504.0)


def test_two_trips_by_hand(monkeypatch, half_a_trip) -> None:
    monkeypatch.setattr("evroute.policy.ledger.TRIAL_TRIPS", 0)
    ledger = Ledger(0.01)
    ledger.open(TRIP_WH)
    assert ledger.income_wh == pytest.approx(510.0)  # half a trip, and 1 % of one
    assert ledger.lost_at_most_wh == 0.0
    assert ledger.probability(20.0, 60.0) == 0.8
    assert ledger.probability(20.0, 2600.0) == 1.0  # a fifth of 2,600 Wh is more than 510 Wh
    assert ledger.probability(20.0, 2500.0, under_way_wh=20.0) == 1.0
    # the learner's route: belief 5 Wh more, measured 30 Wh above the belief in it
    ledger.settle(0.5, 0, 30.0, believed_excess_wh=5.0, noise_wh=20.0, most_wh=60.0)
    assert ledger.lost_at_most_wh == pytest.approx(30.0)  # half of the most
    ledger.open(TRIP_WH)
    assert ledger.income_wh == pytest.approx(520.0)
    # the baseline: 12 Wh above the belief in it; its weight is 1 - 1 / 0.5
    ledger.settle(0.5, 1, 12.0, believed_excess_wh=5.0, noise_wh=20.0, most_wh=1e6)
    assert ledger._lost_wh == pytest.approx(0.5 * 5 + 30 + 0.5 * 5 - 12)
    running = (MEMORY * PRIOR_TRIPS + 1.5**2) / (MEMORY * PRIOR_TRIPS + 1)
    squares = [SAFETY * 400, SAFETY * 400 * running]
    variance_wh2 = (30**2 + 2 * squares[0] + 12**2 + 2 * squares[1]) / 3
    assert ledger.lost_at_most_wh == pytest.approx(23 + least_margin_wh(variance_wh2))


def most_trips(sd_wh: float, trips: int) -> tuple[float, np.ndarray]:
    """Play 100 streams that save 2 %, as the belief promises, with normal noise.

    Returns the trips needed by the first 20 trips of one stream, and the trips from which the
    streams drive the learner's route in most trips.
    """
    rng, streams, one = np.random.default_rng(0), Ledger(0.0025), Ledger(0.0025)
    last = np.zeros(100)
    for t in range(1, trips + 1):
        streams.open(TRIP_WH)
        probability = streams.probability(50.0, 100.0)
        last[np.broadcast_to(probability >= 0.5, 100)] = t
        is_baseline = rng.random(100) < probability
        residual_wh = sd_wh * rng.standard_normal(100)
        trip = {"believed_excess_wh": -20.0, "noise_wh": 50.0, "most_wh": 100.0}
        streams.settle(probability, is_baseline, residual_wh, **trip)
        if t <= 20:
            one.open(TRIP_WH)
            one.settle(1.0, 1, residual_wh[0], **trip)
    return one.trips_needed(), last + 1


@pytest.mark.parametrize(("sd_wh", "trips"), [(30.0, 600), (40.0, 1200)])
def test_the_trips_needed_are_near_the_median_of_streams(sd_wh: float, trips: int) -> None:
    needed, driven = most_trips(sd_wh, trips)
    assert 0.5 < needed / np.median(driven) < 2


def test_the_trips_needed_are_not_known_before_the_first_trip() -> None:
    assert math.isnan(Ledger(0.01).trips_needed())


def test_without_a_promise_no_number_of_trips_is_needed() -> None:
    ledger = Ledger(0.01)
    ledger.open(TRIP_WH)
    ledger.settle(1.0, 1, 5.0, believed_excess_wh=1.0, noise_wh=10.0, most_wh=20.0)
    assert math.isnan(ledger.trips_needed())


def test_the_kept_share_is_the_posterior_mean_of_a_normal_regression() -> None:
    """By quadrature of prior times likelihood of -X, which trips with p = 1 do not enter."""
    rng, ledger = np.random.default_rng(8), Ledger(0.0025)
    promised_wh, noise_wh = rng.uniform(20, 60, 40), rng.uniform(30, 70, 40)
    probability = np.append(np.ones(10), rng.choice([0.2, 0.5, 0.8], 30))
    is_baseline = rng.random(40) < probability
    residual_wh = 40.0 * rng.standard_normal(40) + 15.0 * ~is_baseline
    for i in range(40):
        ledger.open(TRIP_WH)
        ledger.settle(
            *(probability[i], is_baseline[i], residual_wh[i]),
            believed_excess_wh=-promised_wh[i],
            noise_wh=noise_wh[i],
            most_wh=100.0,
        )
    # one more trip of the assumed noise is the prior of the noise
    square = (1.0 + np.sum((residual_wh / noise_wh) ** 2)) / 41 * noise_wh**2
    free = probability < 1.0
    p, promised_wh, square = probability[free], promised_wh[free], square[free]
    saved_wh = (1 - p) * promised_wh - (1 - is_baseline[free] / p) * residual_wh[free]
    sd_wh = np.sqrt((1 - p) / p * square)

    def density(kept: float) -> float:
        likely = norm.logpdf(saved_wh, (1 - p) * kept * promised_wh, sd_wh).sum()
        return np.exp(likely + norm.logpdf(kept, 1.0, 1.0) + 150.0)

    mean = quad(lambda kept: kept * density(kept), -8, 10)[0] / quad(density, -8, 10)[0]
    assert mean < 0.9
    assert ledger._kept() == pytest.approx(mean, rel=1e-6)


def test_a_promise_is_never_raised_and_a_promise_of_loss_needs_no_trips() -> None:
    for residual_wh in (-30.0, 100.0):
        ledger = Ledger(0.0025)
        for _ in range(20):
            ledger.open(TRIP_WH)
            trip = {"believed_excess_wh": -20.0, "noise_wh": 30.0, "most_wh": 100.0}
            ledger.settle(0.5, 0, residual_wh, **trip)
        assert (ledger._kept() == 1.0) == (residual_wh < 0.0)
        assert math.isnan(ledger.trips_needed()) == (residual_wh > 0.0)


def promised_too_much(times: float, sd_wh: float, trips: int) -> tuple[np.ndarray, np.ndarray]:
    """Play 100 streams that save 2 %, where the belief promises a multiple of it.

    Returns the trips needed by the first 100 trips of each stream, NaN if not known, and the trips
    from which the streams drive the learner's route in most trips.
    """
    rng, streams = np.random.default_rng(0), Ledger(0.0025)
    last, needed = np.zeros(100), np.full(100, np.nan)
    for t in range(1, trips + 1):
        streams.open(TRIP_WH)
        probability = streams.probability(50.0, 100.0)
        last[np.broadcast_to(probability >= 0.5, 100)] = t
        is_baseline = rng.random(100) < probability
        residual_wh = sd_wh * rng.standard_normal(100) + ~is_baseline * 20.0 * (times - 1.0)
        trip = {"believed_excess_wh": -20.0 * times, "noise_wh": 50.0, "most_wh": 100.0}
        streams.settle(probability, is_baseline, residual_wh, **trip)
        for i in range(100) if t == 100 else ():
            one = copy(streams)
            one.__dict__ |= {k: v[i] for k, v in vars(streams).items() if np.ndim(v)}
            needed[i] = one.trips_needed()
    return needed, last + 1


@pytest.mark.parametrize("times", [1.0, 3.0, 4.5, 6.0])
@pytest.mark.parametrize(("sd_wh", "trips"), [(30.0, 1000), (40.0, 2500)])
def test_promises_that_are_too_large_are_seen_after_100_trips(
    times: float, sd_wh: float, trips: int
) -> None:
    needed, driven = promised_too_much(times, sd_wh, trips)
    assert 0.5 < np.median(np.nan_to_num(needed, nan=1e6)) / np.median(driven) < 2


def test_trips_are_needed_by_the_noise_of_roads_driven_before() -> None:
    """A stream whose new roads have five times the noise needs the trips of one without them."""
    rng, needed = np.random.default_rng(4), []
    unit = rng.standard_normal(200)
    for new in (0.0, 1.0):
        ledger = Ledger(0.0025)
        for t in range(200):
            share = new if t % 4 == 0 else 0.0
            ledger.open(TRIP_WH)
            ledger.settle(
                *(1.0, 1, (30.0 + 120.0 * share) * unit[t]),
                believed_excess_wh=-10.0,
                noise_wh=50.0,
                most_wh=100.0,
                new_share=share,
            )
        needed.append(ledger.trips_needed())
    assert needed[1] == pytest.approx(needed[0], rel=0.2)
    blind = Ledger(0.0025)
    for t in range(200):
        blind.open(TRIP_WH)
        residual_wh = (150.0 if t % 4 == 0 else 30.0) * unit[t]
        trip = {"believed_excess_wh": -10.0, "noise_wh": 50.0, "most_wh": 100.0}
        blind.settle(1.0, 1, residual_wh, **trip)
    assert blind.trips_needed() > 2 * needed[1]


def test_more_noise_needs_more_trips_and_a_larger_budget_fewer() -> None:
    needed = []
    for start_wh, noise_wh in ((2000.0, 60.0), (2000.0, 90.0), (8000.0, 90.0)):
        ledger = Ledger(0.0025, start_wh)
        ledger.open(TRIP_WH)
        ledger.settle(1.0, 1, noise_wh, believed_excess_wh=-20.0, noise_wh=noise_wh, most_wh=100.0)
        needed.append(ledger.trips_needed())
    assert TRIAL_TRIPS < needed[0] < needed[1]
    assert TRIAL_TRIPS < needed[2] < needed[1]


def play(
    loss,
    *,
    trips=200,
    share=0.005,
    tail=np.inf,
    drifting=0.0,
    swells=lambda t: 1.0,
    belief=0.0,
    first_wh=TRIP_WH,
    p=None,
):
    """Play streams of trips whose noise of 4 % both routes share.

    ``loss(t)`` is the learner's loss of trip t as a share, ``drifting`` the autocorrelation of the
    noise, ``swells(t)`` a factor of it, ``belief`` the error of the belief as a share, ``first_wh``
    the dissipated energy of the first trip. With ``p`` the probability is fixed. Returns whether
    each stream broke its budget and its bound, the learner's expected loss minus the ledger's
    estimate, and the mean probability of the baseline in the last 50 trips.
    """
    rng, ledger = np.random.default_rng(0), Ledger(share)
    lost_wh, noise = np.zeros(STREAMS), np.zeros(STREAMS)
    broke, beyond = np.zeros(STREAMS, dtype=bool), np.zeros(STREAMS, dtype=bool)
    late = []
    for t in range(1, trips + 1):
        loss_wh = TRIP_WH * loss(t)
        most_wh = max(loss_wh, 0.0) + 100.0
        ledger.open(first_wh if t == 1 else TRIP_WH)
        probability = ledger.probability(50.0, most_wh) if p is None else np.full(STREAMS, p)
        new = rng.standard_normal(STREAMS)
        if np.isfinite(tail):
            new = rng.standard_t(tail, STREAMS) * np.sqrt((tail - 2) / tail)
        noise = drifting * noise + np.sqrt(1 - drifting**2) * new
        is_baseline = rng.random(STREAMS) < probability
        sd_wh = 40.0 * swells(t)
        energy_wh = TRIP_WH + sd_wh * noise + np.where(is_baseline, 0.0, loss_wh)
        ledger.settle(
            probability,
            is_baseline,
            energy_wh - (1 + belief) * TRIP_WH,
            believed_excess_wh=0.0,
            noise_wh=50.0,
            most_wh=most_wh,
        )
        lost_wh += (1 - probability) * loss_wh
        broke |= lost_wh > ledger.income_wh + 1e-6
        beyond |= lost_wh > ledger._lost_wh + ledger._margin_wh(ledger._variance_wh2)
        if t > trips - 50:
            late.append(np.mean(probability))
    return broke, beyond, lost_wh - ledger._lost_wh, np.mean(late)


ALLOWED = DELTA + 2 * math.sqrt(DELTA * (1 - DELTA) / STREAMS)
WORLDS = {
    "correlated": (lambda t: 0.02, {"drifting": 0.9}),
    "heavy-tailed": (lambda t: 0.03, {"tail": 2.5}),
    "wrong belief": (lambda t: 0.03, {"belief": 0.1, "tail": 4}),
    "drift to harm": (lambda t: -0.03 if t < 100 else 0.06, {"tail": 4}),
    "to and fro": (lambda t: 0.05 * np.sign(np.sin(t / 15)), {"drifting": 0.5}),
}


@pytest.mark.parametrize("start_trips", [0.5, START_TRIPS])
@pytest.mark.parametrize("world", WORLDS)
def test_few_streams_break_their_budget(world: str, start_trips: float, monkeypatch) -> None:
    monkeypatch.setattr("evroute.policy.ledger.START_TRIPS", start_trips)
    loss, options = WORLDS[world]
    broke, beyond, _, _ = play(loss, **options)
    assert np.mean(broke) <= ALLOWED
    assert np.mean(beyond) <= ALLOWED


NOISE = {
    "triples": {"swells": lambda t: 3.0 if t > 50 else 1.0},
    "triples, correlated": {"swells": lambda t: 3.0 if t > 50 else 1.0, "drifting": 0.9},
    "doubles every ten trips": {"swells": lambda t: 2 ** (t / 10)},
}
"""Noise that the ledger assumes not to exist: its mean square outgrows the last trips."""


@pytest.mark.parametrize("p", [None, 0.5])
@pytest.mark.parametrize("noise", NOISE)
def test_the_bound_holds_in_most_streams_though_the_noise_grows(
    noise: str, p: float | None
) -> None:
    broke, beyond, _, _ = play(lambda t: 0.03, p=p, **NOISE[noise])
    assert np.mean(beyond) <= ALLOWED
    assert p or np.mean(broke) <= ALLOWED


def test_without_the_ledger_the_same_harm_breaks_every_budget(half_a_trip) -> None:
    broke, beyond, _, _ = play(lambda t: 0.03, p=0.1, trips=100)
    assert np.all(broke)
    assert np.mean(beyond) <= ALLOWED


@pytest.mark.parametrize("belief", [0.0, 0.1])
def test_the_estimate_of_the_loss_has_no_bias_whatever_is_believed(belief: float) -> None:
    _, _, error_wh, _ = play(
        lambda t: -0.03 if t < 50 else 0.06, p=0.2, trips=100, belief=belief, tail=4
    )
    assert abs(np.mean(error_wh)) < 4 * np.std(error_wh) / math.sqrt(STREAMS)


def test_a_learner_that_saves_soon_drives_most_trips(half_a_trip) -> None:
    *_, share = play(lambda t: -0.06)
    assert share < 0.2
    *_, share = play(lambda t: 0.03)
    assert share > 0.85


def test_a_short_first_trip_makes_no_small_budget_for_ever() -> None:
    *_, usual = play(lambda t: -0.02)
    *_, after_a_short_one = play(lambda t: -0.02, first_wh=50.0)
    assert usual < 0.3
    assert after_a_short_one == pytest.approx(usual, abs=0.03)
