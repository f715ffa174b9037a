"""Hostile archives of arrays: stored networks and beliefs."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from case import MB, Command, kind, large, nested, one
from numpy.random import Generator

from evroute.checked import write_arrays
from evroute.energy.vehicle import load_vehicle, numbers_of
from evroute.network.catalog import load_network
from evroute.resources import data_path

PLACES = ("--from", "39.7400,-104.9848", "--to", "39.7624,-104.9733")


def _columns(rng: Generator) -> dict[str, Any]:
    with np.load(data_path("denver", "network.npz")) as stored:
        return {name: stored[name] for name in stored.files}


def _npy(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    """Return the bytes of an array file that announces a shape and holds nothing."""
    head = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


DOCUMENTS: list[Mapping[str, Any]] = [
    {"name": 5},
    {"name": ["x"]},
    {"name": None},
    {"name": "../../x"},
    {"name": "x" * 10_000},
    {"name": "a\nb"},
    {"crs": "EPSG:99999999"},
    {"crs": 5},
    {"crs": None},
    {"crs": []},
    {"crs": "EPSG:4326"},
    {"crs": "+proj=" + "x" * 100_000},
    {"crs": "{" * 50_000},
    {"crs": "PROJCRS[" * 50_000},
    {"edge_id": list(range(1330))},
    {"edge_id": "x" * 1330},
    {"edge_id": [["x"]] * 1330},
    {"street": [None] * 1330},
    {"street": ["x" * 20_000] * 1330},
    {"road_class": [{}] * 1330},
    {"junction_id": []},
    {"source": {}},
    {"source": {"kind": 5}},
    {"source": {"kind": "x", "notes": [1, None]}},
    {"source": {"kind": "x", "smoothing_m": "x"}},
    {"source": {"kind": "x", "attribution": []}},
    {"source": []},
    {"format": "2"},
    {"format": 99},
]


@kind
def network(folder: Path, rng: Generator) -> Command:
    """Stored networks with documents of other kinds, and columns of other shapes and values."""
    columns, path = _columns(rng), folder / "x.npz"
    if rng.random() < 0.6:
        document = json.loads(columns["document"].tobytes()) | one(rng, DOCUMENTS)
        columns["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    else:
        name = one(rng, [name for name in columns if name != "document"])
        column = columns[name]
        columns[name] = one(
            rng,
            [
                column[:-1],
                column.astype(float) * 1e300,
                np.full(column.shape, np.nan),
                -column.astype(np.int64),
                column.astype("U20"),
                column.reshape(-1, 1),
                np.full(column.shape, 2**62),
            ],
        )
    np.savez_compressed(path, **columns)
    return _with_network(path, rng)


def _with_network(path: Path, rng: Generator) -> Command:
    name = str(path)
    return Command(
        one(
            rng,
            [
                ["network", "info", name],
                ["network", "info", name, "--json"],
                ["network", "export", name, "--to", f"{name}.geojson"],
                ["route", "--network", name, *PLACES],
                ["route", "--network", name, "--trip", "A"],
            ],
        )
    )


@kind
def npz_bomb(folder: Path, rng: Generator) -> Command:
    """Archives that are small on disk and large in memory, or say so."""
    path, columns = folder / "x.npz", _columns(rng)
    size = large(rng, 50, 2_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        name = one(rng, [*columns, "other"])
        for other in columns:
            if other != name:
                with archive.open(f"{other}.npy", "w") as handle:
                    np.lib.format.write_array(handle, columns[other])
        if rng.random() < 0.3:
            shape = one(rng, [(10**12,), (10**6, 10**6), (2**63,), (-1,), (10**9,), (0,)])
            archive.writestr(
                f"{name}.npy", _npy(shape, one(rng, ["<f8", "|i1", "<U10000000", "|b1"]))
            )
        elif name == "document":
            chunk = one(rng, [b"[", b"[],", b'"",', b" ", b'{"a":'])
            with archive.open("document.npy", "w", force_zip64=True) as handle:
                handle.write(_npy((size // 10,), "|u1"))
                handle.write(chunk * (size // 10 // len(chunk)))
        else:
            kind_of = one(rng, ["|i1", "<i8", "<f8", "|b1"])
            items = size // np.dtype(kind_of).itemsize
            shape = one(rng, [(items,), (items // 2, 2)])
            with archive.open(f"{name}.npy", "w", force_zip64=True) as handle:
                handle.write(_npy(shape, kind_of))
                for _ in range(size // MB):
                    handle.write(bytes(MB))
    return _with_network(path, rng)


WRONG: list[Any] = [None, 5, -1, 1e308, "x", "", [], {}, [{}], {"model": []}, {"name": 5}, True]


def _described(rng: Generator) -> dict[str, Any]:
    """Return the description of a belief about Denver, with a value of another type or kind."""
    about: dict[str, Any] = {
        "method": {"model": "exact", "index": "ts"},
        "prior": "paper",
        "kernel": "matern-5/2",
        "lengthscale": 1.0,
        "temperature": False,
        "network": "denver",
        "digest": load_network("denver").digest,
        "vehicle": numbers_of(load_vehicle("reference")),
        "trips": 3,
    }
    changed = one(rng, [about, about["vehicle"], about["method"]])
    changed[one(rng, [*changed, "other"])] = one(rng, WRONG)
    return about


@kind
def belief(folder: Path, rng: Generator) -> Command:
    """Beliefs with a wrong description, without a state, or of a gigabyte."""
    beliefs = folder / "run" / "beliefs"
    beliefs.mkdir(parents=True)
    (folder / "run" / "manifest.json").write_text("{}")
    path = beliefs / "x-learned.npz"
    if rng.random() < 0.7:
        texts = [nested(rng), "{}", "[]", "5", '{"method": 5}', "9" * 10_000]
        about = json.dumps(_described(rng)) if rng.random() < 0.6 else one(rng, texts)
        arrays = {"about": np.array(about), "mean": np.full(3, np.nan)}
        write_arrays(path, arrays)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mean.npy", _npy((60_000_000,)) + bytes(480 * MB))
            archive.writestr("about.npy", _npy((), "<U2"))
    return Command(["route", "--network", "denver", "--trip", "A", "--belief", str(folder / "run")])
