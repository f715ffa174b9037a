"""Experiments: a grid of networks, trips, methods, searches and seeds, from TOML or options.

A file looks like this::

    horizon = 500
    seeds = 5
    search = ["rectified"]
    methods = [
        { model = "exact", index = "ts", variance_scale = 1 },
        { model = "independent", index = "ucb" },
    ]

    [trips]
    monaco = ["A", "B"]
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from numpy.random import SeedSequence, default_rng
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    model_validator,
)

from evroute.claims import Claims
from evroute.energy.defaults import PAPER_VEHICLE
from evroute.energy.prior import DEFAULT_SPREAD, check_spread
from evroute.errors import EvrouteError, require
from evroute.experiments.agents import check_vehicles
from evroute.experiments.execution import execute
from evroute.experiments.parallel.engine import Engine
from evroute.experiments.provenance import trip_files, versions, world_sources
from evroute.experiments.regret import DEFINITION
from evroute.experiments.runs import Run, RunFolder
from evroute.limits import read_toml
from evroute.methods.method import Method, make_model
from evroute.methods.parts import index_options, model_options, pair
from evroute.methods.setting import Prior, Setting, load_setting
from evroute.model.context_kernels import DEFAULT_KERNEL, check_kernel
from evroute.model.kernels.build import DEFAULT_LENGTHSCALE
from evroute.planning.weights import check_search
from evroute.text import counted, cut
from evroute.validation.invalid import first_problem
from evroute.worlds.demand.demand import is_file, load_demand, load_file, vehicles_of
from evroute.worlds.demand.in_flight import Flight
from evroute.worlds.world import DEFAULT as DEFAULT_WORLD
from evroute.worlds.world import World, load_world


class Experiment(BaseModel):
    """Every method on every trip in every world, with every search, prior, lengthscale and seed.

    Parameters
    ----------
    trips
        Names, pairs of places, files or ``random 2-5 km`` (`demand`), by network (a name or a
        stored ``.npz``).
    methods
        Methods to compare.
    search
        Weight rules of the search.
    horizon
        Trips of every run. By default the length of the longest trip file, 500 without files.
    seeds, first_seed
        Number of seeds of each combination, and the first of them, 0 by default.
    vehicle
        Vehicle of trips that name none.
    in_flight
        Trips planned before the first of them is learned. ``"clock"``: each is learned when it
        ends.
    audit
        Drive a random route too in every tenth round, hidden from the learner
        (`RandomRouteProbe`).
    soc, reserve
        Charge at the start of every trip, and charge to keep, percent of the usable battery.
        Measured and predicted charge are logged (`BatteryLog`). Plans do not depend on it.
    world
        One or several worlds, by name, file or table (`load_world`). A top-level ``closed_share``
        applies to each of them.
    prior, lengthscale
        Of sampled worlds, and of the models in any world.
    kernel
        Kernel between contexts, likewise: one of ``evroute method list``, or two of them joined by
        ``+`` (their mean) or ``*``.
    claims
        Claims on the runs, with the command that makes them (`claims.Claim`). ``evroute report``
        judges them.

    Raises
    ------
    UnknownNameError, EvrouteError
        If a method, search or world is unknown, or a model does not support its index.
    pydantic.ValidationError
        If a field is missing, unknown, of the wrong type or out of its range.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    trips: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(min_length=1)
    methods: tuple[Method, ...] = Field(min_length=1)
    search: tuple[Annotated[str, AfterValidator(check_search)], ...] = Field(
        default=("potential-rectified",), min_length=1
    )
    horizon: int = Field(default=500, gt=0)
    seeds: int = Field(default=5, gt=0)
    first_seed: int | None = Field(default=None, ge=0)
    vehicle: str = PAPER_VEHICLE
    in_flight: Flight = 1
    audit: Literal[True] | None = None
    soc: float | None = Field(default=None, ge=0, le=100)
    reserve: float | None = Field(default=None, ge=0, le=100)
    world: tuple[Annotated[SerializeAsAny[World], BeforeValidator(load_world)], ...] = Field(
        default=(DEFAULT_WORLD,), min_length=1, validate_default=True
    )
    prior: tuple[Annotated[str, AfterValidator(check_spread)], ...] = Field(
        default=(DEFAULT_SPREAD,), min_length=1
    )
    kernel: Annotated[str, AfterValidator(check_kernel)] = DEFAULT_KERNEL
    lengthscale: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(DEFAULT_LENGTHSCALE,), min_length=1
    )
    claims: Claims | None = None

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        table = dict(data)
        worlds = table.pop("world", DEFAULT_WORLD)
        worlds = worlds if isinstance(worlds, list | tuple) else [worlds]
        if "closed_share" in table:
            share = table.pop("closed_share")
            worlds = [
                load_world(load_world(each).model_dump() | {"closed_share": share})
                for each in worlds
            ]
        if "horizon" not in table and (longest := _longest(table)):
            table["horizon"] = longest
        return table | {"world": worlds}

    @model_validator(mode="after")
    def _check(self) -> "Experiment":
        names = [run.name for run in self.runs()]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"run {twice[0]} occurs twice in the grid")
        require(
            self.soc is not None or self.reserve is None,
            "reserve needs soc, the charge at the start",
            ValueError,
        )
        if self.soc is not None and self.soc < (self.reserve or 0.0):
            raise ValueError(f"soc is {self.soc:g} %, below the reserve of {self.reserve:g} %")
        return self

    def __repr__(self) -> str:
        """Return trips, methods, horizon and seeds in one line."""
        methods = ", ".join(method.label for method in self.methods)
        sizes = f"{counted(self.horizon, 'trip')}, {counted(self.seeds, 'seed')}"
        return cut(f"Experiment({self.trips}, {methods}, {sizes}, {self.vehicle})", 200)

    def runs(self) -> Iterator[Run]:
        """Yield every run of the grid. Paired runs differ in the method only."""
        grid = product(
            [(network, trip) for network, names in self.trips.items() for trip in names],
            self.world,
            [
                Prior(spread, self.kernel, lengthscale)
                for spread, lengthscale in product(self.prior, self.lengthscale)
            ],
            self.search,
            self.methods,
            range(self.first_seed or 0, (self.first_seed or 0) + self.seeds),
        )
        for (network, trip), world, prior, search, method, seed in grid:
            yield Run(
                network=network,
                trip=trip,
                method=method,
                search=search,
                seed=seed,
                horizon=self.horizon,
                vehicle=self.vehicle,
                world=world,
                prior=prior,
                in_flight=self.in_flight,
                audit=bool(self.audit),
                soc=self.soc,
                reserve=self.reserve or 0.0,
            )


def _longest(table: Mapping[str, Any]) -> int:
    """Return the length of the longest trip file, 0 if there is none."""
    lists = table.get("trips")
    listed = [
        len(load_file(Path(trip), load_setting(network, table.get("vehicle", PAPER_VEHICLE))))
        for network, trips in (lists.items() if isinstance(lists, Mapping) else ())
        for trip in (trips if isinstance(trips, list | tuple) else ())
        if isinstance(trip, str) and is_file(trip)
    ]
    return max(listed, default=0)


def load_experiment(path: Path, **changes: Any) -> Experiment:
    """Read an experiment from a TOML file. Keyword arguments replace its fields.

    Raises
    ------
    EvrouteError
        If the file is missing or not TOML, or a field is missing, unknown or out of its range.
    """
    return _validated(read_toml(path, "experiment file") | changes, f"experiment file {path}")


def grid(
    *,
    networks: Sequence[str],
    trips: Sequence[str],
    methods: Sequence[str] = (),
    models: Sequence[str] = (),
    indices: Sequence[str] = (),
    options: Mapping[str, Any],
    **fields: Any,
) -> Experiment:
    """Combine named methods, and every model with every index, on every trip of every network.

    Parameters
    ----------
    networks, trips
        Names. See `Experiment`.
    methods
        Names of methods.
    models, indices
        Names of models and indices, combined with each other.
    options
        Option values by name. Each goes to the methods that have the option.
    **fields
        Further fields of `Experiment`.

    Raises
    ------
    EvrouteError
        If no method has an option, or the experiment is not valid.
    """
    pairs = [pair(name) for name in methods]
    pairs += [{"model": model, "index": index} for model, index in product(models, indices)]
    taken = [_options_of_pair(each["model"], each["index"]) for each in pairs]
    known = set().union(*taken)
    names = " and not ".join(f"{each['model']} with {each['index']}" for each in pairs)
    for idle in sorted(options.keys() - known):
        there = ", ".join(sorted(known))
        takers = [model_options(each["model"]).taken_by.get(idle) for each in pairs]
        taker = next((f". {each} takes it" for each in takers if each), "")
        raise EvrouteError(f"no method takes {idle}: not {names}. Options are {there}{taker}")
    chosen = [
        each | {name: options[name] for name in options if name in able}
        for each, able in zip(pairs, taken, strict=True)
    ]
    return _validated(
        {"trips": dict.fromkeys(networks, trips), "methods": chosen} | fields, "simulation"
    )


def _options_of_pair(model: str, index: str) -> set[str]:
    fields, of_model = {"guard", "guard_wh", "corridor", "exact_contexts"}, model_options(model)
    if not of_model.only_edges:
        fields |= {"arms", "learn_speeds", "controls"}
    if of_model.has_kernel:
        fields |= {"lengthscale_factor", "change_test"}
    return fields | of_model.model_fields.keys() | index_options(index).model_fields.keys()


def _validated(table: Mapping[str, Any], what: str) -> Experiment:
    try:
        return Experiment.model_validate(table)
    except ValidationError as error:
        raise EvrouteError(f"{what}: {first_problem(error, Experiment.model_fields)}") from None


def simulate(
    experiment: Experiment | str | Path,
    out: str | Path,
    *,
    jobs: int = 1,
    resume: bool = True,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    executor: Executor | Engine | None = None,
    ahead: int = 16,
) -> RunFolder:
    """Execute an experiment, or its unfinished part, and return its folder.

    Results do not depend on ``jobs`` or the executor. A run that fails leaves its error in the
    folder (``RunFolder.failures``), and the others go on. With ``jobs`` above 1 a script must
    call this under ``if __name__ == "__main__":``, because processes may start afresh.

    Parameters
    ----------
    experiment
        An experiment, or a TOML file.
    out
        The folder: new, empty, or begun by the same experiment.
    jobs
        Processes, at least 1.
    resume
        Keep the finished runs of the folder. Otherwise play all runs again, with the same result.
    on_progress
        Called with the rounds done and the rounds in total, finished runs included.
    executor
        Any executor of ``concurrent.futures``, or an engine, as of `dask_cluster.cluster`. It stays
        open. Processes of this machine if None.
    ahead
        Largest number of runs submitted to the executor at a time.

    Raises
    ------
    ValueError
        If ``jobs`` or ``ahead`` is not positive.
    EvrouteError
        If a network, trip or vehicle is unknown, the folder belongs to another experiment or is
        being written by another process, or the executor is lost.
    """
    require(jobs >= 1, f"jobs is {jobs}. It must be at least 1", ValueError)
    require(ahead >= 1, f"ahead is {ahead}. It must be at least 1", ValueError)
    if not isinstance(experiment, Experiment):
        experiment = load_experiment(Path(experiment))
    folder = RunFolder(Path(out))
    runs = list(experiment.runs())
    engine = Engine(executor, ahead) if isinstance(executor, Executor) else executor
    mixed = {"mixed": True} if engine is not None and engine.mixed else {}
    with folder.writing(manifest(experiment) | mixed):
        left = folder.left_of(runs) if resume else runs
        total = experiment.horizon * len(runs)
        kept = experiment.horizon * (len(runs) - len(left))
        on_progress(kept, total)
        execute(left, folder, engine or jobs, lambda done: on_progress(kept + done, total))
        folder.merge(runs)
    return folder


def manifest(experiment: Experiment) -> dict[str, Any]:
    """Return everything that results depend on. Check that networks, trips and vehicles exist."""
    settings = {name: load_setting(name, experiment.vehicle) for name in experiment.trips}
    files = trip_files(experiment.trips, settings)
    _check_vehicles(experiment, settings, files)
    worlds = world_sources(experiment.world, settings)
    for method, setting in product(experiment.methods, settings.values()):
        make_model(method, setting, default_rng(0))
    sources = {
        "trip_files": files,
        "worlds": worlds,
        "claims_sha256": experiment.claims.digest() if experiment.claims else "",
    }
    return {
        "configuration": experiment.model_dump(mode="json", exclude_none=True),
        "networks": {name: setting.network.digest for name, setting in settings.items()},
        "vehicle": next(iter(settings.values())).vehicle_numbers,
        **{name: source for name, source in sources.items() if source},
        "regret": DEFINITION,
        "versions": versions(method.model for method in experiment.methods),
    }


def _check_vehicles(
    experiment: Experiment, settings: Mapping[str, Setting], files: Mapping[str, Mapping[str, Any]]
) -> None:
    """Check that the vehicles of trip files may drive in each world."""
    for network, sources in files.items():
        for trip in sources:
            vehicles = vehicles_of(load_demand(trip, settings[network], SeedSequence(0)))
            if not vehicles:
                continue
            check_vehicles(trip, vehicles, experiment.vehicle, experiment.world)
