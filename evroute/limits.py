"""Limits of what evroute reads and downloads: every reader goes through this module.

A limit is raised or lowered by an environment variable, ``EVROUTE_MAX_`` and its name in capitals,
such as ``EVROUTE_MAX_NETWORK_MB=8000``.
"""

import bz2
import gzip
import io
import json
import math
import os
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, BinaryIO, TextIO, TypeVar
from xml.parsers import expat

import numpy as np

from evroute.errors import EvrouteError, LimitError, require

T = TypeVar("T")
LIMITS = {
    "download_mb": (1_000, "Largest download, MB."),
    "download_s": (3_600, "Longest download, and longest request to a service, s."),
    "unpacked_mb": (2_000, "Largest size of a compressed file once it is unpacked, MB."),
    "unpacked_ratio": (
        30,
        "Largest ratio of unpacked to packed size, of files that unpack to more than 32 MB.",
    ),
    "toml_mb": (1, "Largest TOML file, MB."),
    "json_mb": (20, "Largest JSON file, MB."),
    "nesting": (100, "Deepest nesting of TOML, JSON and XML, levels."),
    "columns": (1_000, "Most columns of a table."),
    "rows": (50_000_000, "Most rows of a table."),
    "trips": (
        1_000_000,
        "Most trips of a demand table, its counts added up, or of a SUMO route file.",
    ),
    "characters": (10_000, "Longest name, id or other text of a table or network, characters."),
    "elements": (2_000_000, "Most XML elements and attributes of a GraphML file."),
    "turns_per_edge": (1_000, "Most turns of a network for each edge, in the mean."),
    "network_mb": (4_000, "Most memory of a network and its first plans, estimated, MB."),
    "cells": (50_000_000, "Most cells of a block of a raster, which is unpacked as a whole."),
}
"""Default and meaning of each limit."""

UNPACKED_FREELY_MB = 32
"""Up to this size compressed files may unpack to any multiple of their own."""
TOKEN_BYTES = 1_000_000
"""A tag of XML with all its attributes, or a comment, may have so many bytes."""
_CHUNK_BYTES = 1 << 16
_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Types of the values of JSON and TOML that hold no others."""
_DOTTED = r"""^[\s\[]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}"""
_OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b\x08": gzip.open, b"BZh": bz2.open}


def limit(name: str) -> int:
    """Return the limit ``name`` of `LIMITS`, or its value in the environment.

    Raises
    ------
    EvrouteError
        If the environment holds another text than a positive whole number.
    """
    variable = _variable(name)
    text = os.environ.get(variable, str(LIMITS[name][0]))
    require(
        re.fullmatch(r"[1-9]\d{0,17}", text),
        f"{variable} is '{text}'. It must be a positive whole number",
    )
    return int(text)


def check(name: str, value: float, message: str) -> None:
    """Refuse a value above the limit ``name``.

    Parameters
    ----------
    name
        A key of `LIMITS`.
    value
        The value found, in the unit of the limit.
    message
        The problem, with ``{}`` where the value belongs.

    Raises
    ------
    LimitError
        If the value is above. The message names the limit and the variable that changes it.
    """
    if value > (most := limit(name)):
        found = message.format(f"{math.ceil(value):,}")
        raise LimitError(f"{found}. The limit is {most:,}, and {_variable(name)} changes it")


def _variable(name: str) -> str:
    return f"EVROUTE_MAX_{name.upper()}"


def check_unpacked(path: Path, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to too many bytes.

    Parameters
    ----------
    path
        The file, for the message.
    packed, unpacked
        Its size on disk, and the size to which it unpacks or has unpacked so far, bytes.

    Raises
    ------
    LimitError
        If that is above the limits ``unpacked_mb`` or ``unpacked_ratio``.
    """
    check("unpacked_mb", unpacked / 1e6, f"{path} unpacks to {{}} MB or more")
    if unpacked > UNPACKED_FREELY_MB * 1e6:
        check(
            "unpacked_ratio",
            unpacked / max(packed, 1),
            f"{path} unpacks to {{}} times its size or more",
        )


def check_archive(path: Path) -> None:
    """Refuse an ``.npz`` archive whose arrays would be too large, before they are unpacked.

    Each element counts eight bytes or more, which it takes as a number of evroute.

    Raises
    ------
    LimitError
        If the arrays are above the limits ``unpacked_mb`` or ``unpacked_ratio``.
    OSError, ValueError, zipfile.BadZipFile
        If it is missing, or no archive of arrays.
    """
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as handle:
                version = np.lib.format.read_magic(handle)
                read = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }.get(version)
                if read is None:
                    raise ValueError(f"array format {version} of '{member.filename}'")
                shape, _, dtype = read(handle)
            total += max(member.file_size, math.prod(shape) * max(dtype.itemsize, 8))
    check_unpacked(path, path.stat().st_size, total)


class _Guarded(io.RawIOBase):
    """A stream that raises where the limits of an unpacked file are exceeded."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._packed, self._length = path.stat().st_size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(min(len(buffer), _CHUNK_BYTES))
        buffer[: len(chunk)] = chunk
        self._length += len(chunk)
        if self._length > self._packed:
            check_unpacked(self._path, self._packed, self._length)
        return len(chunk)


@contextmanager
def unpacked(path: Path) -> Iterator[io.BufferedReader]:
    """Yield the bytes of a file as a stream, unpacked where they are gzip or bzip2.

    Raises
    ------
    LimitError
        While reading, if the file unpacks to more than the limits allow.
    OSError, EOFError, zlib.error
        If the file cannot be opened, or its compressed bytes are cut off or damaged.
    """
    with ExitStack() as stack:
        handle = stack.enter_context(path.open("rb"))
        opener = _OPENERS.get(handle.read(3))
        handle.seek(0)
        stream = stack.enter_context(opener(handle)) if opener else handle
        yield io.BufferedReader(_Guarded(stream, path), _CHUNK_BYTES)


def parse_xml(parser: expat.XMLParserType, stream: Any, path: Path) -> None:
    """Feed a stream to a parser. Its handler of opening tags stays in use.

    Parameters
    ----------
    parser
        A new parser, with a handler of opening tags if wanted.
    stream
        A stream of `unpacked`.
    path
        The file, for messages.

    Raises
    ------
    LimitError
        If the elements are nested too deep, a tag is too long, or as `unpacked`.
    xml.parsers.expat.ExpatError
        If it is not XML.
    """
    depth, deepest = 0, limit("nesting")
    inner: Any = parser.StartElementHandler

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > deepest:
            check("nesting", depth, f"{path}: XML is nested {{}} levels deep")
        if inner is not None:
            inner(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    length = 0
    while chunk := stream.read(_CHUNK_BYTES):
        _feed(parser, chunk, final=False)
        length += len(chunk)
        require(
            length - parser.CurrentByteIndex <= TOKEN_BYTES,
            f"{path}: a tag or comment of XML has more than {TOKEN_BYTES:,} bytes",
            LimitError,
        )
    _feed(parser, b"", final=True)


def _feed(parser: expat.XMLParserType, chunk: bytes, *, final: bool) -> None:
    """Feed bytes to a parser. An encoding that nobody knows is damage like any other."""
    try:
        parser.Parse(chunk, final)
    except LookupError as error:
        if isinstance(error, KeyError | IndexError):  # from the handler of a tag
            raise
        raise expat.ExpatError(str(error)) from None


def check_xml(path: Path, *, counted: bool = False) -> None:
    """Refuse an XML file that is nested too deep or has too long tags, before a reader opens it.

    Parameters
    ----------
    path
        The file, packed or not.
    counted
        Whether to refuse too many elements and attributes too, as a reader needs that holds all of
        them in memory.

    Raises
    ------
    LimitError
        If the nesting is too deep, a tag too long, or the elements too many.
    OSError, EOFError, zlib.error, xml.parsers.expat.ExpatError
        If it cannot be read, or is not XML.
    """
    count, most = 0, limit("elements")

    def take(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1 + len(attributes)
        if count > most:
            check("elements", count, f"{path} has {{}} XML elements and attributes or more")

    parser = expat.ParserCreate()
    if counted:
        parser.StartElementHandler = take
    with unpacked(path) as stream:
        parse_xml(parser, stream, path)


def read_text(path: Path, name: str) -> str:
    """Return the text of a file that may be as large as the limit ``name`` says, in MB.

    Raises
    ------
    LimitError
        If it is larger.
    OSError, UnicodeDecodeError
        If it cannot be read, or is not UTF-8.
    """
    with path.open("rb") as handle:
        content = handle.read(limit(name) * 1_000_000 + 1)
    check(name, len(content) / 1e6, f"{path} has {{}} MB or more")
    return content.decode("utf-8")


def lines(handle: TextIO, name: str) -> Iterator[str]:
    """Yield the lines of an open table. ``name`` stands for it in messages.

    Raises
    ------
    LimitError
        If a line is longer than all its columns may be together.
    """
    most = limit("columns") * limit("characters")
    while line := handle.readline(most + 1):
        if len(line) > most:
            raise LimitError(f"{name}: a line has more than {most:,} characters")
        yield line


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Read a TOML file. ``kind`` names its kind in messages, such as ``vehicle file``.

    Raises
    ------
    EvrouteError
        If it does not exist, is not TOML, or is too large or nested too deep.
    """
    try:
        return parse_toml(read_text(path, "toml_mb"), f"{kind} {path}")
    except FileNotFoundError:
        raise EvrouteError(f"{kind} {path} does not exist") from None
    except ValueError as error:
        raise EvrouteError(f"{kind} {path} is not TOML: {error}") from None


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the table of a TOML text. ``name`` stands for it in messages.

    Raises
    ------
    LimitError
        If it is too long, or nested too deep.
    ValueError
        If it is not TOML. `tomllib.TOMLDecodeError` is one.
    """
    check("toml_mb", len(text) / 1e6, f"{name} has {{}} MB or more")
    if re.search(_DOTTED % limit("nesting"), text, re.MULTILINE):
        check("nesting", limit("nesting") + 1, f"{name}: a key has {{}} parts or more")
    return _shallow(tomllib.loads, text, name)


def parse_json(text: str | bytes, name: str) -> Any:
    """Return the value of a JSON text. ``name`` stands for it in messages.

    Raises
    ------
    LimitError
        If it is nested too deep.
    ValueError
        If it is not JSON.
    """
    return _shallow(json.loads, text, name)


def _shallow(parse: Callable[[Any], Any], text: str | bytes, name: str) -> Any:
    value, depth = None, limit("nesting") + 1
    with suppress(RecursionError):
        value = parse(text)
        depth = _depth(value, depth)
    check("nesting", depth, f"{name} is nested {{}} levels deep or more")
    return value


def _depth(value: Any, most: int) -> int:
    """Return how deep a value is nested, at most ``most``."""
    level, depth = [value], 0
    while depth < most and (level := [each for each in level if isinstance(each, dict | list)]):
        depth += 1
        values = [each.values() if isinstance(each, dict) else each for each in level]
        values = [each for each in values if not _LEAVES.issuperset(map(type, each))]  # faster
        level = [inner for each in values for inner in each]
    return depth


def within_time(call: Callable[[Event], T], message: str) -> T:
    """Return the result of ``call``, or raise when the time of the limit ``download_s`` is over.

    Parameters
    ----------
    call
        Runs in a thread of its own and gets an event, which is set when its time is over.
    message
        The message of the error, without the time.

    Raises
    ------
    LimitError
        If it does not end in time.
    """
    over, result = Event(), Future[T]()

    def run() -> None:
        try:
            result.set_result(call(over))
        except BaseException as error:  # raised again by the calling thread
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    if not wait([result], limit("download_s")).done:
        over.set()
        raise LimitError(
            f"{message} (after {limit('download_s'):,} s, "
            f"{_variable('download_s')} changes the limit)"
        )
    return result.result()
