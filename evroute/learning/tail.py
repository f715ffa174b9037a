"""Tail of prediction errors: Student's t with a learned number of degrees of freedom and scale.

Standardised errors ``z = (measured - expected)/sd``, each from before its trip was learned, update
a discounted log likelihood on a grid. The mode of the posterior is in force. The scale widens
intervals and leaves the noise of the trips alone.
"""

import numpy as np
from scipy.special import gammaln

from evroute.arrays import FloatArray

DEGREES: FloatArray = np.array([3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 30.0])
LOG_SCALES: FloatArray = np.linspace(-0.7, 0.7, 29)
DISCOUNT = 0.995

_NU = DEGREES[:, np.newaxis]
_LOG_CONSTANT = gammaln((_NU + 1) / 2) - gammaln(_NU / 2) - 0.5 * np.log(np.pi * _NU)
LOG_PRIOR = -0.5 * (LOG_SCALES / 0.3) ** 2 - 0.5 * (np.log(_NU / 6.0) / 0.7) ** 2


def add_error(log_likelihood: FloatArray, z: float) -> FloatArray:
    """Return the discounted log likelihood after one more standardised error, (7, 29)."""
    density = _LOG_CONSTANT - (_NU + 1) / 2 * np.log1p((z * np.exp(-LOG_SCALES)) ** 2 / _NU)
    return DISCOUNT * log_likelihood + density - LOG_SCALES


def tail_mode(log_likelihood: FloatArray) -> tuple[float, float]:
    """Return degrees of freedom and scale of the greatest posterior density."""
    row, column = np.unravel_index((log_likelihood + LOG_PRIOR).argmax(), LOG_PRIOR.shape)
    return float(DEGREES[row]), float(np.exp(LOG_SCALES[column]))
