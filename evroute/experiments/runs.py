"""The folder of an experiment: one run after the other lands in it whole, so that it can be continued at any time.

``manifest.json``        configuration, versions, networks, vehicle, the definition of regret
``parts/RUN.parquet``    one row per round; written last of a run's files: a run with a readable part is finished
``routes/RUN.parquet``   one row per edge driven: run, t, edge (network row), observed_wh, travel_s
``failures/RUN.txt``     why a run failed
``fits/RUN.json``        fitted hyper-parameters, their starts and likelihoods, of methods that fit them
``beliefs/RUN.npz``      what the model had learned at the end (``belief``); RUN@VEHICLE.npz of other vehicles' own
``timings/RUN.parquet``  seconds per round, which no two machines share
``diagnostics/RUN.parquet``  run, t and what the model said of itself after each round, of models
that do ``estimate.json``        seconds and bytes foretold by ``--dry-run`` and taken, where there
was one ``rounds.parquet``, ``timings.parquet``: the unions, written when every run is finished
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from evroute.energy.prior import DEFAULT_SPREAD
from evroute.errors import EvrouteError
from evroute.experiments.log import Log
from evroute.files import replacing
from evroute.folder import Folder
from evroute.methods.method import Method
from evroute.model.build import DEFAULT_LENGTHSCALE
from evroute.model.hyperparameters import Fit
from evroute.tables import check_size, read_columns, write_columns
from evroute.worlds.demand.in_flight import Flight
from evroute.worlds.world import DEFAULT as DEFAULT_WORLD
from evroute.worlds.world import World

MERGED_AT_ONCE = 500
"""Runs in memory while their tables are united."""


@dataclass(frozen=True, slots=True)
class Run:
    """One method on one trip in one world."""

    network: str
    trip: str
    method: Method
    search: str
    seed: int
    horizon: int
    vehicle: str
    world: World
    prior: str = DEFAULT_SPREAD
    lengthscale: float = DEFAULT_LENGTHSCALE
    in_flight: Flight = 1
    audit: bool = False
    share_belief: bool = False
    soc: float | None = None
    reserve: float = 0.0

    @property
    def name(self) -> str:
        """The run's readable id: ``monaco-A-exact-ts-potential-rectified-s0``."""
        network = Path(self.network).stem if self.network.endswith(".npz") else self.network
        trip = re.sub(r"[^\w.-]+", "_", self.trip)
        if trip != self.trip:  # written out, not named: keep trips apart that differ in signs alone
            trip += f"-{crc32(self.trip.encode()):08x}"
        parts = [network, trip]
        parts += [self.world.label] * (self.world.label != DEFAULT_WORLD)
        parts += [self.method.name, self.search]
        parts += [self.prior] * (self.prior != DEFAULT_SPREAD)
        parts += [f"l{self.lengthscale:g}"] * (self.lengthscale != DEFAULT_LENGTHSCALE)
        parts += [f"f{self.in_flight}"] * (self.in_flight != 1)
        parts += ["shared"] * self.share_belief
        return "-".join([*parts, f"s{self.seed}"])


@dataclass(frozen=True, slots=True)
class RunFolder(Folder):
    """Reads and writes the folder of an experiment."""

    def write_failure(self, run_name: str, error: str) -> None:
        """Record why a run failed."""
        with replacing(self.path / "failures" / f"{run_name}.txt") as temporary:
            temporary.write_text(error.rstrip() + "\n", encoding="utf-8")

    def failures(self) -> dict[str, str]:
        """Return why runs failed that did not finish since, by name."""
        finished = set(self.finished_runs())
        files = sorted((self.path / "failures").glob("[!.]*.txt"))
        return {
            path.stem: path.read_text(encoding="utf-8").rstrip()
            for path in files
            if path.stem not in finished
        }

    def write_fits(self, run_name: str, fits: Mapping[int, Fit]) -> None:
        """Write how the fits of a run's hyper-parameters went, by the number of trips after which they came."""
        told = {trips: fit.to_json() for trips, fit in fits.items()}
        with replacing(self.path / "fits" / f"{run_name}.json") as temporary:
            temporary.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")

    def is_finished(self, run: Run) -> bool:
        """Tell whether every file of a run is there and its tables are readable from end to end."""
        if not self.belief_path(run.name).is_file():
            return False
        try:
            tables = [
                read_columns(self._table(kind, run.name)) for kind in ("parts", "routes", "timings")
            ]
        except (OSError, pa.ArrowException):
            return False
        return int(tables[0].num_rows) == run.horizon

    def write(self, run: Run, log: Log) -> None:
        """Write the tables of a run, the part last; its belief has to be there already."""
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
            "prior": [run.prior] * n,
            "lengthscale": [run.lengthscale] * n,
            "seed": [run.seed] * n,
        }
        write_columns(
            self._table("routes", run.name), {"run": [run.name] * len(log.routes["t"])} | log.routes
        )
        write_columns(self._table("timings", run.name), {"run": [run.name] * n} | log.timings)
        if log.diagnostics:
            table = self._table("diagnostics", run.name)
            write_columns(table, {"run": [run.name] * n, "t": log.rounds["t"]} | log.diagnostics)
        vehicles = {
            "vehicle": [vehicle or run.vehicle for vehicle in log.rounds["vehicle"].tolist()]
        }
        write_columns(self._table("parts", run.name), labels | log.rounds | vehicles)

    def merge(self, runs: Iterable[Run]) -> None:
        """Write the unions over all runs that are finished, in the order of the experiment."""
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
            If no run of the experiment is finished.
        """
        target = self.path / "rounds.parquet"
        if not target.is_file():
            raise EvrouteError(
                f"{self.path} has no rounds.parquet: the simulation is not finished; run it again"
            )
        check_size(target)
        return pq.read_table(target)

    def _table(self, kind: str, run_name: str) -> Path:
        return self.path / kind / f"{run_name}.parquet"
