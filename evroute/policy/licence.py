"""Licence: the evidence on whether a learner's route takes more than the baseline.

Evidence belongs to the sections in which two routes differ, so it is shared by all trips that pass
them, whatever their ends. Errors of attribution between edges cancel over a whole section. The
licence chooses which routes are tried. The budget is kept by `policy.ledger`.

Routes between the same ends share most of their edges. The shared edges only add noise to the
difference of two totals, so they are left out. A few shared edges stay at both ends of each
section: the energy of an edge depends on how it is entered, and attribution between neighbouring
edges errs.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray

Section = tuple[int, ...]
"""Edge rows in driving order."""

MARGIN = 2


@dataclass(slots=True)
class Totals:
    """Measured totals of one section, Wh."""

    count: int = 0
    total_wh: float = 0.0
    squares_wh2: float = 0.0

    @property
    def within_wh2(self) -> float:
        """Sum of squared deviations from the mean, Wh²."""
        mean_wh = self.total_wh / max(self.count, 1)
        return max(self.squares_wh2 - self.count * mean_wh**2, 0.0)

    def add(self, energy_wh: float) -> None:
        """Add the total of one trip, Wh."""
        self.count += 1
        self.total_wh += energy_wh
        self.squares_wh2 += energy_wh**2


def differing(route: Section, baseline: Section) -> list[tuple[Section, Section]]:
    """Return the sections in which two routes between the same edges differ.

    Each pair starts and ends with the same edges, `MARGIN` of them if available. Overlapping
    sections are joined. The list is empty if the routes are equal.
    """
    pieces: list[list[int]] = []
    for kind, i, i_end, j, j_end in SequenceMatcher(
        None, route, baseline, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        before, after = min(MARGIN, i, j), min(MARGIN, len(route) - i_end, len(baseline) - j_end)
        if pieces and i - before <= pieces[-1][1]:
            pieces[-1][1], pieces[-1][3] = i_end + after, j_end + after
        else:
            pieces.append([i - before, i_end + after, j - before, j_end + after])
    return [(route[i:i_end], baseline[j:j_end]) for i, i_end, j, j_end in pieces]


class Journal:
    """Totals of sections over all trips."""

    def __init__(self) -> None:
        self._trips: list[tuple[Section, dict[int, int], FloatArray]] = []
        self._totals: dict[Section, Totals] = {}

    def add(self, edges: Section, energy_wh: FloatArray) -> None:
        """Add a trip: edge rows in driving order, and the (k,) measured energies, Wh."""
        trip = (
            edges,
            {edge: i for i, edge in enumerate(edges)},
            np.concatenate([[0.0], np.cumsum(energy_wh)]),
        )
        self._trips.append(trip)
        for section, totals in self._totals.items():
            _count(section, trip, totals)

    def totals(self, section: Section) -> Totals:
        """Return the totals of a section. Later trips update the same object."""
        if section not in self._totals:
            self._totals[section] = Totals()
            for trip in self._trips:
                _count(section, trip, self._totals[section])
        return self._totals[section]


def _count(
    section: Section, trip: tuple[Section, dict[int, int], FloatArray], totals: Totals
) -> None:
    edges, position, sums = trip
    start = position.get(section[0])
    if start is not None and edges[start : start + len(section)] == section:
        totals.add(float(sums[start + len(section)] - sums[start]))


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
