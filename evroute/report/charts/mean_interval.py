"""Intervals of means over worlds, by Student's t."""

import numpy as np

from evroute.arrays import FloatArray


def half_interval(values: FloatArray, level: float) -> float:
    """Return half the width of the interval of a mean by Student's t, or NaN for one value.

    Parameters
    ----------
    values
        (n,) independent values, one for each world.
    level
        Probability that the interval holds the expected value.
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return float("nan")
    return float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / np.sqrt(n))
