"""``evroute simulate``: let methods learn in simulated worlds, one run folder for all."""

from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from evroute.cli.console import print_table, progress
from evroute.cli.shared import Cluster, Jobs, Mixed, Workers, parsed_options
from evroute.energy.prior import DEFAULT_SPREAD
from evroute.errors import EvrouteError
from evroute.experiments.estimate import estimate
from evroute.experiments.experiment import Experiment, grid, load_experiment
from evroute.experiments.experiment import simulate as run
from evroute.experiments.runs import RunFolder, summarise
from evroute.model.kernels.build import DEFAULT_LENGTHSCALE
from evroute.plugins import use_parts
from evroute.text import counted
from evroute.worlds.world import DEFAULT as DEFAULT_WORLD

SHOWN_ROWS = 40
"""Number of rows of each table on the terminal. Reports have all."""
OF_RUNS = (
    "audit",
    "closed_share",
    "first_seed",
    "in_flight",
    "lengthscale",
    "prior",
    "reserve",
    "soc",
)
"""Fields of an experiment that ``--option`` sets."""


def simulate(  # noqa: PLR0913 - each parameter is an option of the command
    experiment: Annotated[
        Path | None,
        typer.Argument(
            help="A TOML file (see data/experiments), or describe a grid by the options."
        ),
    ] = None,
    network: Annotated[list[str] | None, typer.Option(help="Network. Repeat for several.")] = None,
    trip: Annotated[
        list[str] | None,
        typer.Option(
            "--trip",
            "--trips",
            help="A named trip, 'PLACE to PLACE' (edge ids, or LAT,LON), 'random 2-5 km', "
            "'random pair 2-5 km', or a file of trips: .csv, "
            ".parquet (origin, destination, departure, vehicle, count), SUMO's .rou.xml. "
            "repeatable. [A]",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="A named method, such as gp-ts. See 'evroute method list'; repeatable."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model: each goes with every --index. Repeatable. [exact]"),
    ] = None,
    index: Annotated[list[str] | None, typer.Option(help="An index. Repeatable. [ts]")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE: an option of methods (see 'evroute method show NAME'), or one of "
            f"{', '.join(OF_RUNS)} (see data/experiments); repeatable."
        ),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(
            help="potential-rectified, rectified (the paper), potential, clamped. Repeatable. "
            "[potential-rectified]"
        ),
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(min=1, help="Trips per run. [500, or the longest file's]")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Worlds per method and trip. [5]")
    ] = None,
    vehicle: Annotated[
        list[str] | None,
        typer.Option(
            help="A vehicle of the catalogue, or a .toml file. For several, a column of --trips."
        ),
    ] = None,
    world: Annotated[
        list[str] | None,
        typer.Option(
            help="A kind of world, one of data/worlds by name, or a .toml file. Repeatable. "
            "[sampled-gp]"
        ),
    ] = None,
    variance_scale: Annotated[
        float | None,
        typer.Option(help="Factor on the variance of Thompson samples. Smaller explores less. [1]"),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Kernel between contexts, see 'evroute method list'. Two may be joined by + or *. "
            "[matern-5/2]"
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder. [runs/NAME of the file]")] = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    mixed: Mixed = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--no-resume", help="Keep the runs finished in --out, or run all again."
        ),
    ] = True,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print the runs, their duration and disk space."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Let methods learn in simulated worlds. Interrupted, the same command continues."""
    use_parts([*(model or []), *(index or []), *(world or []), kernel or ""])
    of_runs, of_methods = _split(option)
    if variance_scale is not None:
        of_methods = {"variance_scale": variance_scale} | of_methods
    parts = _given(network=network, trip=trip, method=method, model=model, index=index)
    axes = _given(world=world, search=search, kernel=kernel)
    fields = axes | _given(horizon=horizon, seeds=seeds, vehicle=_one_vehicle(vehicle)) | of_runs
    if experiment is not None:
        _refuse_changes(experiment, [*parts, *axes, *of_methods])
        requested = load_experiment(experiment, **fields)
    else:
        requested = _grid(parts, of_methods, fields)
    out = _folder_of(out, experiment)
    if dry_run:
        _print_estimate(requested, out, jobs)
        return
    with Workers(jobs, cluster, mixed).engine() as engine:
        executor = None if isinstance(engine, int) else engine
        settings = {"jobs": jobs, "resume": resume, "executor": executor}
        _print_results(_played(requested, out, settings, quiet=quiet))


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def _split(option: list[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of ``--option`` for the experiment, and the values for methods."""
    values = parsed_options(option)
    of_runs = {name: values.pop(name) for name in OF_RUNS if name in values}
    for name in {"prior", "lengthscale"} & of_runs.keys():
        if not isinstance(of_runs[name], list):
            of_runs[name] = [of_runs[name]]
    return of_runs, values


def _one_vehicle(vehicle: list[str] | None) -> str | None:
    """Return the vehicle of all trips that name none."""
    if vehicle and len(vehicle) > 1:
        raise EvrouteError(
            f"--vehicle is given {len(vehicle)} times. For several vehicles, name them in a "
            "column of the table of --trips"
        )
    return vehicle[0] if vehicle else None


def _refuse_changes(experiment: Path, names: list[str]) -> None:
    """Refuse options that an experiment file has to hold itself."""
    if names:
        option = names[0].replace("_", "-")
        raise EvrouteError(f"--{option} cannot change an experiment file. Edit {experiment}")


def _grid(parts: dict[str, Any], of_methods: dict[str, Any], fields: dict[str, Any]) -> Experiment:
    """Return the experiment of the options alone. Without a method, its model is exact."""
    if not parts.get("network"):
        raise EvrouteError("name an experiment file, or a network with --network")
    by_method_alone = parts.get("method") and not parts.get("index")
    return grid(
        networks=parts["network"],
        trips=parts.get("trip", ["A"]),
        methods=parts.get("method", []),
        models=parts.get("model", [] if by_method_alone else ["exact"]),
        indices=parts.get("index", ["ts"]),
        options=of_methods,
        **fields,
    )


def _folder_of(out: Path | None, experiment: Path | None) -> Path:
    """Return the run folder: the given one, or the folder in an experiment file."""
    if out is not None:
        return out
    if experiment is None:
        raise EvrouteError("give a run folder with --out")
    return Path("runs", experiment.stem)


def _played(
    requested: Experiment, out: Path, settings: dict[str, Any], *, quiet: bool
) -> RunFolder:
    """Play the runs with progress on stderr, and return their folder.

    Parameters
    ----------
    requested, out
        The experiment and its folder.
    settings
        Further arguments of `experiment.simulate`.
    quiet
        Print no progress.
    """
    try:
        with progress(quiet=quiet) as report:
            return run(
                requested,
                out,
                **settings,
                on_progress=lambda done, total: report("trips", done, total),
            )
    except KeyboardInterrupt:
        typer.echo(
            f"evroute: interrupted. Finished runs are kept in {out}: the same command continues",
            err=True,
        )
        raise typer.Exit(130) from None


def _print_results(folder: RunFolder) -> None:
    """Print the failures, tables and notes of a folder. A failure makes the exit status 1."""
    failures = folder.failures()
    _print_failures(failures)
    if failures:
        typer.echo(f"evroute: {len(failures)} runs failed. See {folder.path}/failures", err=True)
    if not folder.finished_runs():
        raise typer.Exit(1)
    _print_tables(folder)
    _print_notes(folder.manifest())
    typer.echo(f"{folder.path}/rounds.parquet")
    if failures:
        raise typer.Exit(1)


def _print_failures(failures: dict[str, str]) -> None:
    """Print the last line of each error."""
    for name, error in failures.items():
        typer.echo(f"evroute: run {name} failed: {error.splitlines()[-1]}", err=True)


def _print_notes(manifest: dict[str, Any]) -> None:
    """Print the notes on trip files and worlds that a folder keeps."""
    for files in manifest.get("trip_files", {}).values():
        for file, result in files.items():
            left_out = [
                f"{count} left out: {reason}" for reason, count in result["skipped"].items()
            ]
            words = [f"{file}: {result['trips']} trips", *left_out, *result["notes"]]
            typer.echo("; ".join(words))
    for worlds in manifest.get("worlds", {}).values():
        for label, result in worlds.items():
            typer.echo(f"{label}: {result['note']}")


def _print_tables(folder: RunFolder) -> None:
    """Print the finished runs, a table for each block."""
    for (title, worlds), rows in groupby(summarise(folder.rounds()), key=_block):
        several = worlds > 1
        spread = ", mean over worlds, its standard error, geometric mean" if several else ""
        all_rows = list(rows)
        print_table(
            list(_cells(all_rows[0], several=several)),
            [list(_cells(row, several=several).values()) for row in all_rows[:SHOWN_ROWS]],
            title=f"{title}, {counted(worlds, 'world')}",
            caption=(
                f"regret: Wh above the best routes, summed over a run{spread}; saved: against "
                "physics alone"
            ),
            texts=2,
        )
        if len(all_rows) > SHOWN_ROWS:
            typer.echo(f"and {len(all_rows) - SHOWN_ROWS} rows more: evroute report {folder.path}")


def _cells(row: Any, *, several: bool) -> dict[str, str]:
    """Return a row of a table by column. With several worlds it has the spread of the regret."""
    cells = {
        "trip": f"{row.network} {row.trip}",
        "method": row.method,
        "regret Wh": f"{row.regret_wh:,.0f}",
    }
    if several:
        cells["± se"] = f"{row.regret_se_wh:,.0f}"
        cells["geom. mean"] = f"{row.regret_geometric_wh:,.0f}"
    cells["saved Wh/trip"] = f"{row.saved_wh:+.1f}"
    cells["by the best"] = f"{row.headroom_wh:+.1f}"
    return cells


def _block(row: Any) -> tuple[str, int]:
    """Return the common values of the rows of a table, as its title, and the number of worlds."""
    prior = f", {row.prior} prior" if row.prior != DEFAULT_SPREAD else ""
    scale = f", lengthscale {row.lengthscale:g}" if row.lengthscale != DEFAULT_LENGTHSCALE else ""
    world = f"{row.world}, " if row.world != DEFAULT_WORLD else ""
    return f"{world}search {row.search}{prior}{scale}", row.worlds


def _print_estimate(requested: Experiment, out: Path, jobs: int) -> None:
    """Print the number of runs of an experiment, their duration and their disk space."""
    result = estimate(requested, out, jobs=jobs)
    finished = f", {result.finished} of them finished" if result.finished else ""
    typer.echo(
        f"{counted(result.runs, 'run')}{finished}: networks {len(requested.trips)}, trips "
        f"{sum(map(len, requested.trips.values()))}, methods {len(requested.methods)}, "
        f"worlds {len(requested.world)}, seeds {requested.seeds}, {requested.horizon} rounds each, "
        f"{result.rounds:,} rounds to play"
    )
    typer.echo(
        f"about {_duration(result.wall_s)} with --jobs {jobs} ({_duration(result.cpu_s)} of "
        "CPU) and "
        f"{result.disk_bytes / 1e6:,.1f} MB in {out}, from a few rounds of "
        f"{counted(result.kinds, 'kind')} of runs"
    )
    _print_failures(result.failures)
    if result.failures:
        raise typer.Exit(1)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
