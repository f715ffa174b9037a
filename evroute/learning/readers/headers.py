"""Columns of a log by the names that programs and people write for them, with their units.

`names.toml` is the table of names. A header is read without regard to case, blanks and underscores,
and its unit may follow it: ``HV Battery Voltage [V]``, ``battery_current_mA``, ``SOC%``.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

TABLE = Path(__file__).with_name("names.toml")
_TAG = re.compile(r"^\s*\[[^\[\]]+\]\s*(?=\S)")
"""Control unit of a channel before its name, as in ``[BMS] HV Battery Voltage``."""
_BRACKETS = re.compile(r"(.*?)\s*[(\[]([^()\[\]]*)[)\]]\s*:?\s*")
_PERCENT = re.compile(r"(.*?)\s*(%)")
_LAST = re.compile(r"(.*\S)[\s,:]+([^\s,:]+)")
NO_UNIT = ("", "-")


@dataclass(frozen=True, slots=True)
class Column:
    """A recognised column: its header in the file, factor and offset to its unit here.

    more: headers and factors of further columns that are added to it.
    """

    header: str
    factor: float = 1.0
    offset: float = 0.0
    more: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class _Name:
    """What a name means: the column here, unit without one in the header, and further factor."""

    column: str
    unit: str = ""
    factor: float = 1.0
    add: bool = False
    needs_unit: bool = False


@dataclass(frozen=True, slots=True)
class _Block:
    """Names of one program, and the headers by which its files are known, in plain form."""

    program: str
    mark: frozenset[str]
    names: Mapping[str, _Name]


def plain(header: str) -> str:
    """Return a header in lower case with single blanks for blanks and underscores."""
    return re.sub(r"[\s_\ufeff\xa0]+", " ", header.replace("Â°", "°")).strip(" \"'").casefold()


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def _blocks() -> tuple[_Block, ...]:
    """Return the blocks of names, those with marks first."""
    blocks = []
    for entry in _table()["names"]:
        names = {}
        for name, meaning in entry["columns"].items():
            given = {"is": meaning} if isinstance(meaning, str) else dict(meaning)
            names[plain(name)] = _Name(given.pop("is"), **given)
        mark = frozenset(map(plain, entry.get("mark", ())))
        blocks.append(_Block(entry["program"], mark, MappingProxyType(names)))
    return tuple(sorted(blocks, key=lambda block: not block.mark))


def programs_of(headers: Sequence[str]) -> list[str]:
    """Return the programs that write files with these headers, by their marks."""
    there = set(map(plain, headers))
    return [block.program for block in _blocks() if block.mark and block.mark <= there]


def scale_of(name: str, unit: str) -> tuple[float, float] | None:
    """Return factor and offset of a unit to that of a column here, or None if it has no such unit.

    Parameters
    ----------
    name
        Column here, such as ``temperature_c``.
    unit
        As a header or a cell writes it, or empty.
    """
    if unit.strip() in NO_UNIT:
        return 1.0, 0.0
    known = _table()["units"].get(_table()["quantities"].get(name, ""), {})
    scale = known.get(plain(unit))
    if scale is None:
        return None
    factor, offset = scale if isinstance(scale, list) else (scale, 0.0)
    return float(factor), float(offset)


def forms_of(header: str) -> list[tuple[str, str]]:
    """Return the names that a header may have, each with the rest of the header as its unit."""
    whole = plain(_TAG.sub("", header))
    forms = [(whole, "")]
    for pattern in (_BRACKETS, _PERCENT, _LAST):
        if match := pattern.fullmatch(whole):
            forms.append((match[1].strip(), match[2].strip()))
    return forms


def recognised(
    headers: Sequence[str],
    known: Sequence[str],
    given: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Column]:
    """Return the columns that can be read, by their name here.

    Parameters
    ----------
    headers
        Headers of a file.
    known
        Names of columns here. A header that equals one of them goes before other names.
    given
        Headers that the user names, by the column here.

    Returns
    -------
    dict
        Column of each name that the file has. Of two headers for one name, the first.
    """
    there = set(map(plain, headers))
    blocks = [block for block in _blocks() if block.mark <= there]
    marked = {name for block in blocks if block.mark for name in block.names}
    found = {name: _given(name, header) for name, header in given.items() if header in headers}
    used = {column.header for column in found.values()}
    own = [header for header in headers if header not in used and plain(header) not in marked]
    for name, column in _of_evroute(own, known).items():
        found.setdefault(name, column)
    for block in blocks:
        used |= {header for column in found.values() for header in _headers(column)}
        of_block = _of_block(block, [header for header in headers if header not in used])
        for name, column in of_block.items():
            found.setdefault(name, column)
    return {name: column for name, column in found.items() if name in known}


def _of_evroute(headers: Sequence[str], known: Sequence[str]) -> dict[str, Column]:
    """Return the columns whose headers are names here. An exact one goes before other forms."""
    found = {name: Column(name) for name in headers if name in known}
    own = {plain(name): name for name in known}
    for header in headers:
        for form, unit in forms_of(header):
            known_as = own.get(form, "")
            if known_as and (scale := scale_of(known_as, unit)):
                found.setdefault(known_as, Column(header, *scale))
                break
    return found


def _headers(column: Column) -> list[str]:
    return [column.header, *(header for header, _ in column.more)]


def _given(name: str, header: str) -> Column:
    """Return a column that the user names, in the unit of its header, else in that of evroute."""
    scales = [scale_of(name, unit) for _, unit in forms_of(header) if unit]
    factor, offset = next((scale for scale in scales if scale), (1.0, 0.0))
    return Column(header, factor, offset)


def _of_block(block: _Block, headers: Sequence[str]) -> dict[str, Column]:
    """Return the columns that a file has by the names of one program."""
    order = list(block.names)
    hits: list[tuple[int, str, Column, _Name]] = []
    for header in headers:
        for name, unit in forms_of(header):
            meaning = block.names.get(name)
            if meaning is None or (meaning.needs_unit and not unit):
                continue
            scale = scale_of(meaning.column, unit or meaning.unit)
            if scale is None:
                continue
            factor, offset = scale
            place = order.index(name) if block.mark else 0
            column = Column(header, factor * meaning.factor, offset)
            hits.append((place, meaning.column, column, meaning))
            break
    found: dict[str, Column] = {}
    for _, name, column, meaning in sorted(hits, key=lambda hit: hit[0]):
        before = found.setdefault(name, column)
        if meaning.add and before is not column:
            more = (*before.more, (column.header, column.factor))
            found[name] = Column(before.header, before.factor, before.offset, more)
    return found
