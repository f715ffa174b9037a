"""Licence: the evidence on whether a learner's route takes more than the baseline.

Evidence belongs to the sections in which two routes differ (`policy.sections`), so it is shared by
all trips that pass them, whatever their ends. Errors of attribution between edges cancel over a
whole section. The licence chooses which routes are tried; the budget is kept by `policy.ledger`.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.policy.sections import Journal, Section

TRIP_SHARE = 0.08
EDGE_SHARE = 0.3
NOISE_TRIPS = 10.0
TRUST = 2.0
"""Assumed deviations by which a belief about a section may differ from eq. 8."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Expected energy of sections before a trip.

    believed_wh: expected energy by the learner's belief alone, Wh.  mean_wh, variance_wh2: mean and
    variance of the expected energy, Wh and Wh².  noise_wh2: assumed variance of the measured total
    of a trip, Wh².
    """

    believed_wh: float = 0.0
    mean_wh: float = 0.0
    variance_wh2: float = 0.0
    noise_wh2: float = 0.0

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(
            self.believed_wh + other.believed_wh,
            self.mean_wh + other.mean_wh,
            self.variance_wh2 + other.variance_wh2,
            self.noise_wh2 + other.noise_wh2,
        )


def weigh(
    journal: Journal,
    section: Section,
    believed_wh: float,
    *,
    eq8_wh: FloatArray,
    dissipated_wh: FloatArray,
) -> Evidence:
    """Combine eq. 8, the belief and the measured totals of a section.

    The belief, held within `TRUST` assumed deviations of eq. 8, is the mean of a normal prior with
    the assumed deviation of a total. Totals have a variance that is pooled from the assumed one and
    their own.

    Parameters
    ----------
    journal
        Measured totals of all trips of the vehicle.
    section
        Edges of the section.
    believed_wh
        Believed energy of the section, Wh.
    eq8_wh, dissipated_wh
        (n,) energy of every edge by eq. 8, and its dissipated part, Wh.
    """
    edges = list(section)
    spent_wh = dissipated_wh[edges]
    noise_wh2 = (TRIP_SHARE * float(spent_wh.sum())) ** 2 + EDGE_SHARE**2 * float(
        spent_wh @ spent_wh
    )
    physics_wh, band_wh = float(eq8_wh[edges].sum()), TRUST * noise_wh2**0.5
    prior_wh = float(np.clip(believed_wh, physics_wh - band_wh, physics_wh + band_wh))
    totals = journal.totals(section)
    total_wh2 = (NOISE_TRIPS * noise_wh2 + totals.within_wh2) / (
        NOISE_TRIPS + max(totals.count - 1, 0)
    )
    precision = 1.0 / noise_wh2 + totals.count / total_wh2
    mean_wh = (prior_wh / noise_wh2 + totals.total_wh / total_wh2) / precision
    return Evidence(believed_wh, mean_wh, 1.0 / precision, noise_wh2)


def total_of(section: Section, route: Route, energy_wh: FloatArray) -> float:
    """Return the energy of a section of a route, Wh.

    Parameters
    ----------
    section
        Edges that follow each other on the route.
    route
        Route of k edges.
    energy_wh
        (k,) energy of its edges in driving order, Wh.
    """
    start = route.edges.index(section[0])
    return float(np.sum(energy_wh[start : start + len(section)]))
