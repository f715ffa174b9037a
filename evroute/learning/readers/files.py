"""The files of a call: folders, patterns and zip archives as single files, in order of time."""

import csv
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from evroute import limits
from evroute.errors import EvrouteError, require
from evroute.learning.readers.clocks import since_1970
from evroute.learning.readers.formats import suffixes
from evroute.learning.readers.headers import recognised
from evroute.learning.readers.raw import csv_files
from evroute.network.road_network import RoadNetwork
from evroute.text import slug

ZIP = ".zip"
PACKED = (".gz", ".bz2")
_TIME = re.compile(rb"<time>\s*([^<]+?)\s*</time>")
_MAGIC = re.compile(r"[*?\[]")
_HEAD_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
Given = str | Path | Sequence[str | Path]


@contextmanager
def files_of(given: Given) -> Iterator[tuple[list[Path], bool]]:
    """Yield the files that a user names, and whether they are many: more than a name of one file.

    Parameters
    ----------
    given
        Files, folders, patterns such as ``logs/*.csv``, and zip archives, whose files are unpacked
        until the end of the context.

    Raises
    ------
    EvrouteError
        If a folder, a pattern or an archive has no file of a known suffix, or an archive cannot be
        read.
    LimitError
        If an archive unpacks to too many bytes.
    """
    named = [given] if isinstance(given, str | Path) else list(given)
    require(named, "no file of trips is named. Give a file, a folder or a zip archive")
    with TemporaryDirectory() as unpacked:
        paths = list[Path]()
        for number, each in enumerate(named):
            paths += _expanded(Path(each), Path(unpacked) / str(number))
        is_one = len(named) == 1 and paths == [Path(named[0])]
        yield list(dict.fromkeys(paths)), not is_one


def _expanded(path: Path, into: Path) -> list[Path]:
    """Return the files of a folder, a pattern or an archive, or else the path itself."""
    if path.is_dir():
        found = _logs(each for each in path.rglob("*") if each.is_file())
        require(found, f"folder {path} has no file that ends in {', '.join(suffixes())}")
        return found
    if not path.exists() and _MAGIC.search(str(path)):
        root = Path(path.anchor)
        found = sorted(root.glob(str(path.relative_to(root))))
        require(found, f"no file fits {path}")
        return [file for each in found for file in _expanded(each, into / slug(each.name))]
    if path.suffix.lower() == ZIP and path.is_file():
        return _unzipped(path, into)
    return [path]


def _logs(paths: Iterator[Path]) -> list[Path]:
    """Return the files of known suffixes, without hidden ones and the tables beside GPX files."""
    known = tuple(suffixes())
    found = [
        path
        for path in paths
        if not path.name.startswith(".") and _suffix(path) in known and "__MACOSX" not in path.parts
    ]
    tracks = {path.with_suffix("") for path in found if path.suffix.lower() == ".gpx"}
    return sorted(
        path
        for path in found
        if path.suffix.lower() == ".gpx" or path.with_suffix("") not in tracks
    )


def _suffix(path: Path) -> str:
    ending = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if ending in PACKED else ending


def _unzipped(path: Path, into: Path) -> list[Path]:
    """Return the files of an archive, unpacked into a folder within the limits of archives."""
    packed, length = path.stat().st_size, 0
    try:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if not each.is_dir()]
            limits.check_unpacked(path, packed, sum(each.file_size for each in members))
            for member in members:
                parts = [slug(part) for part in PurePosixPath(member.filename).parts]
                target = into.joinpath(*(part for part in parts if part.strip("._")))
                if not target.is_relative_to(into) or target == into:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("wb") as file:
                    while chunk := source.read(_CHUNK_BYTES):
                        length += len(chunk)
                        limits.check_unpacked(path, packed, length)
                        file.write(chunk)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise EvrouteError(f"archive {path} cannot be read: {error}") from None
    found = _logs(each for each in into.rglob("*") if each.is_file()) if into.exists() else []
    require(found, f"archive {path} has no file that ends in {', '.join(suffixes())}")
    return found


def first_time_s(path: Path, network: RoadNetwork) -> float:
    """Return the time of the first row of a file, s since 1970, or infinity where it has none.

    It orders files. A date that may be read in two ways is read with the month first.
    """
    with suppress(EvrouteError, *csv_files.DAMAGED, ValueError, LookupError, OverflowError):
        text = _first_time(path)
        if text:
            (time_s,) = since_1970(path, [text], network).tolist()
            return float(time_s)
    return float("inf")


def _first_time(path: Path) -> str:
    """Return the time in the first row of a file as written, or empty."""
    if path.suffix.lower() == ".gpx":
        with path.open("rb") as file:
            found = _TIME.search(file.read(_HEAD_BYTES))
        return found[1].decode() if found else ""
    if path.suffix == ".parquet":
        rows = next(pq.ParquetFile(path).iter_batches(batch_size=1)).to_pylist()
        headers = list(rows[0]) if rows else []
        row = [str(rows[0][name]) for name in headers] if rows else []
    else:
        with limits.unpacked(path) as stream:
            text = csv_files.decoded(stream, csv_files.encoding_of(path))
            lines = limits.lines(text, f"trip table {path}")
            table = csv.reader(lines, delimiter=csv_files.separator_of(path))
            headers, row = csv_files.stripped(next(table, [])), next(table, [])
    columns = recognised(headers, ("time", "departed", "date"))
    texts = {
        name: row[headers.index(column.header)]
        for name, column in columns.items()
        if headers.index(column.header) < len(row)
    }
    time = texts.get("time") or texts.get("departed") or ""
    return f"{texts['date']} {time}" if texts.get("date") and ":" in time else time
