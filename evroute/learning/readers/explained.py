"""What a log has and lacks where it cannot be read, and the call that reads it, which was tried."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from pathlib import Path

from evroute.errors import EvrouteError
from evroute.learning.measured import Measured
from evroute.learning.readers.headers import plain, recognised
from evroute.learning.readers.points import COLUMNS
from evroute.learning.readers.table import headers_of

PARTS = {
    "times": ("time",),
    "positions": ("lat", "lon"),
    "energy": ("energy_wh",),
    "volts and amps": ("volts", "amps"),
    "power": ("power_w",),
    "charge": ("soc_percent",),
    "speed": ("speed_mps",),
    "temperature": ("temperature_c",),
    "kilometres": ("odometer_km",),
}
"""Parts of a log in words, and their columns."""
METERS = ("energy", "volts and amps", "power", "charge")
LIKE = {
    "time": r"time|zeit|stamp|clock|\butc\b|date|datum|heure|hora|fecha",
    "lat": r"lat|breite|\by\b",
    "lon": r"lon|lng|länge|\bx\b",
    "energy_wh": r"energ|wh\b",
    "volts": r"volt|spannung|tension",
    "amps": r"amp|current|strom|courant|corriente",
    "power_w": r"power|leistung|watt|puissance|potencia",
    "soc_percent": r"soc|charge|carga|lade|battery|akku|batterie|level",
}
"""Parts of headers that may mean a column."""
CANDIDATES, TRIES = 3, 24
SHOWN = 8
Read = Callable[[Mapping[str, str], str | None], Measured]


def explained(
    error: EvrouteError, path: Path, columns: Mapping[str, str], read: Read
) -> EvrouteError:
    """Return an error with the columns the file has and lacks, and a call that reads it, if any.

    Parameters
    ----------
    error
        A missing column.
    path
        The file.
    columns
        Headers that the user names, by column.
    read
        Reads the file with headers named by column, and by a reader that a user names.
    """
    headers = headers_of(path)
    if not headers:
        return error
    found = recognised(headers, (*COLUMNS, "odometer_km"), columns)
    has = {
        part: [found[name].header for name in names]
        for part, names in PARTS.items()
        if all(name in found for name in names)
    }
    lines = [str(error)]
    if has:
        words = [f"{part} ({', '.join(each)})" for part, each in has.items()]
        lines.append(f"It has {_listed(words)}")
    lacking = [part for part in ("times", "positions") if part not in has]
    if not any(part in has for part in METERS):
        lacking.append("energy, power or charge")
    if lacking:
        lines.append(f"It lacks {_listed(lacking)}")
    if call := _call(path, headers, found, columns, read):
        lines.append(f"This call reads it: {call}")
    elif "speed" in has and _has_totals(columns, read):
        lines.append(
            "Without positions the total of each trip can be learned: "
            f"evroute learn {shlex.quote(path.name)} --totals"
        )
    return EvrouteError(". ".join(lines))


def _has_totals(columns: Mapping[str, str], read: Read) -> bool:
    """Return whether the totals of a file's trips can be read."""
    with suppress(EvrouteError):
        return bool(read(columns, "totals").trips)
    return False


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _call(
    path: Path,
    headers: Sequence[str],
    found: Mapping[str, object],
    columns: Mapping[str, str],
    read: Read,
) -> str:
    """Return the call with named columns that reads a file, or empty if none was found."""
    rest = [header for header in headers if header not in _used(found)]
    for given in islice(_guesses(rest, found), TRIES):
        try:
            measured = read({**columns, **given}, None)
        except EvrouteError:
            continue
        if measured.trips:
            options = " ".join(
                f"--column {shlex.quote(f'{name}={header}')}" for name, header in given.items()
            )
            return f"evroute learn {shlex.quote(path.name)} {options}"
    return ""


def _used(found: Mapping[str, object]) -> set[str]:
    return {str(getattr(column, "header", "")) for column in found.values()}


def _guesses(rest: Sequence[str], found: Mapping[str, object]) -> Iterator[dict[str, str]]:
    """Yield headers for the columns that are missing, the likeliest first."""
    like = {
        name: [header for header in rest if re.search(pattern, plain(header))][:CANDIDATES]
        for name, pattern in LIKE.items()
    }
    needed = [name for name in ("time", "lat", "lon") if name not in found]
    meters: list[tuple[str, ...]] = [PARTS[part] for part in METERS]
    if any(all(name in found for name in names) for names in meters):
        meters = [()]
    for names in meters:
        wanted = [*needed, *(name for name in names if name not in found)]
        if not wanted:
            continue
        for headers in product(*(like[name] for name in wanted)):
            if len(set(headers)) == len(headers):
                yield dict(zip(wanted, headers, strict=True))
