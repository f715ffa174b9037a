"""Energy that a meter leaves unknown because it reads power only now and then.

Each trip is integrated twice, from its even and from its odd readings. The deviation of the
integral of all readings from the true energy is ``c sd(E_even - E_odd)``. For power that forgets
exponentially (Ornstein-Uhlenbeck), with rho the correlation of neighbouring readings and ``tau =
-1/log rho``,

    c² = ((1 + rho)/(1 - rho) - 2 tau) / (4 (1 - rho)/(1 + rho)).
"""

from collections.abc import Sequence

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.constants import J_PER_WH


def meter_std_wh(time_s: Sequence[FloatArray], power_w: Sequence[FloatArray]) -> float:
    """Return the standard deviation of a trip's metered energy about the true one, Wh.

    time_s, power_w: readings of each trip, in order of time, at least four of them.
    """
    difference_wh = np.array(
        [even_minus_odd_wh(time, power) for time, power in zip(time_s, power_w, strict=True)]
    )
    return meter_factor(lag_one_correlation(power_w)) * float(np.sqrt(np.mean(difference_wh**2)))


def even_minus_odd_wh(time_s: FloatArray, power_w: FloatArray) -> float:
    """Return a trip's energy from its even readings minus that from its odd ones, Wh.

    Both halves are averages of power with the weights of the trapezoidal rule, times the duration.
    """
    step_s = np.diff(time_s)
    weight_s = np.append(step_s, 0.0) / 2 + np.insert(step_s, 0, 0.0) / 2
    even_w, odd_w = (np.average(power_w[half::2], weights=weight_s[half::2]) for half in (0, 1))
    return float((even_w - odd_w) * weight_s.sum() / J_PER_WH)


def lag_one_correlation(power_w: Sequence[FloatArray]) -> float:
    """Return the correlation of neighbouring readings about the mean of their trip, over all trips.

    Means taken from k readings lower it by ``(1 + rho)/k``, which is added back. 0 for constant
    power.
    """
    centred = [power - power.mean() for power in power_w]
    variance = sum(float(each @ each) for each in centred)
    if variance == 0.0:
        return 0.0
    rho = (
        sum(float(each[1:] @ each[:-1]) * len(each) / (len(each) - 1) for each in centred)
        / variance
    )
    return rho + (1.0 + rho) * len(centred) / sum(map(len, centred))


def meter_factor(rho: float) -> float:
    """Return c for a correlation below 1. 0.5 without correlation (``rho <= 0``)."""
    if rho <= 0.0:
        return 0.5
    ratio, tau = (1.0 + rho) / (1.0 - rho), -1.0 / np.log(rho)
    return float(np.sqrt(max(ratio - 2.0 * tau, 0.0) * ratio / 4.0))
