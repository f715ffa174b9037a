"""Ledger: an anytime-valid upper bound on the expected energy that a learner has lost.

On each trip the baseline's route is driven with a known random probability p, otherwise the
learner's. With expected energies b and c of the two routes the learner's loss of the trip is ``(1 -
p) (c - b)``. Beliefs ``m_b``, ``m_c`` are control variates, r is the measured energy minus the
belief of the driven route, and ``w = 1 - B / p`` with B = 1 if the baseline was driven:

    X = (1 - p) (m_c - m_b) + w r

has the loss of the trip as its mean given the past, by inverse-propensity weights, whatever the
beliefs are and however energies change between trips. Wrong beliefs only raise its variance. With a
bound q on the mean square of r, ``E[(w r)²] <= (1 - p) q / p``, and from ``exp(x - x²/6) <= 1 + x +
x²/3`` (Delyon 2009, *Exponential inequalities for sums of weakly dependent variables*) follows that

    exp(s (sum of losses - sum of X) - s² V / 2),   V = sum of (w r)² / 3 + 2 (1 - p) q / (3 p)

is a supermartingale for every s: neither bounded nor light-tailed noise is assumed, and noise may
be shared by all edges of a trip. Mixed over s it gives a bound that holds at all times (Howard,
Ramdas, McAuliffe & Sekhon 2021, *Time-uniform, nonparametric, nonasymptotic confidence sequences*,
one-sided normal mixture; Waudby-Smith & Ramdas 2024 bet on bounded measurements instead). A mixture
is tight where the deviation of the sum is near its width. The bound is the least of five mixtures,
each of which fails with a fifth of `DELTA`.

Assumptions: the mean square of r is at most `SAFETY` times the mean square of the last trips, and
no route loses more in one trip than ``most_wh``. All methods take single trips or equal arrays of
independent streams.
"""

import numpy as np

from evroute.arrays import FloatArray

DELTA = 0.05
PROBABILITIES = (0.1, 0.2, 0.5, 0.8)
"""Probabilities of the baseline in trips that may drive the learner's route."""
START_TRIPS = 4.0
"""Budget at the start, in trips of the greatest mean energy so far that trips dissipate. Less of it
delays learning where the first beliefs about new roads are far off."""
SAFETY = 1.5
PRIOR_TRIPS = 5.0
"""Weight of the assumed deviation in the running mean square of r, in trips."""
PRIOR_RATIO = 1.0
"""Weight of the assumed mean square of r on roads driven before, in trips (`trips_needed`)."""
PRIOR_SAVING = 1.0
"""Assumed deviation of true over promised saving around 1: no saving at all is one deviation off
(`trips_needed`)."""
PRIOR_NEW = 0.5
"""Weight of no more noise on new roads, in trips on new roads alone."""
MEMORY = 0.9
"""Weight of a trip in the running mean square of r, relative to the weight of the next trip."""
TRIAL_TRIPS = 10
"""Number of trips in which routes differ that drive the baseline first, to measure the noise."""
WIDTHS_WH = 10.0 ** np.arange(5)
"""Deviations of the mixtures, 1 Wh to 10 kWh. They are the same for all vehicles and trips."""
AHEAD = np.array([1, 4, 16, 64, 256, 1024])
"""Numbers of further trips that the budget must cover for a lesser probability."""
SPARE = 0.5
"""Deviations of the sum of X in these trips that the budget must cover too."""
LUCK = 1.5
"""Deviations of the sum of X by which a saving may look smaller than it is."""
TRIPS = np.append(0, np.unique(np.geomspace(1, 1e6, 400).astype(int)))


class Ledger:
    """The budget of a learner, and an upper bound on its past expected loss.

    Parameters
    ----------
    share
        Share of the energy that the baseline dissipates that may be lost per trip.
    start_wh
        Budget before the first trip, Wh, or None for `START_TRIPS` times the greatest mean of the
        dissipated energy so far. The budget grows if trips become longer, and never falls.

    Attributes
    ----------
    income_wh
        Budget of all trips so far, Wh: the start, and the share of each trip.
    """

    def __init__(self, share: float, start_wh: float | None = None) -> None:
        self.share = share
        self.start_wh = start_wh
        self.income_wh: FloatArray | float = 0.0
        self._lost_wh: FloatArray | float = 0.0  # sum of X
        self._most_wh: FloatArray | float = 0.0  # sum of (1 - p) most_wh
        self._variance_wh2: FloatArray | float = 0.0  # V
        self._dissipated_wh: FloatArray | float = 0.0  # sum over all trips
        self._mean_wh: FloatArray | float = 0.0  # greatest mean of it, after any trip
        self._learner_trips: FloatArray | float = 0.0  # sum of 1 - p
        self._squares: FloatArray | float = PRIOR_TRIPS
        self._count = PRIOR_TRIPS
        self._settled = 0
        self._trips = 0
        # sums over settled trips, for `trips_needed`
        self._noise_wh2: FloatArray | float = 0.0  # squared noise_wh
        self._promised_wh: FloatArray | float = 0.0
        self._missing: FloatArray | float = 0.0  # s (p - B) r over squared noise_wh, as in `_kept`
        self._information: FloatArray | float = 0.0  # p (1 - p) s² over squared noise_wh
        self._ratios: FloatArray | float = PRIOR_RATIO  # squares of r over those of noise_wh
        self._new: FloatArray | float = 0.0  # shares of new roads
        self._new_squares: FloatArray | float = PRIOR_NEW
        self._new_ratios: FloatArray | float = 0.0

    def open(self, dissipated_wh: FloatArray | float) -> None:
        """Add a trip to the budget. ``dissipated_wh`` is by the baseline's route, Wh."""
        self._trips += 1
        self._dissipated_wh = self._dissipated_wh + dissipated_wh
        self._mean_wh = np.maximum(self._mean_wh, self._dissipated_wh / self._trips)
        self.income_wh = self._start_wh + self.share * self._dissipated_wh

    @property
    def _start_wh(self) -> FloatArray | float:
        """Budget before the first trip as it counts now, Wh."""
        return START_TRIPS * self._mean_wh if self.start_wh is None else self.start_wh

    @property
    def lost_at_most_wh(self) -> FloatArray:
        """Upper bound of the learner's expected loss so far, Wh. It fails with chance `DELTA`."""
        return np.minimum(self._lost_wh + self._margin_wh(self._variance_wh2), self._most_wh)

    def probability(
        self,
        noise_wh: FloatArray | float,
        most_wh: FloatArray | float,
        under_way_wh: FloatArray | float = 0.0,
    ) -> FloatArray:
        """Return the probability of the baseline in a trip that the budget covers. 1 if none does.

        It is the least of `PROBABILITIES` that the budget covers now and, if the learner's mean
        loss and the noise stay as they are, after each of `AHEAD` more trips. Else the greatest
        if the budget covers this trip.

        Parameters
        ----------
        noise_wh
            Assumed deviation of r in this trip, Wh.
        most_wh
            The greatest loss that the learner's route can have in this trip, Wh.
        under_way_wh
            The greatest loss of trips that are not settled yet, Wh.
        """
        left_wh = self.income_wh - self.lost_at_most_wh - under_way_wh
        if self._settled < TRIAL_TRIPS:
            return np.ones(np.shape(left_wh))
        mean_wh = np.minimum(self._lost_wh, 0.0) / (self._learner_trips + PRIOR_TRIPS)
        ahead = np.expand_dims(AHEAD, tuple(range(1, 1 + np.ndim(left_wh))))
        chosen = np.where(left_wh >= (1.0 - PROBABILITIES[-1]) * most_wh, PROBABILITIES[-1], 1.0)
        for p in PROBABILITIES[-2::-1]:
            added_wh2 = ahead * (1 - p) / p * self._square_wh2(noise_wh)
            later_wh = self._lost_wh + ahead * (1 - p) * mean_wh + SPARE * np.sqrt(added_wh2)
            later_wh = later_wh + self._margin_wh(self._variance_wh2 + added_wh2)
            covered = np.all(later_wh <= self.income_wh, axis=0)
            chosen = np.where(covered & (left_wh >= (1 - p) * most_wh), p, chosen)
        return chosen

    def settle(
        self,
        probability: FloatArray | float,
        is_baseline: FloatArray | float,
        residual_wh: FloatArray | float,
        *,
        believed_excess_wh: FloatArray | float,
        noise_wh: FloatArray | float,
        most_wh: FloatArray | float,
        new_share: FloatArray | float = 0.0,
    ) -> None:
        """Enter the measurement of a trip.

        Parameters
        ----------
        probability
            Probability of the baseline with which the route was drawn.
        is_baseline
            1 if the baseline's route was driven, else 0.
        residual_wh
            Measured energy of the driven route minus its belief before the trip, Wh.
        believed_excess_wh
            Belief of the learner's route minus the belief of the baseline's, Wh.
        noise_wh, most_wh
            As in `probability`.
        new_share
            Share of the kilometres where the routes differ that no trip had driven before.
        """
        learner = 1.0 - np.asarray(probability)
        weighted_wh = (1.0 - is_baseline / np.asarray(probability)) * residual_wh
        bound_wh2 = learner / probability * self._square_wh2(noise_wh)
        self._lost_wh = self._lost_wh + learner * believed_excess_wh + weighted_wh
        self._variance_wh2 = self._variance_wh2 + (weighted_wh**2 + 2 * bound_wh2) / 3
        self._most_wh = self._most_wh + learner * most_wh
        self._learner_trips = self._learner_trips + learner
        promised, residual = -believed_excess_wh / noise_wh, residual_wh / noise_wh
        ratio = np.square(residual)
        self._squares = MEMORY * self._squares + ratio
        self._count = MEMORY * self._count + 1
        self._settled += 1
        self._noise_wh2 = self._noise_wh2 + np.square(noise_wh)
        self._promised_wh = self._promised_wh - believed_excess_wh
        self._missing = self._missing + promised * (probability - is_baseline) * residual
        self._information = self._information + probability * learner * np.square(promised)
        self._ratios = self._ratios + ratio
        self._new = self._new + new_share
        self._new_squares = self._new_squares + np.square(new_share)
        self._new_ratios = self._new_ratios + new_share * ratio

    def trips_needed(self) -> float:
        """Return the trip from which the learner's route is driven in most trips, as promised.

        From this trip on `probability` stays below one half, if the learner's routes save the mean
        of what the belief promised so far, times the share of it that trips showed (`_kept`),
        `LUCK` deviations less. The noise is that of roads that trips drove before, for new roads
        will be learned by then: the mean square of r over the assumed one is fitted as ``d + n s``,
        least squares over all trips so far, with s the share of new roads. NaN before the first
        settled trip, and if the saving is 0, negative or too little for a million trips.
        """
        kept = self._kept()
        if not self._settled or self._promised_wh <= 0.0 or kept <= 0.0:
            return np.nan
        trips, noise_wh = self._trips / self._settled, np.sqrt(self._noise_wh2 / self._settled)
        saving_wh = kept * self._promised_wh / self._settled
        income_wh = trips * self.share * self._dissipated_wh / self._trips
        later = Ledger(self.share, self.start_wh)
        later._squares, later._count = self._ratio_of_driven(), 1.0
        later._settled, later._most_wh = TRIAL_TRIPS, np.inf
        square_wh2 = later._square_wh2(noise_wh)
        further = max(TRIAL_TRIPS - self._settled, 0)
        learner_trips = sums_wh2 = 0.0
        for p in [each for each in PROBABILITIES[::-1] if each >= 0.5]:
            learner = learner_trips + (1 - p) * TRIPS
            later_wh2 = sums_wh2 + (1 - p) / p * square_wh2 * TRIPS
            later._learner_trips = self._learner_trips + learner
            later._variance_wh2 = self._variance_wh2 + (1 / SAFETY + 2) / 3 * later_wh2
            later._lost_wh = self._lost_wh - saving_wh * learner
            later._lost_wh = later._lost_wh + LUCK * np.sqrt(later_wh2 / SAFETY)
            later.income_wh = self.income_wh + (further + TRIPS) * income_wh
            waits = np.flatnonzero(later.probability(noise_wh, 0.0) >= p)
            last = waits[-1] + 1 if len(waits) else 0
            if last == len(TRIPS):
                return np.nan
            further += TRIPS[last]
            learner_trips, sums_wh2 = learner[last], later_wh2[last]
        return float(self._trips + trips * further)

    def _kept(self) -> float:
        """Return the share of the promised saving that trips showed, at most 1.

        If the learner truly saves a share k of each promise s, then -X has the mean ``(1 - p) k s``
        and, with a mean square q of r, the variance ``(1 - p) q / p``. With a normal prior of mean
        1 and deviation d (`PRIOR_SAVING`) the posterior mean of k is

            1 - (sum of s (p - B) r / q) / (1 / d² + sum of p (1 - p) s² / q)

        q is the mean of r² over the assumed square, times the assumed square of each trip.
        """
        mean_square = self._ratios / (self._settled + PRIOR_RATIO)
        missing = self._missing / (mean_square / PRIOR_SAVING**2 + self._information)
        return float(min(1.0 - missing, 1.0))

    def _ratio_of_driven(self) -> float:
        """Return the mean square of r over the assumed one on roads that trips drove before."""
        count = self._settled + PRIOR_RATIO
        slope = self._new_ratios - self._new * self._ratios / count
        slope = max(slope / (self._new_squares - self._new**2 / count), 0.0)
        return float(max(self._ratios - slope * self._new, PRIOR_RATIO) / count)

    def _square_wh2(self, noise_wh: FloatArray | float) -> FloatArray:
        """Return the bound q on the mean square of r, Wh²."""
        return SAFETY * self._squares / self._count * np.square(noise_wh)

    def _margin_wh(self, variance_wh2: FloatArray | float) -> FloatArray:
        """Return the bound on the sum of losses minus the sum of X for V, Wh."""
        axes = tuple(range(1, 1 + np.ndim(variance_wh2)))
        width_wh2 = np.expand_dims(np.square(WIDTHS_WH), axes)
        total_wh2 = variance_wh2 + width_wh2
        ratio = np.sqrt(total_wh2 / width_wh2)
        delta = DELTA / len(WIDTHS_WH)
        return np.sqrt(2 * total_wh2 * np.log1p(ratio / (2 * delta))).min(axis=0)
