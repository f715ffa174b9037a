"""Readers of a run folder (`experiments.runs`): rounds and times as data frames, edge visits."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from evroute.arms import Route
from evroute.arrays import IntArray
from evroute.errors import EvrouteError, require
from evroute.experiments.runs import RunFolder
from evroute.report.extras import pd
from evroute.tables import read_columns


def read_rounds(folder: RunFolder) -> "pd.DataFrame":
    """Return the rounds of every finished run, also while others are unfinished.

    Raises
    ------
    EvrouteError
        If no run is finished, or a table cannot be read.
    """
    return _union(folder, "parts")


def read_bandit(folder: RunFolder) -> "pd.DataFrame":
    """Return the rounds of every finished run of ``evroute bandit``. ``place``: of the method.

    Raises
    ------
    EvrouteError
        If no run is finished, or a table cannot be read.
    """
    paths = sorted((folder.path / "parts").glob("[0-9]*-s*.parquet"))
    require(paths, f"no run in {folder.path} is finished. Run the bandit again")
    return pd.concat(
        [_read(path).to_pandas().assign(place=int(path.stem.partition("-")[0])) for path in paths],
        ignore_index=True,
    ).sort_values(["place", "seed", "t"])


def read_timings(folder: RunFolder) -> "pd.DataFrame":
    """Return the times of the rounds of finished runs: run, t, four parts in s, their sum in ms.

    The parts are posterior_s, index_s, search_s and update_s.

    Raises
    ------
    EvrouteError
        If no run is finished, or a table cannot be read.
    """
    timings = _union(folder, "timings")
    return timings.assign(
        ms=1000 * timings[["posterior_s", "index_s", "search_s", "update_s"]].sum(axis=1)
    )


def read_diagnostics(folder: RunFolder) -> "pd.DataFrame":
    """Return the diagnostics of the models: run, t and their numbers, NaN where a model has none.

    Empty if no finished run has any.

    Raises
    ------
    EvrouteError
        If a table cannot be read.
    """
    paths = [folder.path / "diagnostics" / f"{name}.parquet" for name in folder.finished_runs()]
    frames = [_read(path).to_pandas() for path in paths if path.exists()]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"run": [], "t": []})


def read_visits(
    folder: RunFolder, runs: Iterable[str], n_edges: int, *, until: int | None = None
) -> IntArray:
    """Count how often the given runs drove each edge, (n,).

    Parameters
    ----------
    folder
        The run folder.
    runs
        Names of runs.
    n_edges
        Number of edges of the network.
    until
        Last trip that counts, or None for all trips.

    Raises
    ------
    EvrouteError
        If a table cannot be read, or names an edge that the network does not have.
    """
    visits = np.zeros(n_edges, dtype=np.int64)
    for run in runs:
        path = folder.path / "routes" / f"{run}.parquet"
        table = _read(path)
        edges = table["edge"].to_numpy()
        if until is not None:
            edges = edges[table["t"].to_numpy() <= until]
        counts = np.bincount(edges, minlength=n_edges)
        require(
            len(counts) <= n_edges,
            f"{path} drives edges that the network does not have. It belongs to another network",
        )
        visits += counts
    return visits


def read_route(folder: RunFolder, run: str, t: int) -> Route:
    """Return the route that a run drove in one round.

    Parameters
    ----------
    folder
        The run folder.
    run
        Name of the run.
    t
        Number of the round, from 1.

    Raises
    ------
    EvrouteError
        If the table cannot be read, or the run has no such round.
    """
    table = _read(folder.path / "routes" / f"{run}.parquet")
    edges = table["edge"].to_numpy()[table["t"].to_numpy() == t]
    require(len(edges), f"run {run} has no round {t}")
    return Route(tuple(edges.tolist()))


def _union(folder: RunFolder, kind: str) -> "pd.DataFrame":
    names = folder.finished_runs()
    require(names, f"no run in {folder.path} is finished. Simulate again to continue it")
    tables = [_read(folder.path / kind / f"{name}.parquet") for name in names]
    try:
        frame: pd.DataFrame = pa.concat_tables(tables).to_pandas()
    except pa.ArrowException as error:
        raise EvrouteError(
            f"the tables in {folder.path / kind} do not belong together: {error}"
        ) from error
    return frame


def _read(path: Path) -> pa.Table:
    try:
        return read_columns(path)
    except FileNotFoundError:
        raise EvrouteError(f"{path} is missing. Simulate again to mend its run") from None
    except (OSError, pa.ArrowException) as error:
        raise EvrouteError(
            f"{path} is unreadable ({error}). Simulate again to mend its run"
        ) from None
