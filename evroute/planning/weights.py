"""Weight rules: from an index (Wh, any sign) to the non-negative weights of Dijkstra.

A rule takes the index u, the noise standard deviation and the potential p = m g dz of the available
edges, (a,) Wh each, and returns their weights (a,). Along a route the potential telescopes, so
rules that subtract it change no route's rank and keep regenerated energy (Sachenbacher et al.
2011).
"""

from collections.abc import Callable

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import UnknownNameError
from evroute.planning.rectified import rectified_mean

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
    return np.maximum(index_wh - potential_wh, 0.0)


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
        If the name is unknown; the message lists the rules.
    """
    if name not in WEIGHT_RULES:
        raise UnknownNameError(f"unknown search '{name}'; there are {', '.join(WEIGHT_RULES)}")
    return name
