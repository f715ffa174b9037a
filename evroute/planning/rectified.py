"""Mean of the rectified Gaussian, ``E[max(0, X)]``: a non-negative weight from a signed index.

Sandberg et al., Algorithm 2, line 3.
"""

import numpy as np
from scipy.special import erfcx, ndtr

from evroute.arrays import FloatArray

_ROOT_TWO = np.sqrt(2.0)
_ROOT_HALF_PI = np.sqrt(np.pi / 2.0)
_ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


def rectified_mean(mean: FloatArray, std: FloatArray) -> FloatArray:
    """Return ``E[max(0, N(mean, std²))] = std (phi(z) + z Phi(z))`` with ``z = mean / std``, (k,).

    Below 0 the two terms cancel, in the far tail to 0 or less, where the order of tiny weights
    decides a route. There it is ``std phi(z) (1 + z Phi(z) / phi(z))`` with the ratio from
    ``erfcx``. It underflows to 0 below -38.

    Parameters
    ----------
    mean
        (k,) any sign.
    std
        (k,) not negative; where it is 0 the result is ``max(0, mean)``.
    """
    certain = std == 0
    z = mean / np.where(certain, 1.0, std)
    density = np.exp(-0.5 * z * z) / _ROOT_TWO_PI
    below = np.minimum(z, 0.0)
    tail = density * (1.0 + below * _ROOT_HALF_PI * erfcx(-below / _ROOT_TWO))
    expected: FloatArray = std * np.where(z < 0, np.maximum(tail, 0.0), density + z * ndtr(z))
    return np.where(certain, np.maximum(mean, 0.0), expected)
