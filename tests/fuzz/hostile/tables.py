"""Hostile tables: CSV and Parquet of trips, requests and demand."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from case import MB, Command, kind, one
from numpy.random import Generator

HEADS = (
    "trip,edge,energy_wh",
    "trip,time,lat,lon,energy_wh",
    "origin,destination,count",
    "from,to",
)


def with_trips(folder: Path, path: Path) -> Command:
    """Return the command that simulates the trips of a file."""
    place = ["simulate", "--network", "denver", "--trip", str(path), "--out", str(folder / "out")]
    return Command([*place, "--model", "independent", "--horizon", "2", "--seeds", "1", "--quiet"])


def _reading(folder: Path, path: Path, rng: Generator) -> Command:
    learn = Command(["learn", str(path), "--network", "denver", "--out", str(folder / "out")])
    batch = Command(["route", "--network", "denver", "--batch", str(path)])
    return one(rng, [learn, batch, with_trips(folder, path)])


@kind
def csv(folder: Path, rng: Generator) -> Command:
    """Tables that are wide, long, or hold values that no column expects."""
    path = folder / one(rng, ["x.csv", "x.csv", "x.csv.gz"])
    head, many = one(rng, HEADS), int(rng.integers(1_001, 1_000_000))
    value = one(
        rng,
        ["nan", "inf", "1e308", "-1", "", '"', "\0", "\udcff", "x" * 200_000, "9" * 400, "=1+1"],
    )
    width = head.count(",") + 1
    texts = [
        lambda: ",".join(f"c{k}" for k in range(many)) + "\n" + "1," * (many - 1) + "1\n",
        lambda: head + "\n" + ",".join([value] * width) + "\n",
        lambda: head + "\n" + ("a," * (width - 1) + value + "\n") * (many // 20),
        lambda: head + "\n" + ",".join(["39.74,-104.98"] * width) + "\n",
        lambda: head + "\n" + "a," * many + "\n",
        lambda: head + "\n" + ",".join(["x" * 2 * MB] * width) + "\n",
        lambda: head + "\nA,B," + "1e12\n",
        lambda: "a" * 50 * MB,
        lambda: head + "\n" + '"' + "a\n" * many,
        lambda: "",
        lambda: head + "\n",
        lambda: ",".join([head.split(",")[0]] * 3) + "\n1,2,3\n",
        lambda: "\n" * many,
    ]
    content = one(rng, texts)().encode("utf-8", "surrogateescape")
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return _reading(folder, path, rng)


@kind
def csv_bomb(folder: Path, rng: Generator) -> Command:
    path = folder / "x.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as handle:
        handle.write(one(rng, HEADS).encode() + b"\n")
        for _ in range(int(rng.integers(50, 400))):
            handle.write(b"a,b,1\n" * (MB // 6))
    return _reading(folder, path, rng)


@kind
def parquet(folder: Path, rng: Generator) -> Command:
    """Tables that are small on disk and large in memory, and columns of other kinds."""
    path, rows = folder / "x.parquet", int(rng.integers(10, 20)) * MB
    names = one(rng, HEADS).split(",")
    same = pa.array(np.zeros(rows))
    text = pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["a" * 100])
    long = pa.DictionaryArray.from_arrays(np.zeros(10_000, dtype=np.int32), ["a" * MB])
    tables = [
        lambda: pa.table(dict.fromkeys(names, same)),
        lambda: pa.table(dict.fromkeys(names, text)),
        lambda: pa.table(dict.fromkeys(names, long)),
        lambda: pa.table({f"c{k}": [1] for k in range(20_000)}),
        lambda: pa.table(dict.fromkeys(names, pa.array([[1, 2]]))),
        lambda: pa.table(dict.fromkeys(names, pa.array([{"a": 1}]))),
        lambda: pa.table(dict.fromkeys(names, pa.array([b"\xff\xfe"]))),
        lambda: pa.table(dict.fromkeys(names, pa.nulls(3))),
        lambda: pa.table(dict.fromkeys(names, pa.array([1, 2], pa.timestamp("us")))),
        lambda: pa.table(dict.fromkeys(names, pa.array([np.nan, 1e308]))),
        lambda: pa.table([pa.array([1])] * 2, names=["trip", "trip"]),
        lambda: pa.table({}),
    ]
    pq.write_table(one(rng, tables)(), path, compression=one(rng, ["zstd", "gzip", "snappy"]))
    if rng.random() < 0.2:
        content = path.read_bytes()
        path.write_bytes(content[: int(rng.integers(len(content)))])
    return _reading(folder, path, rng)
