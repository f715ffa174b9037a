"""Many files of measured trips in one call: in order of time, copies once, bad files set aside."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import numpy as np

from evroute.errors import EvrouteError, require
from evroute.learning.base import Belief
from evroute.learning.fleet.cars_table import CarTypes
from evroute.learning.learned import Learned
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.learning.one_call import Opened
from evroute.learning.readers.files import first_time_s
from evroute.learning.readers.formats import read_measured
from evroute.learning.readers.table import headers_of
from evroute.learning.records.files_read import FilesRead, digest_of_file
from evroute.learning.records.history import read_history
from evroute.learning.trips.energies import MODEL
from evroute.network.places.zones import DATED_S
from evroute.network.road_network import RoadNetwork
from evroute.text import counted

BATCH_S = 60.0
"""Trips of many files are recorded about so often, s."""
OVERLAP = 0.5
"""Share of a trip's time within another trip from which on both are one."""
SHOWN_NOTES = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """The belief that a call goes on with, before its trips, and how it reads files.

    names: of the vehicle in tables.  reader: its name, or None.  cars: types of cars, or None.
    """

    fresh: Belief
    names: set[str]
    reader: str | None
    cars: CarTypes | None

    def read(self, path: Path, kept: Mapping[str, str], column: Mapping[str, str]) -> Measured:
        """Return the trips of a file for a belief.

        Parameters
        ----------
        path
            The file.
        kept
            Headers that the folder keeps, by column. Those that the file lacks do not count.
        column
            Headers that this call names.

        Raises
        ------
        EvrouteError
            If the file cannot be read, or names cars and the model cannot tell them apart.
        """
        headers = headers_of(path) if set(kept) - set(column) else []
        kept = {name: header for name, header in kept.items() if header in headers}
        measured = read_measured(
            path,
            self.fresh.setting,
            self.names,
            with_routes=not self.fresh.learns_totals,
            reader=self.reader,
            cars=self.cars,
            columns=kept | dict(column),
        )
        require(
            self.fresh.travels or not any(trip.record for trip in measured.trips),
            f"model '{self.fresh.method_table['model']}' learns roads, which the totals of trip "
            f"table {path} do not have. Learn them with model {MODEL}",
        )
        require(
            self.fresh.of_fleets or not any(trip.car for trip in measured.trips),
            f"model '{self.fresh.method_table['model']}' does not tell cars apart, which trip "
            f"table {path} names. Learn with model {MODEL}, or leave the names of cars out",
        )
        return measured


@dataclass(slots=True)
class Pile:
    """Trips of many files that wait to be learned, and what was left out.

    digests: names of the trips of each file of the call, by its digest.  names: trips by name.
    spans: begin and end of the dated trips of each car, s.  skipped: file, or file and trip, with
    the reason.  copies, overlaps, known: numbers of files and trips.
    """

    waiting: Measured = field(default_factory=Measured)
    digests: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, MeasuredTrip] = field(default_factory=dict)
    spans: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    copies: int = 0
    overlaps: int = 0
    known: int = 0

    def add(self, path: Path, digest: str, measured: Measured, network: RoadNetwork) -> None:
        """Add the trips of a file. Those that other files have too are left out.

        Parameters
        ----------
        path, digest
            The file.
        measured, network
            Its trips, and the network of their edges.
        """
        self.skipped |= {f"{path.name}: {trip}": why for trip, why in measured.skipped.items()}
        self.notes.update(measured.notes)
        names = list[str]()
        for trip in measured.trips:
            before = self.names.get(trip.trip)
            if before is not None and not before.is_same(trip):
                trip = replace(trip, trip=f"{path.parent.name}/{path.stem}: {trip.trip}")
            elif before is not None or self._is_driven(trip, network):
                self.overlaps += 1
                continue
            self.names[trip.trip] = trip
            self.waiting.trips.append(trip)
            names.append(trip.trip)
        self.digests[digest] = names

    def _is_driven(self, trip: MeasuredTrip, network: RoadNetwork) -> bool:
        """Return whether an earlier trip of the car has most of the time of a trip."""
        if trip.departed_s is None or trip.departed_s < DATED_S:
            return False
        driven_s = np.where(np.isnan(trip.travel_s), network.time_s[trip.edge], trip.travel_s)
        begin_s, length_s = trip.departed_s, float(driven_s.sum())
        spans = self.spans.setdefault(trip.car, [])
        for other_s, end_s in spans:
            shared_s = min(begin_s + length_s, end_s) - max(begin_s, other_s)
            if shared_s > OVERLAP * min(length_s, end_s - other_s) and shared_s > 0:
                return True
        spans.append((begin_s, begin_s + length_s))
        return False

    def none_read(self) -> EvrouteError:
        """Return the error of a call whose files all have no trip to learn."""
        name, reason = next(iter(self.skipped.items()), ("", "they are empty"))
        return EvrouteError(f"none of {len(self.digests)} files can be learned; {name}: {reason}")

    def summary(self, learned: Sequence[Learned]) -> Learned:
        """Return the results of all batches as one.

        Parameters
        ----------
        learned
            Result of each batch, in order.
        """
        last = learned[-1]
        skipped = dict(self.skipped)
        for each in learned:
            skipped |= {name: why for name, why in each.skipped.items() if name not in skipped}
        notes = [f"{counted(len(self.digests), 'file')} read"]
        if self.copies:
            notes.append(f"{counted(self.copies, 'file')} left out that are copies of others")
        if self.overlaps:
            notes.append(f"{counted(self.overlaps, 'trip')} left out that other files have too")
        for note, number in self.notes.most_common(SHOWN_NOTES):
            notes.append(f"{note} ({counted(number, 'file')})" if number > 1 else note)
        if len(self.notes) > SHOWN_NOTES:
            notes.append(f"and {len(self.notes) - SHOWN_NOTES:,} other notes on files")
        return replace(
            last,
            new=sum(each.new for each in learned),
            known=self.known + sum(each.known for each in learned),
            conflicts=[name for each in learned for name in each.conflicts],
            skipped=skipped,
            notes=notes,
            aside=next((each.aside for each in learned if each.aside), None),
        )


def learn_files(
    opened: Opened,
    wanted: Wanted,
    paths: Sequence[Path],
    before: FilesRead,
    column: Mapping[str, str],
) -> Learned:
    """Learn the trips of many files in order of time, and record them every `BATCH_S`.

    Parameters
    ----------
    opened
        The folder.
    wanted
        How to read files.
    paths
        The files.
    before
        The files that the folder has read.
    column
        Headers that this call names.

    Raises
    ------
    EvrouteError
        If no file can be read.
    """
    network = opened.start.setting.network
    known: set[str] = set()
    if not opened.reset:
        known = set(read_history(opened.folder.path, opened.start.setting).recorded)
    pile = Pile()
    begun_s, learned = monotonic(), list[Learned]()
    for path in sorted(paths, key=lambda path: (first_time_s(path, network), path)):
        digest = digest_of_file(path)
        if digest in pile.digests:
            pile.copies += 1
            continue
        pile.digests[digest] = before.trips.get(digest, [])
        if before.is_known(digest, known):
            pile.known += len(before.trips[digest])
            continue
        try:
            pile.add(path, digest, wanted.read(path, before.columns, column), network)
        except EvrouteError as error:
            pile.skipped[path.name] = str(error).replace(f"trip table {path}", "").lstrip(" ,:")
        if pile.waiting.trips and monotonic() - begun_s > BATCH_S:
            learned.append(_batch(opened, pile, before))
            begun_s = monotonic()
    if pile.waiting.trips or not learned:
        if not (pile.waiting.trips or pile.known or known):
            raise pile.none_read()
        learned.append(_batch(opened, pile, before))
    return pile.summary(learned)


def _batch(opened: Opened, pile: Pile, before: FilesRead) -> Learned:
    """Learn the waiting trips of files, and keep which files they are of."""
    learned = opened.learn(pile.waiting)
    pile.waiting = Measured()
    before.trips |= pile.digests
    before.write()
    return learned
