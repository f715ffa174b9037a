"""Networks by name: the user's cache, then the data folder, then those shipped with evroute.

1. ``cache_dir()/networks/NAME.npz``: written by ``evroute network build``.
2. ``EVROUTE_DATA_DIR``: the sources listed in ``data/networks.toml``, built on first use into
   ``cache_dir()/built`` under a fingerprint of their bytes. A changed source is built again.
3. ``data/NAME/network.npz``, embedded.
"""

import hashlib
import logging
import os
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from evroute import __version__
from evroute.errors import EvrouteError, NetworkFormatError, UnknownNameError, require
from evroute.files import inside, private_folder
from evroute.given import copy_of
from evroute.network import crossings, store
from evroute.network.contraction import order_tables
from evroute.network.heights import elevation, height_checks, profile
from evroute.network.places import names
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net
from evroute.network.sources.fetch import published
from evroute.network.texts import check_name
from evroute.resources import data_path

log = logging.getLogger(__name__)
TABLES = "stops, order"
"""The places and the order of a built network: changed with their rule, so that it is built again.
"""


def load_network(name: str | Path) -> RoadNetwork:
    """Load a network by name, or from a stored ``.npz`` file.

    Raises
    ------
    UnknownNameError
        If no network has that name. The message lists the available names.
    NetworkFormatError
        If its source or its stored form cannot be read.
    EvrouteError
        If it has to be built and the cache cannot be written.
    """
    if (copy := copy_of(name)) is not None:
        return _load(copy)
    if isinstance(name, Path) or name.endswith(".npz"):
        return _load(Path(name))
    check_name(name)
    if (kept := _kept_path(name)).is_file():
        try:
            return _load(kept)
        except NetworkFormatError as error:
            raise NetworkFormatError(
                f"{error}: evroute network build {name} --osm FILE (its --help lists other sources)"
            ) from None
    if recipe := _recipes_at_hand().get(name):
        return recipe.load()
    if (embedded := data_path(name, "network.npz")).is_file():
        return _load(embedded)
    advice = (
        f"Download it with 'evroute network fetch {name}', or set EVROUTE_DATA_DIR to the folder "
        "of its source"
        if name in published()
        else f"Build it with 'evroute network build {name} --osm FILE'. Its --help lists other "
        "sources"
    )
    raise UnknownNameError(
        f"there is no network '{name}'. There are: {', '.join(network_names())}. {advice}"
    )


def stored_path(name: str) -> Path:
    """Return the stored file of a network, which is built if needed.

    Raises
    ------
    EvrouteError
        As `load_network`.
    """
    load_network(name)
    if name.endswith(".npz"):
        return Path(name)
    kept, recipe = _kept_path(name), _recipes_at_hand().get(name)
    if kept.is_file():
        return kept
    return recipe.path if recipe else data_path(name, "network.npz")


def network_version(name: str) -> tuple[object, ...]:
    """Return paths, dates and sizes of the files of a network. They differ after a rebuild."""
    recipe, kept = _recipes_at_hand().get(name), _kept_path(name)
    sources = [recipe.net, *recipe.rasters, *recipe.names] if recipe else []
    files = [kept] if kept.is_file() else sources or [data_path(name, "network.npz")]
    found = [path.stat() for path in files if path.exists()]
    return (*files, *((one.st_mtime_ns, one.st_size, one.st_ino) for one in found))


def first_network(*names: str) -> RoadNetwork:
    """Load the first of several networks that is available.

    Raises
    ------
    UnknownNameError
        If none is available. The message lists the available names.
    """
    there = network_names()
    return load_network(next((name for name in names if name in there), names[0]))


def network_names() -> dict[str, str]:
    """Return every name that `load_network` accepts, sorted, with the place of its network."""
    found = {path.parent.name: "embedded" for path in data_path().glob("*/network.npz")}
    found |= {
        name: f"data folder ({recipe.net.name})" for name, recipe in _recipes_at_hand().items()
    }
    found |= {path.stem: f"built ({path})" for path in _kept_path("any").parent.glob("[!.]*.npz")}
    return dict(sorted(found.items()))


def source_path(name: str) -> Path | None:
    """Return the SUMO file that a named network is built from, None if it has none."""
    recipe = _recipes_at_hand().get(name)
    return recipe.net if recipe else None


def cache_dir() -> Path:
    """Return the folder of built networks and other derived files. Make it if missing.

    It is the folder in EVROUTE_CACHE_DIR or the user's cache, and no other user can write it.

    Raises
    ------
    EvrouteError
        If other users can write it, or it cannot be made.
    """
    path = _chosen_cache()
    try:
        return private_folder(path)
    except EvrouteError as error:
        raise EvrouteError(f"{error}, or set EVROUTE_CACHE_DIR to another folder") from None
    except OSError as error:
        raise _unwritable(path, error) from error


def build(
    network: RoadNetwork,
    *,
    rasters: Sequence[Path] = (),
    smoothing_m: float = elevation.DEFAULT_SMOOTHING_M,
    attribution: str = "",
    checked: bool = True,
) -> RoadNetwork:
    """Prepare a network from a reader for planning: component, heights, lengths, profile, names.

    The component is taken first, so that heights are read, and reported missing, only on roads that
    can be driven.

    Parameters
    ----------
    network
        As a reader returns it.
    rasters
        Elevation files, or empty to keep the heights of the network.
    smoothing_m
        Strength of `elevation.smooth` and of the smoothing inside edges, m.
    attribution
        Credit line of the source, or empty to keep the network's.
    checked
        Whether heights that cannot be true are refused (`height_checks`).

    Raises
    ------
    EvrouteError
        If heights are missing or, where ``checked``, cannot be true.
    """
    read, network = network, network.strongest_component()
    left, all_edges = network.n_edges, read.n_edges
    kept = f"kept the largest strongly connected component: {left} of {all_edges} edges"
    notes: tuple[str, ...] = (kept,) if left < all_edges else ()
    network = network.changed(
        source=replace(network.source, attribution=attribution or network.source.attribution)
    )
    elevation_m, described = network.elevation_m, network.source.elevation
    if rasters:
        elevation_m, described, missing = elevation.sample(network, rasters, checked=checked)
        notes += missing
    if checked:
        height_checks.check_heights(network, elevation_m)
    network = elevation.set_heights(
        network,
        elevation_m,
        smoothing_m=smoothing_m,
        described=described,
        notes=notes,
        straight=crossings.NAME not in read.tables,
    )
    tables, inside = profile.sampled(network, read, rasters, smoothing_m=smoothing_m)
    source = replace(network.source, notes=network.source.notes + inside)
    network = names.add_tables(network.changed(source=source), read)
    return network.with_tables(tables | order_tables(network))


def read_any(path: Path, name: str, rasters: Sequence[Path] = ()) -> RoadNetwork:
    """Read roads with the reader for the ending of the file. Build those not stored by evroute.

    Endings: .npz; .net.xml, .net.xml.gz; .graphml; .osm, .osm.gz, .osm.bz2, .osm.pbf.

    Parameters
    ----------
    path, name
        The file, and a name for its network.
    rasters
        As in `build`. A stored network has its heights and takes none.

    Raises
    ------
    EvrouteError
        If the ending is none of these, or the file or a raster cannot be read.
    """
    from evroute.network.sources import graphml, osm

    check_name(name)
    if path.name.endswith(".npz"):
        require(not rasters, "a stored network has its heights. Give its source with rasters")
        return _load(path)
    readers = {
        (".net.xml", ".net.xml.gz"): sumo_net.read,
        (".graphml",): graphml.read,
        (".osm", ".osm.gz", ".osm.bz2", ".osm.pbf"): osm.read,
    }
    for endings, read in readers.items():
        if path.name.endswith(endings):
            return build(read(path, name), rasters=rasters)
    raise EvrouteError(
        f"{path.name} has no ending of a road file: give .osm, .osm.pbf, .net.xml, .graphml or .npz"
    )


def built_with(name: str, lengths: str) -> RoadNetwork:
    """Return a network of the data folder with other lengths, built if needed. It is not kept.

    Parameters
    ----------
    name
        Name of a network of the data folder.
    lengths
        One of `sumo_net.LENGTHS`.

    Raises
    ------
    UnknownNameError
        If the data folder has no such network, or there are no such lengths.
    """
    found = _recipes_at_hand()
    require(
        name in found,
        f"the data folder has no network '{name}'. There are: {', '.join(found) or 'none'}. Set "
        "EVROUTE_DATA_DIR, or name a source of roads such as --sumo FILE",
        UnknownNameError,
    )
    return replace(found[name], lengths=lengths).load()


def keep(network: RoadNetwork) -> Path:
    """Store a network in the user's cache under its name and return the path.

    Raises
    ------
    EvrouteError
        If the name cannot be a file name, or the cache cannot be written. An older file stays.
    """
    check_name(network.name)
    path = inside(cache_dir(), "networks", f"{network.name}.npz")
    _save(network, path)
    return path


@dataclass(frozen=True, slots=True)
class _Recipe:
    """The source files and options of a named network of the data folder.

    names: OpenStreetMap files of street names that are there, or none without pyosmium.
    """

    name: str
    net: Path
    rasters: tuple[Path, ...]
    names: tuple[Path, ...]
    smoothing_m: float
    attribution: str
    lengths: str

    @property
    def path(self) -> Path:
        """File of the built network."""
        return inside(cache_dir() / "built", f"{self.name}-{self._fingerprint()}.npz")

    def load(self) -> RoadNetwork:
        path = self.path
        try:
            if path.is_file():
                return _load(path)
        except NetworkFormatError as error:
            log.warning("%s", error)
        from evroute.network.places import street_names
        from evroute.network.sources import osm

        network = build(
            sumo_net.read(self.net, self.name, self.lengths),
            rasters=self.rasters,
            smoothing_m=self.smoothing_m,
            attribution=self.attribution,
        )
        for source in self.names:
            network = street_names.add_names(network, osm.read(source, self.name))
        _save(network, path)
        return network

    def _fingerprint(self) -> str:
        total = hashlib.sha256(
            f"{__version__} {store.FORMAT} profile {TABLES} {self.smoothing_m} "
            f"{self.lengths} {self.attribution}".encode()
        )
        for path in (self.net, *self.rasters, *self.names):
            with path.open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
        return total.hexdigest()[:16]


def _recipes_at_hand() -> dict[str, _Recipe]:
    """Return the networks whose source files are in the data folder, by name."""
    folder = os.environ.get("EVROUTE_DATA_DIR")
    if not folder:
        return {}
    listed = tomllib.loads(data_path("networks.toml").read_text(encoding="utf-8"))
    recipes = {
        name: _Recipe(
            name=name,
            net=Path(folder, entry["sumo"]),
            rasters=tuple(Path(folder, raster) for raster in entry["elevation"]),
            names=tuple(path for each in entry["names"] if (path := Path(folder, each)).is_file())
            if find_spec("osmium")
            else (),
            smoothing_m=entry["smoothing_m"],
            attribution=entry["attribution"],
            lengths=entry["lengths"],
        )
        for name, entry in listed.items()
    }
    return {name: recipe for name, recipe in recipes.items() if recipe.net.is_file()}


def _chosen_cache() -> Path:
    chosen = os.environ.get("EVROUTE_CACHE_DIR")
    return Path(chosen) if chosen else platformdirs.user_cache_path("evroute")


def _kept_path(name: str) -> Path:
    cache = _chosen_cache()
    return inside(cache_dir() if cache.exists() else cache, "networks", f"{name}.npz")


def _load(path: Path) -> RoadNetwork:
    """Load a stored network. What this user has checked before is not checked again."""
    checked = None
    with suppress(EvrouteError):  # other users can write the cache: nothing there is believed
        checked = cache_dir() / "checked" if _chosen_cache().exists() else None
    return store.load(path, checked)


def _save(network: RoadNetwork, path: Path) -> None:
    try:
        store.save(network, path)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> EvrouteError:
    return EvrouteError(
        f"cannot write {path}: {error.strerror or error}. "
        "Set EVROUTE_CACHE_DIR to a folder with room to write"
    )
