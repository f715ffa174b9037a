"""Reduced energies of a matrix, for solvers of routing problems that refuse negative costs.

A pair of places may return energy, such as a way downhill, but no closed tour does. So there are
potentials of the places, p, with which every reduced energy ``E_ij + p_i - p_j`` is at least 0, and
over a closed tour the potentials cancel (Johnson 1977, *Efficient algorithms for shortest paths in
sparse networks*). They are the least energies from a place from which all others are reached for
nothing.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.errors import EvrouteError, require
from evroute.planning.dispatch.stops import Stop

PER_WH = 10
"""Units of reduced energies in a Wh."""
NO_WAY = 10**9
"""Reduced energy of a pair without a route: more than any tour takes."""
TOLERANCE_WH = 1e-6


def check_same(origins: Sequence[Stop], destinations: Sequence[Stop]) -> None:
    """Refuse origins that are not the destinations in their order. EvrouteError."""
    ends = ([(stop.id, stop.place) for stop in stops] for stops in (origins, destinations))
    require(
        next(ends) == next(ends),
        "reduced energies need the same places as origins and destinations, in one order. Give one "
        "table twice",
    )


def reduced_energies(energy_wh: FloatArray) -> IntArray:
    """Return reduced energies of all pairs of n places, (n, n), whole tenths of a Wh, at least 0.

    Over a closed tour of k pairs their sum is within k/20 Wh of the sum of the energies.

    Parameters
    ----------
    energy_wh
        (n, n) energy from each place to each, Wh. NaN where there is no route, which becomes
        `NO_WAY`.

    Raises
    ------
    EvrouteError
        If the matrix is not square, or a closed tour returns energy. Edge ids as places can make
        one: a trip to an edge ends at its end, and a trip from it begins at its beginning.

    Examples
    --------
    >>> import numpy as np
    >>> from evroute.planning.dispatch.reduced import reduced_energies
    >>> reduced_energies(np.array([[0.0, -20.0], [55.04, 0.0]])).tolist()
    [[0, 0], [350, 0]]
    """
    require(
        energy_wh.ndim == 2 and energy_wh.shape[0] == energy_wh.shape[1],
        f"reduced energies need a square matrix, got {energy_wh.shape}: give the same places as "
        "origins and destinations",
    )
    potential_wh = potentials_wh(lambda: [energy_wh], len(energy_wh))
    return whole_dwh(energy_wh + potential_wh[:, np.newaxis] - potential_wh)


def potentials_wh(blocks: Callable[[], Iterable[FloatArray]], n: int) -> FloatArray:
    """Return potentials of n places, (n,) Wh, by which no reduced energy is negative.

    Parameters
    ----------
    blocks
        Function that returns the energies from successive places to all, (b, n) Wh each.
    n
        Number of places.

    Raises
    ------
    EvrouteError
        If a closed tour returns energy.
    """
    potential_wh = np.zeros(n)
    for _ in range(n + 1):
        before_wh, first = potential_wh, 0
        for energy_wh in blocks():
            known_wh = np.where(np.isnan(energy_wh), np.inf, energy_wh)
            known_wh += before_wh[first : first + len(known_wh), np.newaxis]
            first += len(known_wh)
            potential_wh = np.minimum(potential_wh, known_wh.min(axis=0, initial=0.0))
        if not (potential_wh < before_wh - TOLERANCE_WH).any():
            return before_wh
    raise EvrouteError(
        "a closed tour over the places returns energy. Give coordinates or names in place of "
        "edge ids"
    )


def whole_dwh(reduced_wh: FloatArray) -> IntArray:
    """Return energies (o, d) Wh as whole tenths of a Wh, at least 0. `NO_WAY` where they are NaN.

    Parameters
    ----------
    reduced_wh
        Energies less the difference of the potentials.
    """
    whole = np.rint(PER_WH * np.maximum(reduced_wh, 0.0))
    return np.where(np.isfinite(whole), whole, NO_WAY).astype(np.int64)
