"""The contract of readers of measured trips: `check_reader`, on an example of a car in Denver."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from evroute.errors import EvrouteError
from evroute.learning.measured import Measured
from evroute.learning.readers.base import Reader
from evroute.learning.readers.headers import Column
from evroute.methods.setting import Setting, load_setting
from evroute.testing.base import ensure, hold, refuses

LEAST, MOST = 0.2, 5.0
"""Bounds of the energy of a trip, as shares of eq. 8."""


@dataclass(frozen=True)
class Subject:
    """The part that the checks are run on, and its surroundings.

    Parameters
    ----------
    reader
        The reader.
    example
        A file of it, with a trip or more of the vehicle.
    setting
        Network and vehicle of the trips.
    """

    reader: Reader
    example: Path
    setting: Setting

    @property
    def names(self) -> list[str]:
        """Names of the vehicle."""
        return [self.setting.vehicle.name]

    def read(self, path: Path | None = None) -> Measured:
        """Return the trips of a file, or of the example."""
        log = self.reader.log(path or self.example)
        return self.reader.trips(log, self.setting, self.names)


def check_reader(
    reader: Reader, example: Path, *, network: str = "denver", vehicle: str = "renault-zoe"
) -> None:
    """Check that a reader keeps the protocol `Reader`.

    Parameters
    ----------
    reader
        The reader.
    example
        A file of it, with one trip or more, none of them impossible.
    network, vehicle
        Network and vehicle of the trips.

    Raises
    ------
    ContractError
        With the sentence of the protocol that it breaks.
    """
    hold(CHECKS, Subject(reader, example, _setting(network, vehicle)))


@cache
def _setting(network: str, vehicle: str) -> Setting:
    return load_setting(network, vehicle)


def says_what_it_reads(subject: Subject) -> None:
    """A reader has one sentence on its format."""
    about = subject.reader.about
    ensure(about.endswith(".") and "\n" not in about, f"It has: {about!r}.")
    ensure(len(about) > 20, f"It has: {about!r}.")


def accepts_its_example(subject: Subject) -> None:
    """A reader accepts its files by their suffix, or by the headers of a table."""
    reader, suffix = subject.reader, subject.example.suffix.lower()
    if reader.suffixes:
        ensure(suffix in reader.suffixes, f"It has the suffixes {', '.join(reader.suffixes)}.")
        return
    from evroute.learning.readers.table import headers_of

    ensure(reader.accepts(headers_of(subject.example)), "It does not accept its example.")


def trips_are_routes_with_the_energy_of_a_car(subject: Subject) -> None:
    """A trip is a legal route whose energy is between a fifth of eq. 8 and five times eq. 8."""
    turns = set(map(tuple, subject.setting.network.turns.tolist()))
    measured = subject.read()
    ensure(measured.trips, "The example has no trip.")
    ensure(not measured.skipped, f"Set aside: {dict(list(measured.skipped.items())[:2])}.")
    for trip in measured.trips:
        same = len(trip.edge) == len(trip.energy_wh) == len(trip.travel_s)
        ensure(same, f"Trip {trip.trip!r} has columns of several lengths.")
        eq8_wh = float(subject.setting.prior.mean_wh[trip.edge].sum()) / trip.routes
        share = float(trip.energy_wh.sum()) / eq8_wh
        ensure(LEAST < share < MOST, f"Trip {trip.trip!r} takes {share:.2f} times eq. 8.")
        known = trip.travel_s[np.isfinite(trip.travel_s)]
        ensure(bool(np.all(known > 0)), f"Trip {trip.trip!r} has a time of 0 or less.")
        pairs = list(zip(trip.edge[:-1].tolist(), trip.edge[1:].tolist(), strict=True))
        gaps = sum(pair not in turns for pair in pairs)
        ensure(gaps <= trip.routes - 1, f"Trip {trip.trip!r} has {gaps} gaps.")


def trips_have_names(subject: Subject) -> None:
    """Every trip has a name of its own."""
    names = [trip.trip for trip in subject.read().trips]
    ensure(all(names) and len(set(names)) == len(names), f"The names are {names[:5]}.")


def copies_give_the_same_trips(subject: Subject) -> None:
    """A copy of a file elsewhere gives the same trips."""
    with TemporaryDirectory() as folder:
        path = Path(folder, subject.example.name)
        path.write_bytes(subject.example.read_bytes())
        first, again = subject.read().trips, subject.read(path).trips
    ensure([each.trip for each in first] == [each.trip for each in again], "The names differ.")
    for one, other in zip(first, again, strict=True):
        same = one.is_same(other) and one.departed_s == other.departed_s
        ensure(same, f"Trip {one.trip!r} differs.")


def sets_other_vehicles_aside(subject: Subject) -> None:
    """Trips of another vehicle are set aside, with a reason that names it."""
    log = subject.reader.log(subject.example)
    column = pa.array(["lorry"] * log.table.num_rows)
    table = log.table.append_column("vehicle", column)
    other = replace(log, table=table, columns={**log.columns, "vehicle": Column("vehicle")})
    measured = subject.reader.trips(other, subject.setting, subject.names)
    ensure(not measured.trips and measured.skipped, "They are taken.")
    reasons = list(measured.skipped.values())
    ensure(all("'lorry'" in reason for reason in reasons), f"The reason is: {reasons[0]}.")


def damaged_files_end_in_one_line(subject: Subject) -> None:
    """A file that is missing, empty or noise is an EvrouteError of one line with its name."""
    noise = np.random.default_rng(0).bytes(subject.example.stat().st_size)
    with TemporaryDirectory() as folder:
        path = Path(folder, subject.example.name)
        for content in (None, b"", noise):
            if content is not None:
                path.write_bytes(content)
            message = refuses(partial(subject.read, path))
            ensure(path.name in message, f"It says: {message}")


def cut_files_are_read_in_part(subject: Subject) -> None:
    """A file that is cut off anywhere is read in part, or is an EvrouteError."""
    contents = subject.example.read_bytes()
    with TemporaryDirectory() as folder:
        path = Path(folder, subject.example.name)
        for share in (0.05, 0.3, 0.5, 0.7, 0.95):
            path.write_bytes(contents[: int(share * len(contents))])
            with suppress(EvrouteError):
                subject.read(path)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    says_what_it_reads,
    accepts_its_example,
    trips_are_routes_with_the_energy_of_a_car,
    trips_have_names,
    copies_give_the_same_trips,
    sets_other_vehicles_aside,
    damaged_files_end_in_one_line,
    cut_files_are_read_in_part,
)
