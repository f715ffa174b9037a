"""Execution of runs, each with one BLAS thread, in one process or several, with the same result."""

import traceback
from collections.abc import Callable, Sequence
from itertools import count

from threadpoolctl import threadpool_limits

from evroute.errors import EvrouteError
from evroute.experiments.play import play
from evroute.experiments.processes import StoppedError
from evroute.experiments.runs import Run, RunFolder
from evroute.methods.parts import model_options
from evroute.methods.setting import load_setting


def execute_alone(
    runs: Sequence[Run], folder: RunFolder, on_progress: Callable[[int], None]
) -> None:
    """Play runs in this process, one after the other.

    A run that fails is recorded in the folder, and the others go on.

    Parameters
    ----------
    runs
        Runs to play.
    folder
        Run folder that receives the files.
    on_progress
        Called with the number of rounds done so far.

    Raises
    ------
    OSError
        If the folder cannot be written, as on a full disk. The runs finished so far are kept.
    """
    rounds_done = count(1)
    for run in runs:
        attempt(run, folder, lambda t: on_progress(next(rounds_done)))


def make_shared(runs: Sequence[Run]) -> None:
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
