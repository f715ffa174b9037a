"""Attribution of the energy between two meter readings to the edges between them.

The energy between two readings is a sum over the edges between them, of which the first and last
are driven in part. It is attributed in the proportions of eq. 8: each edge gets its climb, and of
the rest a share in proportion to its dissipation by eq. 8. Totals are kept, and edges between the
same readings deviate from eq. 8 by the same factor. The trip begins at the first reading and ends
at the last one, inside of edges.
"""

from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.learning.gate import FACTOR, JAM_WH, WH_PER_KWH
from evroute.learning.measured import ImpossibleTripError
from evroute.methods.setting import Setting
from evroute.network.places.positions import JUNCTION_M


def attributed(
    edges: IntArray, at_m: FloatArray, used_wh: FloatArray, setting: Setting
) -> tuple[IntArray, FloatArray]:
    """Return the positions of successive edges that were driven, (k,), and their energies, (k,) Wh.

    The energies of the first and the last edge are for the parts driven.

    Parameters
    ----------
    edges
        (e,) network rows of the route, in driving order.
    at_m
        (r,) distance of each reading along the route, m, never decreasing.
    used_wh
        (r,) energy used up to each reading, Wh.
    setting
        Network and eq. 8.

    Raises
    ------
    ImpossibleTripError
        If the energy between two readings is out of all proportion to eq. 8.
    """
    length_m = setting.network.length_m[edges]
    ends_m = np.cumsum(length_m)
    starts_m = ends_m - length_m
    climb_wh = setting.potential_wh[edges]
    dissipated_wh = setting.prior.mean_wh[edges] - climb_wh
    energy_wh, driven = np.zeros(len(edges)), np.zeros(len(edges))
    waiting_wh = 0.0
    for (from_m, to_m), spent_wh in zip(pairwise(at_m), np.diff(used_wh), strict=True):
        waiting_wh += spent_wh
        share = np.clip((np.minimum(ends_m, to_m) - np.maximum(starts_m, from_m)) / length_m, 0, 1)
        expected_wh = float(share @ dissipated_wh)
        if expected_wh <= 0:  # standing: it belongs to where it goes on
            continue
        climbed_wh = float(share @ climb_wh)
        if abs(waiting_wh) > JAM_WH + FACTOR * (expected_wh + abs(climbed_wh)):
            raise ImpossibleTripError(
                f"{waiting_wh / WH_PER_KWH:,.3g} kWh within {to_m - from_m:.0f} m, which is "
                "impossible. "
                "Check the units, and that readings are cumulative"
            )
        energy_wh += share * (climb_wh + (waiting_wh - climbed_wh) / expected_wh * dissipated_wh)
        driven += share
        waiting_wh = 0.0
    if waiting_wh and driven.any():
        energy_wh[np.flatnonzero(driven)[-1]] += waiting_wh
    counted = np.flatnonzero(driven * length_m > JUNCTION_M)
    return counted, energy_wh[counted]
