"""Weight rules: from an index (Wh, any sign) to the non-negative weights of Dijkstra.

A rule takes the index u, the noise standard deviation and the potential p = m g dz of the available
edges, (a,) Wh each, and returns their weights (a,). Along a route the potential telescopes, so
rules that subtract it change no route's rank and keep regenerated energy (Sachenbacher et al.
2011).

The weight of a rule that rectifies is the mean of the rectified Gaussian, ``E[max(0, X)]``
(Sandberg et al., Algorithm 2, line 3).
"""

from collections.abc import Callable

import numpy as np
from scipy.special import erfcx, ndtr

from evroute.arrays import FloatArray
from evroute.errors import UnknownNameError, require

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
        (k,) not negative. Where it is 0 the result is ``max(0, mean)``.
    """
    certain = std == 0
    z = mean / np.where(certain, 1.0, std)
    density = np.exp(-0.5 * z * z) / _ROOT_TWO_PI
    below = np.minimum(z, 0.0)
    tail = density * (1.0 + below * _ROOT_HALF_PI * erfcx(-below / _ROOT_TWO))
    expected: FloatArray = std * np.where(z < 0, np.maximum(tail, 0.0), density + z * ndtr(z))
    return np.where(certain, np.maximum(mean, 0.0), expected)


DEFAULT_SEARCH = "potential"
WeightRule = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def potential(
    index_wh: FloatArray, noise_std_wh: FloatArray, potential_wh: FloatArray
) -> FloatArray:
    """Return ``max(0, u - p)``: exact for known means, since eq. 8 is never below the potential.

    Parameters
    ----------
    index_wh, noise_std_wh, potential_wh
        (a,) u, noise deviation (not used) and p, Wh.
    """
    return at_least_0(index_wh - potential_wh)


def at_least_0(above_wh: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Return the weights of the rule `potential`: ``max(0, u - p)``, as plans use it.

    Parameters
    ----------
    above_wh
        (a,) energy above the potential, u - p, Wh.
    out
        (a,) array for the result, or None for a new one.
    """
    return np.maximum(above_wh, 0.0, out=out)


def potential_rectified(
    index_wh: FloatArray, noise_std_wh: FloatArray, potential_wh: FloatArray
) -> FloatArray:
    """Return ``E[max(0, N(u - p, noise²))]``: smooth where an index makes an edge free.

    Parameters
    ----------
    index_wh, noise_std_wh, potential_wh
        (a,) u, noise deviation and p, Wh.
    """
    return rectified_mean(index_wh - potential_wh, noise_std_wh)


def rectified(
    index_wh: FloatArray, noise_std_wh: FloatArray, potential_wh: FloatArray
) -> FloatArray:
    """Return ``E[max(0, N(u, noise²))]``: Sandberg et al., Algorithm 2, line 3.

    Parameters
    ----------
    index_wh, noise_std_wh, potential_wh
        (a,) u, noise deviation and p (not used), Wh.
    """
    return rectified_mean(index_wh, noise_std_wh)


def clamped(index_wh: FloatArray, noise_std_wh: FloatArray, potential_wh: FloatArray) -> FloatArray:
    """Return ``max(0, u)``, as in routers that cannot search signed energies.

    Parameters
    ----------
    index_wh, noise_std_wh, potential_wh
        (a,) u, noise deviation and p (both not used), Wh.
    """
    return np.maximum(index_wh, 0.0)


WEIGHT_RULES: dict[str, WeightRule] = {
    "potential": potential,
    "potential-rectified": potential_rectified,
    "rectified": rectified,
    "clamped": clamped,
}


def check_search(name: str) -> str:
    """Return the name of a weight rule after checking it.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message lists the rules.
    """
    known = ", ".join(WEIGHT_RULES)
    require(name in WEIGHT_RULES, f"unknown search '{name}'. There are {known}", UnknownNameError)
    return name
