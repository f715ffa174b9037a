"""Kernel bandits without roads, one arm a round: the papers' own experiments."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Literal
from zlib import crc32

import numpy as np
import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evroute import __version__
from evroute.arms import Arms, Feedback
from evroute.arrays import FloatArray
from evroute.bandits.problems import PROBLEMS, Problem, VectorKernel
from evroute.bandits.starvation import StarvationExperiment
from evroute.bandits.sup_kernel_ucb import SupKernelOptions, SupKernelUCB
from evroute.claims import Claims
from evroute.errors import EvrouteError
from evroute.folder import Folder
from evroute.limits import read_toml
from evroute.methods.method import Method
from evroute.methods.parts import MODELS, index_options, model_options
from evroute.model.base import Anticipates, HasDiagnostics
from evroute.model.context_kernels import check_kernel
from evroute.model.kernels.arms import Covariance
from evroute.model.sparse.gp import SparseOptions
from evroute.tables import read_columns, write_columns
from evroute.validation.invalid import first_problem

log = logging.getLogger(__name__)


class BanditExperiment(BaseModel):
    """The content of a TOML file: a problem, its kernel and noise, and the competing methods.

    methods: as in experiments on roads, for models that need no network. Also ``sup-k-ucb``.
    noise_std: deviation of a measured cost.  variance, lengthscale: of the kernel, known to the
    models.  claims: on the runs, with the command that makes them (`claims.Claim`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    problem: Literal["bump", "chessboard", "step-diagonal", "gp-surface"]
    methods: Annotated[tuple[str | dict[str, Any], ...], Field(min_length=1)]
    horizon: int = Field(default=1000, ge=1)
    repetitions: int = Field(default=3, ge=1)
    kernel: Annotated[str, AfterValidator(check_kernel)] = "rbf"
    variance: float = Field(default=1.0, gt=0)
    lengthscale: float = Field(default=0.1, gt=0)
    noise_std: float = Field(default=0.1, gt=0)
    claims: Claims | None = None


@dataclass(frozen=True, slots=True)
class BanditSetting:
    """Values that models and indices take: a `CovarianceSetting` and an `IndexSetting`."""

    kernel: Covariance
    arms: Arms
    noise_std_wh: FloatArray
    potential_wh: FloatArray


def load_bandit(path: Path) -> BanditExperiment | StarvationExperiment:
    """Read an experiment from a TOML file.

    Raises
    ------
    EvrouteError
        If it does not exist or is not TOML, or a method cannot work on it.
    """
    table = read_toml(path, "bandit file")
    starves = table.get("problem") == "variance-starvation"
    kind = StarvationExperiment if starves else BanditExperiment
    try:
        experiment = kind.model_validate(table)
    except ValidationError as error:
        raise EvrouteError(f"{path}: {first_problem(error, kind.model_fields)}") from None
    if isinstance(experiment, StarvationExperiment):
        return experiment
    for method in experiment.methods:
        make_player(method, experiment, 0)
    return experiment


def play(experiment: BanditExperiment, on_run: Callable[[int], None], out: Path) -> pa.Table:
    """Play all repetitions of every method.

    Parameters
    ----------
    experiment
        From `load_bandit`.
    on_run
        Called with the number of finished runs.
    out
        Folder that stores each run as it ends and whose runs are not played again.

    Returns
    -------
    pyarrow.Table
        One row per round: method, seed, t, regret, cumulative_regret, seconds (CPU time to choose
        and learn), and the model's diagnostics, null for models without them.

    Raises
    ------
    EvrouteError
        If the folder belongs to another experiment or is being written by another process.
    """
    runs = [
        (method, seed, f"{place}-s{seed}.parquet")
        for place, method in enumerate(experiment.methods)
        for seed in range(experiment.repetitions)
    ]
    tables = []
    manifest = {
        "configuration": experiment.model_dump(mode="json", exclude_none=True),
        **({"claims_sha256": experiment.claims.digest()} if experiment.claims else {}),
        "versions": {"evroute": __version__},
    }
    with Folder(out).writing(manifest):
        for done, (method, seed, name) in enumerate(runs, start=1):
            tables.append(_table(method, experiment, seed, out / "parts" / name))
            on_run(done)
    return pa.concat_tables(tables, promote_options="default")


def _table(
    method: str | dict[str, Any], experiment: BanditExperiment, seed: int, path: Path
) -> pa.Table:
    """Return the rounds of a run, read from its file, or played now and stored there."""
    if path.exists():
        try:
            return read_columns(path)
        except (OSError, pa.ArrowException):
            log.warning("%s is damaged, playing that run again", path)
    rows = play_run(method, experiment, seed)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    write_columns(path, columns)
    return pa.table(columns)


class _Learner:
    """A model and an index over the arms of a round."""

    def __init__(self, model: Any, index: Any, rng: np.random.Generator) -> None:
        self.model = model
        self._index = index
        self._rng = rng
        self._t = 0

    def pull(self, arms: Arms) -> int:
        self._t += 1
        pulled = int(np.argmin(self._index(self._t, arms, self.model, self._rng)))
        if isinstance(self.model, Anticipates):
            self.model.anticipate(arms.take(np.array([pulled])))
        return pulled

    def learn(self, arms: Arms, pulled: int, cost: float) -> None:
        row = [pulled]
        self.model.update(
            Feedback(
                arms.id[row],
                arms.features[row],
                arms.prior_mean_wh[row],
                np.array([cost], dtype=float),
            )
        )


def make_player(
    method: str | dict[str, Any], experiment: BanditExperiment, seed: int
) -> tuple[str, Any, Any, Any]:
    """Return label, learner, problem and the world's random stream.

    The stream depends on problem and seed alone.

    Parameters
    ----------
    method
        A name or a table, as in experiments.
    experiment
        Problem, kernel and noise.
    seed
        Repetition.

    Raises
    ------
    EvrouteError
        If the method needs a road network, or an option is unknown or out of its range.
    """
    kernel = VectorKernel(experiment.kernel, experiment.variance, experiment.lengthscale)
    names = (crc32(experiment.problem.encode()),)
    truth, world, policy, model_seed = (
        np.random.default_rng(s) for s in np.random.SeedSequence(seed, spawn_key=names).spawn(4)
    )
    problem: Problem = PROBLEMS[experiment.problem](kernel, truth)
    arms = problem.arms(np.random.default_rng(seed))
    n = len(arms)
    noise = np.full(n, experiment.noise_std)
    setting = BanditSetting(kernel, arms, noise, np.full(n, -1.0))
    given = {"method": method} if isinstance(method, str) else dict(method)
    try:
        if given.get("method") == "sup-k-ucb":
            options = {name: value for name, value in given.items() if name != "method"}
            if unknown := sorted(options.keys() - SupKernelOptions.model_fields):
                raise EvrouteError(f"sup-k-ucb takes no {unknown[0]}. Its options are eta, ridge")
            return (
                " ".join(["sup-k-ucb", *(f"{k}={v:g}" for k, v in options.items())]),
                SupKernelUCB(
                    kernel,
                    arms,
                    noise,
                    model_seed,
                    experiment.horizon,
                    SupKernelOptions.checked(options),
                ),
                problem,
                world,
            )
        parts = Method.model_validate(given)
        of_model = model_options(parts.model)
        if not issubclass(of_model, SparseOptions):
            able = [name for name in MODELS if issubclass(model_options(name), SparseOptions)]
            raise EvrouteError(
                f"model '{parts.model}' needs a road network. On a kernel bandit use one of "
                f"{', '.join(['sup-k-ucb', *able])}"
            )
        model = of_model.checked(parts.options).build(setting, model_seed)
        index = index_options(parts.index).checked(parts.options).build(setting)
    except ValidationError as error:
        raise EvrouteError(f"method {method}: {first_problem(error)}") from None
    except EvrouteError as error:
        raise EvrouteError(f"method {method}: {error}") from None
    return parts.label, _Learner(model, index, policy), problem, world


def play_run(
    method: str | dict[str, Any], experiment: BanditExperiment, seed: int
) -> list[dict[str, Any]]:
    """Play a method in the world of a seed, and return a row for each round.

    Parameters
    ----------
    method, experiment
        A method of the experiment, by name or with its options.
    seed
        Seed of the world and of the method.
    """
    label, learner, problem, world = make_player(method, experiment, seed)
    rows, total = [], 0.0
    for t in range(1, experiment.horizon + 1):
        arms = problem.arms(world)
        cost = problem.cost(arms)
        started = process_time()
        pulled = learner.pull(arms)
        chose = process_time() - started
        measured = cost[pulled] + experiment.noise_std * world.standard_normal()
        started = process_time()
        learner.learn(arms, pulled, measured)
        seconds = chose + process_time() - started
        regret = float(cost[pulled] - cost.min())
        total += regret
        row = {
            "method": label,
            "seed": seed,
            "t": t,
            "regret": regret,
            "cumulative_regret": total,
            "seconds": seconds,
        }
        model = getattr(learner, "model", None)
        rows.append(row | (model.diagnostics() if isinstance(model, HasDiagnostics) else {}))
    return rows
