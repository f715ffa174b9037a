"""Values of two trees: which are identical, which agree to rounding, which differ.

Only keys that the old value has are compared: a later tree may add others.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 1e-12
"""Relative to the largest value of an array, or to 1 (Wh, s, m, %) if that is larger."""
WORDING = {"verdict", "proof", "proofs", "assumes", "assumed", "safety", "note", "error"}
WORDING |= {"run", "method"}
"""Keys and columns of sentences and labels: a new wording is counted, not a difference."""
VOLATILE = {"seconds"}
"""Keys and columns that no two runs share."""
RENAMED: dict[str, str] = {}
"""Old names of keys and columns, and their names in the new tree."""
OBJECTIVES = {"energy": "energy_wh", "time": "time_s", "distance": "length_m"}
"""The quantity that each route of a plan minimises."""


@dataclass(slots=True)
class Comparison:
    """The comparison of one unit; ``largest`` is the largest relative difference of its numbers."""

    largest: float = 0.0
    differences: list[str] = field(default_factory=list)
    reworded: int = 0
    ties: int = 0

    def add(self, old: Any, new: Any, at: str = "") -> None:
        """Compare two values, and those inside them; ``at`` names their place."""
        if isinstance(old, dict) and isinstance(new, dict):
            self._add_dict(old, new, at)
        elif _is_numeric(old) and _is_numeric(new):
            self._add_numbers(np.asarray(old), np.asarray(new), at)
        elif (
            isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new)
        ):
            if any(isinstance(each, dict | list | tuple) for each in old):
                for place, pair in enumerate(zip(old, new, strict=True)):
                    self.add(*pair, f"{at}[{place}]")
            elif list(old) != list(new):
                first = next(
                    i for i, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]
                )
                self.differences.append(f"{at}[{first}]: {old[first]!r} -> {new[first]!r}")
        elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
            self.differences.append(f"{at}: {len(old)} entries -> {len(new)}")
        elif old != new:
            self.differences.append(f"{at}: {_short(old)} -> {_short(new)}")

    def _add_dict(self, old: dict[str, Any], new: dict[str, Any], at: str) -> None:
        if self._is_tie(old, new, at):
            self.ties += 1
            return
        for key, value in old.items():
            if key in VOLATILE:
                continue
            place, other = f"{at}.{key}" if at else key, RENAMED.get(key, key)
            if other not in new:
                self.differences.append(f"{place}: is missing in the new tree")
            elif key in WORDING:
                self.reworded += value != new[other]
            else:
                self.add(value, new[other], place)

    def _is_tie(self, old: dict[str, Any], new: dict[str, Any], at: str) -> bool:
        """Return whether two routes of a plan differ that are equally good."""
        objective = OBJECTIVES.get(at.rpartition(".")[2], "")
        if "edges" not in old or objective not in old or old["edges"] == new.get("edges"):
            return False
        alike = Comparison()
        alike.add(old[objective], new.get(objective))
        return not alike.differences

    def _add_numbers(self, old: Any, new: Any, at: str) -> None:
        if old.shape != new.shape:
            self.differences.append(f"{at}: shape {old.shape} -> {new.shape}")
            return
        if not old.size:
            return
        old, new = old.astype(float), new.astype(float)
        finite = np.asarray(np.isfinite(old) & np.isfinite(new))
        wrong = ~finite & (old != new) & ~(np.isnan(old) & np.isnan(new))
        scale = max(1.0, *(np.abs(each[finite]).max(initial=0.0) for each in (old, new)))
        gap = np.subtract(new, old, out=np.zeros_like(old), where=finite)
        apart = np.where(wrong, np.inf, np.abs(gap) / scale)
        largest = float(apart.max())
        self.largest = max(self.largest, largest)
        if largest > TOLERANCE:
            worst = np.unravel_index(apart.argmax(), apart.shape)
            place = f"{at}[{','.join(map(str, worst))}]" if worst else at
            self.differences.append(
                f"{place}: {float(old[worst])!r} -> {float(new[worst])!r} ({largest:.1e})"
            )


SHOWN = 40
"""Differences of one unit in the table of verdicts."""


@dataclass(slots=True)
class Family:
    """The comparisons of one family of results."""

    name: str
    compared: int = 0
    identical: int = 0
    rounding: int = 0
    replayed: int = 0
    largest: float = 0.0
    reworded: int = 0
    ties: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, unit: str, found: Comparison, *, flips: int = 0) -> tuple[str, float, str]:
        """Count a unit and return its verdict, largest relative gap and its differences.

        ``flips`` counts choices that differ on one history.
        """
        self.compared += 1
        self.reworded += found.reworded
        self.ties += found.ties
        self.largest = max(self.largest, found.largest)
        if found.differences:
            more = f" (and {n} more)" if (n := len(found.differences) - 1) else ""
            self.differences.append(f"{unit}: {found.differences[0]}{more}")
            return "different", found.largest, " | ".join(found.differences[:SHOWN])
        if flips:
            self.replayed += 1
            return "replayed", found.largest, f"{flips} choices differ"
        exact = not (found.largest or found.ties)
        self.identical += exact
        self.rounding += not exact
        return "identical" if exact else "rounding", found.largest, ""

    def line(self) -> str:
        """Return the summary of the family in one line."""
        notes = [f"{self.ties} ties"] * bool(self.ties) + [f"{self.reworded} reworded"] * bool(
            self.reworded
        )
        return (
            f"{self.name:12s}{self.compared:9d}{self.identical:10d}{self.rounding:10d}{self.replayed:10d}"
            f"{len(self.differences):10d}   {self.largest:8.1e}  {', '.join(notes)}"
        ).rstrip()


HEADER = (
    f"{'':12s}{'compared':>9s}{'identical':>10s}{'rounding':>10s}"
    f"{'replayed':>10s}{'different':>10s}    largest"
)


def in_order(
    units: Iterable[tuple[str, Any]], others: dict[str, Any]
) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparison of every unit with that of the same name in ``others``."""
    for name, value in units:
        found = Comparison()
        if name in others:
            found.add(value, others[name])
        else:
            found.differences.append("is missing in the new tree")
        yield name, found


def _is_numeric(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return bool(np.issubdtype(value.dtype, np.number) or value.dtype == bool)
    if isinstance(value, list):
        return (
            bool(value)
            and all(map(_is_numeric, value))
            and not any(isinstance(v, list) for v in value)
        )
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
