"""Learning from measured trips: a belief, and the expected energy of each trip before it.

The folder is one that ``evroute route --belief`` plans with. Its only run is called
``NETWORK-learned``::

    manifest.json       the settings of the belief
    measured/0001.parquet ...  the trips as measured, one file for each call: `records.parts`
    trips.parquet       one row per trip, in the order learned: `Learned.trips`
    routes/RUN.parquet  one row per edge driven: run, t, edge (network row), observed_wh, travel_s
    beliefs/RUN.npz     the belief, and the number of these trips in it. Written last

Everything but the manifest follows from the measured trips. Trips are learned in memory, then
recorded, and then the belief is written. A call learns the recorded trips that the belief lacks,
after any interruption of earlier calls. A damaged folder is mended by `records.repair`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evroute.energy.vehicle import Vehicle
from evroute.folder import Folder
from evroute.learning.fleet.cars_table import CarTypes, read_cars
from evroute.learning.fleet.type_folders import is_fleet, several_types
from evroute.learning.learn_types import Fleet, learn_types
from evroute.learning.learned import Learned as Learned
from evroute.learning.learned import with_reasons
from evroute.learning.many_files import Wanted, learn_files
from evroute.learning.measured import Measured
from evroute.learning.one_call import Opened
from evroute.learning.readers.files import Given, files_of
from evroute.learning.records.files_read import FilesRead
from evroute.learning.records.manifest import DEFAULT_MODEL as DEFAULT_MODEL
from evroute.learning.records.manifest import Choice, start_of, stored_manifest, vehicle_names
from evroute.network.road_network import RoadNetwork


def learn(  # noqa: PLR0913 - each is a keyword with a default
    table: Given | None,
    out: str | Path,
    *,
    network: RoadNetwork | str | None = None,
    vehicle: Vehicle | str | None = None,
    model: str | None = None,
    options: dict[str, Any] | None = None,
    prior: str | None = None,
    kernel: str | None = None,
    terrain: str | None = None,
    reader: str | None = None,
    reset: bool = False,
    cars: str | Path | CarTypes | None = None,
    column: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:
    """Learn the trips of a table, on top of what the folder ``out`` has learned already.

    Parameters
    ----------
    table
        CSV or Parquet, by edges (`readers.edges.COLUMNS`) or by GPS points
        (`readers.points.COLUMNS`), or GPX. Also a folder, a pattern, a zip archive, or several of
        these: their files are learned in order of time, copies once, and a file that cannot be read
        is set aside. None learns the recorded trips alone, those that the belief lacks.
    out
        The folder: new, empty, or made with the same vehicle and model. A model of edges stays on
        its network. A belief of trips goes on with its car.
    network
        A network, or its name or file, or None for the folder's, and
        `manifest.DEFAULT_NETWORK` for a new one.
    vehicle
        A vehicle, or its name or file, or None for the folder's, and
        `defaults.VEHICLE` for a new one. With other numbers of the same vehicle all recorded trips
        are learned again by these.
    prior, kernel
        Spread of the prior deviations, and kernel between contexts, of a model of edges. None for
        the folder's own, and ``"paper"`` and ``"matern-5/2"`` for a new one.
    model, options
        ``"trips"``, the belief of whole trips, with the options ``physics`` (the physics of
        drivers' plans in a new folder) and ``roads`` (how deviations of single roads are learned:
        ``"sections"``, ``"kernel"`` or ``"none"``), or one of `parts.MODELS` with its options,
        ``arms="turns"`` and ``learn_speeds=True`` among them. None for the folder's own, and
        ``"trips"`` for a new one.
    terrain
        One slope per edge (``"edge"``), or the ``"profile"`` of the network. None for the folder's
        own, and for a new one the profile where the network has one.
    reader
        Name of the reader of the table, or None for the one that its suffix or its columns choose.
        ``"totals"`` learns totals of trips by their speeds, of logs without positions.
    reset
        Start afresh. The trips measured before are moved to ``reset-DATE`` in the folder.
    cars
        Table with the columns car and vehicle, the type of each car of a fleet. In ``out`` each
        type then has a folder of its own, by the name of its vehicle. With ``vehicle``, or where
        ``out`` is a folder of one type, trips of cars of other types are set aside. None if all are
        of one type, or the fleet in ``out`` knows the types.
    column
        Headers of the table by the column here, such as ``{"lat": "gps_lat"}``. The folder keeps
        them for later tables.
    on_progress
        Called with the number of trips learned and of trips to learn.

    Raises
    ------
    EvrouteError
        If the table cannot be read or no trip of it can be used, the folder belongs to something
        else, or another process writes it for longer than `WAIT_S`. The folder then is as
        it was.
    """
    folder = Folder(Path(out))
    types = read_cars(Path(cars)) if isinstance(cars, str | Path) else cars
    one_type = vehicle is not None or folder.has_manifest
    if is_fleet(folder.path) or (types is not None and not one_type):
        one = partial(
            learn,
            table,
            network=network,
            model=model,
            options=options,
            prior=prior,
            kernel=kernel,
            terrain=terrain,
            reader=reader,
            reset=reset,
            column=column,
            on_progress=on_progress,
        )
        fleet = Fleet(folder.path, types, vehicle, reader, column or {})
        return with_reasons(learn_types(fleet, table, one))
    reset = reset and folder.has_manifest
    stored = stored_manifest(folder) if folder.has_manifest else {}
    if stored.get("types"):
        raise several_types(folder.path)
    made = {} if reset else stored
    start = start_of(made, network, vehicle, Choice(model, options, prior, kernel, terrain))
    names = vehicle_names(start.setting, vehicle)
    wanted = Wanted(start.before_trips(), names, reader, types)
    opened = Opened(folder, start, made, reset, on_progress)
    return with_reasons(_learned(table, opened, wanted, column or {}))


def _learned(
    table: Given | None, opened: Opened, wanted: Wanted, column: Mapping[str, str]
) -> Learned:
    """Learn the trips of a table, of many files, or without a table those recorded."""
    if table is None:
        return opened.learn(Measured())
    folder = opened.folder
    before = FilesRead(folder.path)
    before.columns = before.with_columns(column)
    with files_of(table) as (paths, many):
        if many:
            return learn_files(opened, wanted, paths, before, column)
        measured = wanted.read(paths[0], before.columns, column)
    learned = opened.learn(measured)
    if column:
        before.write()
    return learned
