"""Execution of runs, each with one BLAS thread, in one process or several, with the same result."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from glob import escape
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory

from threadpoolctl import threadpool_limits

from evroute.errors import EvrouteError
from evroute.experiments.parallel.engine import Engine, Rules, answers
from evroute.experiments.parallel.pool import Pool, StoppedError
from evroute.experiments.parallel.tasks import Input, Inputs, Outcome
from evroute.experiments.play import play
from evroute.experiments.runs import Run, RunFolder
from evroute.files import TEMPORARY, inside, replacing, sweep
from evroute.methods.parts import model_options
from evroute.methods.setting import load_setting
from evroute.network.catalog import stored_path
from evroute.worlds.demand.demand import is_file, load_file, vehicles_of

LAST = "parts"
"""Folder of the table that is written last: with it a run is finished."""
REPEATS = 2
"""Number of times that a run is repeated alone after a process died."""
KEPT = "The runs finished so far are kept: the same command continues"


def execute(
    runs: Sequence[Run],
    folder: RunFolder,
    engine: Engine | int,
    on_progress: Callable[[int], None],
) -> None:
    """Play runs by an executor, or in some processes of this machine.

    A run that fails is recorded in the folder, and the others go on. The caller alone writes the
    folder.

    Parameters
    ----------
    runs
        Runs to play.
    folder
        Run folder that receives the files.
    engine
        The executor, or a number of processes.
    on_progress
        Called with the number of rounds done so far.

    Raises
    ------
    EvrouteError
        If a worker's versions or BLAS differ, or the executor is lost. Finished runs are kept.
    OSError
        If the folder cannot be written, as on a full disk. Finished runs are kept.
    """
    near = not isinstance(engine, Engine)
    if not isinstance(engine, Engine):
        engine = min(engine, len(runs))
        if engine <= 1:
            rounds_done = count(1)
            for run in runs:
                attempt(run, folder, lambda t: on_progress(next(rounds_done)))
            return
        _make_shared(runs)
        sweep(folder.path.glob(f"*/{TEMPORARY}"))
    files, progress = RunInputs(near=near), _Progress(on_progress)

    def died(work: "RunWork", times: int) -> Outcome | None:
        if times < REPEATS:
            return None
        words = f"its process died {REPEATS + 1} times, the last {REPEATS} alone"
        folder.write_failure(work.run.name, f"{words} (out of memory?)")
        return Outcome()

    rules = Rules(
        inputs=lambda work: files.of(work.run),
        paths=files.paths,
        died=died,
        kept=KEPT,
        in_order=False,
        beside=folder.path if near else None,
        watch=progress.watch,
    )
    for work, outcome in answers(map(RunWork, runs), engine, rules):
        write_files(folder.path, outcome)
        progress.finished(work.run.horizon)


class _Progress:
    """Reports rounds: those of finished runs, and those that processes of this machine count."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._finished = self._shown = self._before = 0
        self._pool: Pool | None = None

    def finished(self, rounds: int) -> None:
        """Count a finished run."""
        self._finished += rounds
        self._show(self._finished)

    def watch(self, pool: Pool) -> None:
        """Report the rounds that a pool counted, beside those before it was built."""
        if pool is not self._pool:
            self._pool, self._before = pool, self._finished
        self._show(self._before + pool.rounds)

    def _show(self, rounds: int) -> None:
        self._shown = max(self._shown, rounds)
        self._report(self._shown)


@dataclass(frozen=True, slots=True)
class RunWork:
    """A run as work of the engine."""

    run: Run

    def load(self, inputs: tuple[Input, ...]) -> None:
        """Load what the run needs, by its first round."""
        with TemporaryDirectory(prefix="evroute-run-") as own:
            attempt(replace(self.run, horizon=1), RunFolder(Path(own)), lambda t: None)

    def do(
        self, inputs: tuple[Input, ...], step: Callable[[], None], place: Path | None
    ) -> Outcome:
        """Play the run and return its files, the file of `LAST` at the end.

        Parameters
        ----------
        inputs, step, place
            As in `Work.do`.
        """
        if place is not None:
            attempt(self.run, RunFolder(place), lambda t: step())
            return Outcome(left=self._found(place))
        with TemporaryDirectory(prefix="evroute-run-") as own:
            attempt(self.run, RunFolder(Path(own)), lambda t: step())
            found = self._found(Path(own))
            return Outcome({name: Path(path).read_bytes() for name, path in found.items()})

    def _found(self, folder: Path) -> dict[str, str]:
        """Return the paths of the files of the run in a folder by name."""
        paths = sorted(folder.glob(f"*/{escape(self.run.name)}[.@]*"))
        paths.sort(key=lambda path: path.parent.name == LAST)
        return {path.relative_to(folder).as_posix(): str(path) for path in paths}


class RunInputs(Inputs):
    """Files of runs, found once for each network, vehicle, trip and world."""

    def __init__(self, *, near: bool) -> None:
        super().__init__(near=near)
        self._found: dict[tuple[object, ...], tuple[Input, ...]] = {}

    def of(self, run: Run) -> tuple[Input, ...]:
        """Return the files of a run."""
        key = run.network, run.vehicle, run.trip, run.world.label
        if key not in self._found:
            self._found[key] = tuple(
                self.of_file(name, path) for name, path in _paths_of(run).items()
            )
        return self._found[key]


def _paths_of(run: Run) -> dict[str, Path]:
    """Return the files of a run by the names that it has for them."""
    setting = load_setting(run.network, run.vehicle, run.assumed)
    found = {run.network: stored_path(run.network)}
    vehicles: tuple[str, ...] = (run.vehicle,)
    if is_file(run.trip):
        found[run.trip] = Path(run.trip)
        vehicles = tuple(chain(vehicles, vehicles_of(load_file(Path(run.trip), setting))))
    found |= {vehicle: Path(vehicle) for vehicle in vehicles if vehicle.endswith(".toml")}
    return found | run.world.files(setting)


def write_files(folder: Path, outcome: Outcome) -> None:
    """Write the files of an outcome into a run folder, each to a temporary name first, or move it.

    Parameters
    ----------
    folder
        The run folder.
    outcome
        The answer of a worker.

    Raises
    ------
    OSError
        If the folder cannot be written, as on a full disk.
    """
    for name, content in outcome.files.items():
        with replacing(inside(folder, name)) as temporary:
            temporary.write_bytes(content)
    for name, path in outcome.left.items():
        target = inside(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(path).replace(target)


def _make_shared(runs: Sequence[Run]) -> None:
    """Build the cached arrays of models and worlds once, so that workers memory-map them."""
    with threadpool_limits(1):
        for run in runs:
            setting = load_setting(run.network, run.vehicle, run.prior)
            model_options(run.method.model).cache(setting)
            if run.world.kind == "sampled-gp":
                _ = setting.prior_factor


def attempt(run: Run, folder: RunFolder, on_round: Callable[[int], None]) -> None:
    """Play a run or record its failure. Errors that concern all runs, as a full disk, are raised.

    Parameters
    ----------
    run
        Run to play.
    folder
        Run folder that receives its files.
    on_round
        Called with the number of each finished round.
    """
    try:
        play(run, folder, on_round)
    except (StoppedError, OSError, MemoryError):
        raise
    except EvrouteError as error:
        folder.write_failure(run.name, str(error))
    except Exception:  # an error in one run must not lose the others
        folder.write_failure(run.name, traceback.format_exc())
