"""The folder of an experiment, to which runs are added one by one.

An interrupted experiment can be continued: its finished runs are kept.

``manifest.json``
    configuration, versions, networks, vehicle, the definition of regret
``parts/RUN.parquet``
    one row per round; written last, so a run with a readable part is finished
``routes/RUN.parquet``
    one row per edge driven: run, t, edge (network row), observed_wh, travel_s
``failures/RUN.txt``
    the error of a failed run
``beliefs/RUN.npz``
    the model's learned state at the end (``belief``); RUN@VEHICLE.npz for other vehicles
``timings/RUN.parquet``
    seconds per round, which differ between machines
``diagnostics/RUN.parquet``
    run, t and the model's diagnostics after each round, if it has some
``rounds.parquet``, ``timings.parquet``
    the unions, written when every run is finished
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from glob import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evroute.errors import EvrouteError, require
from evroute.experiments.log import Log
from evroute.files import replacing
from evroute.folder import Folder
from evroute.learning.belief import is_whole
from evroute.methods.method import Method
from evroute.methods.setting import DEFAULT_PRIOR, Prior
from evroute.tables import check_size, is_readable, read_columns, write_columns
from evroute.text import slug
from evroute.worlds.demand.in_flight import Flight
from evroute.worlds.world import DEFAULT as DEFAULT_WORLD
from evroute.worlds.world import World

log = logging.getLogger(__name__)

MERGED_AT_ONCE = 500
"""Runs in memory while their tables are united."""


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one trip in one world. See `Experiment` for the fields."""

    network: str
    trip: str
    method: Method
    search: str
    seed: int
    horizon: int
    vehicle: str
    world: World
    prior: Prior = DEFAULT_PRIOR
    in_flight: Flight = 1
    audit: bool = False
    soc: float | None = None
    reserve: float = 0.0

    @property
    def assumed(self) -> Prior:
        """The prior, with the temperature among the contexts if the world has one."""
        return replace(self.prior, temperature=self.world.tells_temperature)

    @property
    def name(self) -> str:
        """The run's readable id: ``monaco-A-exact-ts-potential-rectified-s0``."""
        prior, default = self.prior, DEFAULT_PRIOR
        parts = [
            Path(self.network).stem if self.network.endswith(".npz") else self.network,
            slug(self.trip),
            self.world.label if self.world.label != DEFAULT_WORLD else "",
            self.method.name,
            self.search,
            prior.spread if prior.spread != default.spread else "",
            slug(prior.kernel) if prior.kernel != default.kernel else "",
            f"l{prior.lengthscale:g}" if prior.lengthscale != default.lengthscale else "",
            f"f{self.in_flight}" if self.in_flight != 1 else "",
            f"s{self.seed}",
        ]
        return "-".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class RunFolder(Folder):
    """Reads and writes the folder of an experiment."""

    def write_failure(self, run_name: str, error: str) -> None:
        """Record the error of a failed run."""
        with replacing(self.path / "failures" / f"{run_name}.txt") as temporary:
            temporary.write_text(error.rstrip() + "\n", encoding="utf-8")

    def failures(self) -> dict[str, str]:
        """Return the errors of runs that failed and did not finish since, by name."""
        finished = set(self.finished_runs())
        files = sorted((self.path / "failures").glob("[!.]*.txt"))
        return {
            path.stem: path.read_text(encoding="utf-8").rstrip()
            for path in files
            if path.stem not in finished
        }

    def is_finished(self, run: Run) -> bool:
        """Return whether every file of a run exists and has its digest."""
        others = self.belief_path(run.name).parent.glob(f"{escape(run.name)}@*.npz")
        try:
            n_rounds = read_columns(self._table("parts", run.name)).num_rows
        except (OSError, pa.ArrowException):
            return False
        return (
            int(n_rounds) == run.horizon
            and all(is_readable(self._table(kind, run.name)) for kind in ("routes", "timings"))
            and all(map(is_whole, (self.belief_path(run.name), *others)))
        )

    def left_of(self, runs: Iterable[Run]) -> list[Run]:
        """Return the runs that are not finished. A warning names those with damaged files."""
        left = [run for run in runs if not self.is_finished(run)]
        begun = set(self.finished_runs())
        if damaged := [run.name for run in left if run.name in begun]:
            log.warning(
                "%s has %d runs with damaged files, first %s, simulating them again",
                self.path,
                len(damaged),
                damaged[0],
            )
        return left

    def write(self, run: Run, log: Log) -> None:
        """Write the tables of a run, the part last. Its belief must be there already."""
        n = run.horizon
        labels: dict[str, Any] = {
            "run": [run.name] * n,
            "method": [run.method.label] * n,
            "model": [run.method.model] * n,
            "index": [run.method.index] * n,
            "search": [run.search] * n,
            "network": [run.network] * n,
            "trip": [run.trip] * n,
            "world": [run.world.label] * n,
            "prior": [run.prior.spread] * n,
            "kernel": [run.prior.kernel] * n,
            "lengthscale": [run.prior.lengthscale] * n,
            "seed": [run.seed] * n,
        }
        write_columns(
            self._table("routes", run.name), {"run": [run.name] * len(log.routes["t"])} | log.routes
        )
        write_columns(self._table("timings", run.name), {"run": [run.name] * n} | log.timings)
        if log.diagnostics:
            write_columns(
                self._table("diagnostics", run.name),
                {"run": [run.name] * n, "t": log.rounds["t"]} | log.diagnostics,
            )
        vehicles = [vehicle or run.vehicle for vehicle in log.rounds["vehicle"].tolist()]
        write_columns(self._table("parts", run.name), labels | log.rounds | {"vehicle": vehicles})

    def merge(self, runs: Iterable[Run]) -> None:
        """Write the unions over all finished runs, in the order of the experiment."""
        finished = set(self.finished_runs())
        names = [name for run in runs if (name := run.name) in finished]
        for kind, target in (("parts", "rounds"), ("timings", "timings")):
            tables = (read_columns(self._table(kind, name)) for name in names)
            if (first := next(tables, None)) is None:
                return
            every = chain([first], tables)
            with (
                replacing(self.path / f"{target}.parquet") as temporary,
                pq.ParquetWriter(temporary, first.schema) as writer,
            ):
                while group := list(islice(every, MERGED_AT_ONCE)):
                    writer.write_table(pa.concat_tables(group).combine_chunks())

    def rounds(self) -> pa.Table:
        """Read ``rounds.parquet``.

        Raises
        ------
        EvrouteError
            If the experiment is not finished, or the file is damaged.
        """
        target = self.path / "rounds.parquet"
        require(
            target.is_file(),
            f"{self.path} has no rounds.parquet: the simulation is not finished. Run it again",
        )
        try:
            check_size(target)
            return pq.read_table(target)
        except (OSError, pa.ArrowException):
            raise EvrouteError(f"{target} is damaged. Simulate again to mend it") from None

    def _table(self, kind: str, run_name: str) -> Path:
        return self.path / kind / f"{run_name}.parquet"


BLOCK = ["world", "search", "prior", "lengthscale"]
GROUP = ["network", "trip", *BLOCK, "method"]


@dataclass(frozen=True, slots=True)
class Summary:
    """Final values of the runs of one network, trip, world, search, prior, lengthscale and method.

    Parameters
    ----------
    network, trip, world, search, prior, lengthscale, method
        Values of the group.
    worlds
        Number of its runs, one for each seed.
    regret_wh, regret_se_wh
        Mean final cumulative regret and its standard error, Wh. The error is NaN for one run.
    regret_geometric_wh
        Geometric mean of the final regret, Wh, 0 if any is 0. Less sensitive to heavy tails.
    saved_wh, headroom_wh
        True expected energy of the eq. 8 route minus the energy of the route driven, and of the
        best route, means over all rounds, Wh.
    """

    network: str
    trip: str
    world: str
    search: str
    prior: str
    lengthscale: float
    method: str
    worlds: int
    regret_wh: float
    regret_se_wh: float
    regret_geometric_wh: float
    saved_wh: float
    headroom_wh: float


def summarise(rounds: pa.Table) -> list[Summary]:
    """Summarise ``rounds.parquet`` by group, in the order of the experiment.

    Groups of one world, search, prior and lengthscale stay together.
    """
    sums = [(column, "sum") for column in ("regret_wh", "true_wh", "eq8_wh", "best_wh")]
    by_run = rounds.group_by([*GROUP, "run"], use_threads=False)
    runs = by_run.aggregate([*sums, ("regret_wh", "count")]).to_pylist()
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(tuple(run[name] for name in GROUP), []).append(run)
    blocks: dict[tuple[Any, ...], list[Summary]] = {}
    for of_group in groups.values():
        block = tuple(of_group[0][name] for name in BLOCK)
        blocks.setdefault(block, []).append(_summary(of_group))
    return [each for block in blocks.values() for each in block]


def _summary(runs: list[dict[str, Any]]) -> Summary:
    """Return the summary of the runs of one group, from their sums over the rounds."""
    final_wh = np.array([run["regret_wh_sum"] for run in runs])
    spread = len(runs) > 1
    with np.errstate(divide="ignore"):
        geometric_wh = float(np.exp(np.log(final_wh).mean()))
    n_rounds = sum(run["regret_wh_count"] for run in runs)
    true_wh, eq8_wh, best_wh = (
        sum(run[f"{column}_sum"] for run in runs) for column in ("true_wh", "eq8_wh", "best_wh")
    )
    return Summary(
        **{name: runs[0][name] for name in GROUP},
        worlds=len(runs),
        regret_wh=float(final_wh.mean()),
        regret_se_wh=float(final_wh.std(ddof=1)) / len(runs) ** 0.5 if spread else np.nan,
        regret_geometric_wh=geometric_wh,
        saved_wh=(eq8_wh - true_wh) / n_rounds,
        headroom_wh=(eq8_wh - best_wh) / n_rounds,
    )
