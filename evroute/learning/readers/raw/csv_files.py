"""CSV files of any encoding, separator and width of rows, as tables.

A file that Arrow reads as it is stays as it is. Of any other the rows get the width of the header:
missing values at the end of a row are empty, and values beyond the header are left out. They are
left out only if the last values of the row are of the kinds of their columns in 9 of 10 such rows,
since a value too many in the middle would shift all others.
"""

import codecs
import csv
import io
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.learning.readers.raw.long_tables import is_long, widened
from evroute.text import counted

SEPARATORS = ",;\t"
LAST = 5
"""Columns at the end of a row whose kinds are compared."""
FITTING = 0.9
_HEAD_BYTES = 4096
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SEPARATOR_LINE = re.compile(r"\ufeff?sep=.\r?\n", re.IGNORECASE)
_SEPARATOR_BYTES = 20
"""Bytes that such a line has at most."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_UNDEFINED = re.compile(b"[\x81\x8d\x8f\x90\x9d]")
IN_WORDS = {
    "utf-8": "UTF-8, where some bytes are no characters",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
}
DAMAGED = (pa.ArrowException, OSError, EOFError, zlib.error, csv.Error)


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file: UTF-8, UTF-16 or else Windows-1252.

    Raises
    ------
    EvrouteError
        If it is no text.
    OSError, EOFError, zlib.error
        If it cannot be read.
    """
    about = path.stat()
    return _encoding_of(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=16)
def _encoding_of(path: Path, changed_ns: int, size: int) -> str:
    with limits.unpacked(path) as stream:
        head = stream.read(_HEAD_BYTES)
        for mark, encoding in _BOMS.items():
            if head.startswith(mark):
                return encoding
        if zeros := head.count(0):
            at_odd = head[1::2].count(0)
            require(zeros >= 0.3 * len(head), f"trip table {path} is neither CSV nor Parquet")
            return "utf-16-le" if at_odd > zeros / 2 else "utf-16-be"
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(head)
            while chunk := stream.read(1 << 20):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            if head.startswith(codecs.BOM_UTF8):
                return "utf-8"
            is_text = not _UNDEFINED.search(head) and not _CONTROL.search(head.decode("latin-1"))
            require(is_text, f"trip table {path} is neither CSV nor Parquet: it is no text")
            return "cp1252"
    return "utf-8-sig"


def header_of(path: Path) -> list[str]:
    """Return the headers of a CSV file without blanks around them, or none if it has no text."""
    return stripped(_raw_header(path))


def _raw_header(path: Path) -> list[str]:
    about = path.stat()
    return list(_header_of(path, about.st_mtime_ns, about.st_size))


@lru_cache(maxsize=16)
def _header_of(path: Path, changed_ns: int, size: int) -> tuple[str, ...]:
    with limits.unpacked(path) as stream:
        lines = limits.lines(decoded(stream, encoding_of(path)), f"trip table {path}")
        rows = csv.reader(lines, delimiter=separator_of(path))
        header = next(rows, [])
        return tuple(widened([header, *rows], path.name)[0] if is_long(header) else header)


def stripped(headers: Sequence[str]) -> list[str]:
    """Return headers without blanks, quotes and marks around them."""
    return [header.strip(" \t\ufeff\xa0\"'") for header in headers]


def separator_of(path: Path) -> str:
    """Return the separator of the columns, by the first line."""
    about = path.stat()
    return _separator_of(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=16)
def _separator_of(path: Path, changed_ns: int, size: int) -> str:
    with limits.unpacked(path) as stream:
        text = decoded(stream, encoding_of(path))
        line = next(limits.lines(text, f"trip table {path}"), "")
    separator = max(SEPARATORS, key=line.count)
    columns = line.count(separator) + 1
    limits.check("columns", columns, f"trip table {path} has {{}} columns or more")
    return separator


def decoded(stream: io.BufferedReader, encoding: str) -> io.TextIOWrapper:
    """Return the text of a stream. Bytes of no character are replaced.

    A first line such as ``sep=;``, by which spreadsheets know the separator, is left out.
    """
    named = _names_separator(stream, encoding)
    text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")
    if named:
        text.readline()
    return text


def read_csv(path: Path, texts: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """Return a CSV file as a table, and a sentence on each deviation from plain UTF-8 CSV.

    Parameters
    ----------
    path
        CSV file, plain or packed by gzip or bzip2.
    texts
        Headers of the columns that become text, in which a quoted "NA" is a text.

    Raises
    ------
    EvrouteError
        If rows have other widths than the header and do not fit its columns.
    pyarrow.ArrowException, OSError, EOFError, zlib.error, csv.Error
        If it cannot be read.
    """
    encoding, separator = encoding_of(path), separator_of(path)
    wanted = [each for each in _raw_header(path) if stripped([each])[0] in texts]
    notes = [] if encoding == "utf-8-sig" else [f"read as {IN_WORDS[encoding]}"]
    long = _is_long_file(path)
    with limits.unpacked(path) as stream:
        plain_text = encoding == "utf-8-sig" and not (long or _names_separator(stream, encoding))
    if plain_text and not _repeats_header(path):
        try:
            with limits.unpacked(path) as stream:
                return _parsed(stream, separator, wanted), notes
        except pa.ArrowInvalid:
            pass  # rows of other widths, most often
    with limits.unpacked(path) as stream:
        text = decoded(stream, encoding).read()
    rows, more = _long_rows(path, text, separator) if long else _in_width(path, text, separator)
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    table = _parsed(io.BytesIO(out.getvalue().encode("utf-8")), separator, wanted)
    return table, notes + more


def _parsed(stream: io.IOBase, separator: str, texts: Sequence[str]) -> pa.Table:
    options = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(texts, pa.string()),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return pyarrow.csv.read_csv(
        stream,
        # its threads can abort the process at exit (apache/arrow issue 34314)
        pyarrow.csv.ReadOptions(use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        options,
    )


def _repeats_header(path: Path) -> bool:
    """Return whether the header of a file may stand in it again, as where files were joined."""
    with limits.unpacked(path) as stream:
        header = stream.readline().removeprefix(codecs.BOM_UTF8).strip()
        return bool(header) and header in stream.read()


def _names_separator(stream: io.BufferedReader, encoding: str) -> bool:
    """Return whether the first line of a stream names its separator, without reading it."""
    head = stream.peek(_SEPARATOR_BYTES)[:_SEPARATOR_BYTES].decode(encoding, errors="replace")
    return _SEPARATOR_LINE.match(head) is not None


def _is_long_file(path: Path) -> bool:
    """Return whether a file has a row for each reading of one channel."""
    with limits.unpacked(path) as stream:
        lines = limits.lines(decoded(stream, encoding_of(path)), f"trip table {path}")
        return is_long(next(csv.reader(lines, delimiter=separator_of(path)), []))


def _long_rows(path: Path, text: str, separator: str) -> tuple[list[list[str]], list[str]]:
    """Return a long table with a row for each second, and a sentence on it."""
    lines = limits.lines(io.StringIO(text, newline=""), f"trip table {path}")
    rows = list(csv.reader(lines, delimiter=separator))
    wide = widened(rows, path.name)
    readings, seconds = counted(len(rows) - 1, "reading"), counted(len(wide) - 1, "second")
    return wide, [f"{readings} of single channels became {seconds}"]


def _in_width(path: Path, text: str, separator: str) -> tuple[list[list[str]], list[str]]:
    """Return the rows of a text in the width of its header, and sentences on what changed."""
    most = limits.limit("columns") * limits.limit("characters")
    lines = limits.lines(io.StringIO(text, newline=""), f"trip table {path}")
    csv.field_size_limit(most)
    rows = [row for row in csv.reader(lines, delimiter=separator) if row]
    if not rows:
        raise csv.Error("it is empty")
    header, body = rows[0], rows[1:]
    width = len(header)
    first = stripped(header[:1])  # of joined files each may have a mark before it
    kept = [row for row in body if row[1:] != header[1:] or stripped(row[:1]) != first]
    notes = []
    if again := len(body) - len(kept):
        notes.append(f"{counted(again, 'repeated header')} left out")
    if kept and len(kept[-1]) < width and not text.endswith(("\n", "\r")):
        kept.pop()
        notes.append("the last row is cut off and left out")
    long = [number for number, row in enumerate(kept) if len(row) > width]
    short = sum(len(row) < width for row in kept)
    if short:
        kept = [row + [""] * (width - len(row)) for row in kept]
        notes.append(f"{counted(short, 'row')} with fewer values than headers: the rest is empty")
    if long:
        _check_fit(path, kept, long, width)
        kept = [row[:width] for row in kept]
        notes.append(
            f"{counted(len(long), 'row')} with more values than headers: those beyond the header "
            "are left out"
        )
    return [header, *kept], notes


def _check_fit(path: Path, rows: list[list[str]], long: list[int], width: int) -> None:
    """Check that rows with too many values are no shifted ones, by the kinds of last columns.

    Rows of the right width say the kinds, or the majority of all where there is none.
    """
    too_long = set(long)
    right = [row for number, row in enumerate(rows) if number not in too_long] or rows
    last = range(max(width - LAST, 0), width)
    numeric = {k: _is_numeric([row[k] for row in right]) for k in last}
    odd = [number for number in long if not all(_fits(rows[number][k], numeric[k]) for k in last)]
    if len(odd) > (1 - FITTING) * len(long):
        raise EvrouteError(
            f"trip table {path}, row {odd[0] + 1}: it has {len(rows[odd[0]])} values under "
            f"{width} headers, and its last values do not fit their columns. Correct the row, or "
            "check that numbers with a separator of thousands are quoted"
        )


def _is_numeric(values: Sequence[str]) -> bool | None:
    """Return whether most values are numbers, or None where all are empty."""
    filled = [value for value in values if value.strip()]
    if not filled:
        return None
    return sum(map(_is_number, filled)) > len(filled) / 2


def _is_number(value: str) -> bool:
    try:
        float(value.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _fits(value: str, numeric: bool | None) -> bool:
    return numeric is None or not value.strip() or _is_number(value) == numeric
