"""Learned: the result of learning a table of trips into a folder, or into one for each type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from evroute.files import inside
from evroute.tables import write_table

REASONS = "set-aside.csv"
"""File of a folder with the trips and files that the last call set aside."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Result of learning a table.

    trips: of the whole folder, one row each: t, trip, departed_s, edges, length_m, travel_s (NaN
    where not wholly measured), energy_wh (measured), predicted_wh and predicted_sd_wh (expected
    before the trip was learned, the deviation with noise), low50_wh, high50_wh, low90_wh, high90_wh
    (ends of its intervals), eq8_wh, climb_m and descent_m. With model ``trips`` also predicted_s to
    high90_s, of the travel time.  new: number of them from this table, the last ones.
    known: trips of the table that the folder had learned already.  conflicts: known trips that are
    recorded with other edges or energies, which stand.  skipped: trips set aside, with the reason.
    notes: other omissions.
    aside: folder to which ``reset`` moved the earlier trips, or `repair` the damaged files. None if
    nothing was moved.
    findings: sentences on errors, intervals and coefficients, over all trips.
    by_type: of a fleet with a folder for each type, the result of each type by its vehicle. The
    trips are then all earlier ones, and after them those of the table.
    """

    folder: Path
    trips: pa.Table
    new: int
    known: int
    conflicts: Sequence[str]
    skipped: dict[str, str]
    notes: Sequence[str]
    aside: Path | None
    findings: Sequence[str]
    by_type: Mapping[str, "Learned"] = field(default_factory=dict)


def with_reasons(learned: Learned) -> Learned:
    """Write all reasons for which trips were set aside beside them, and say where they are.

    Parameters
    ----------
    learned
        Result of a call.
    """
    path = inside(learned.folder, REASONS)
    if not learned.skipped:
        path.unlink(missing_ok=True)
        return learned
    table = {"name": list(learned.skipped), "reason": list(learned.skipped.values())}
    write_table(path, pa.table({name: pa.array(each, pa.string()) for name, each in table.items()}))
    return replace(learned, notes=[*learned.notes, f"all reasons are in {path}"])
