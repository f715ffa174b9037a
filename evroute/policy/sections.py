"""Measured energies of the sections in which two routes differ.

Routes between the same ends share most of their edges. The shared edges only add noise to the
difference of two totals, so they are left out. A few shared edges stay at both ends of each
section: the energy of an edge depends on how it is entered, and attribution between neighbouring
edges errs.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

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
    def mean_wh(self) -> float:
        """Mean of the totals, Wh; NaN before the first."""
        return self.total_wh / self.count if self.count else np.nan

    @property
    def within_wh2(self) -> float:
        """Sum of squared deviations from the mean, Wh²."""
        return max(self.squares_wh2 - self.count * self.mean_wh**2, 0.0) if self.count else 0.0

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
        """Return the totals of a section; later trips update the same object."""
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
