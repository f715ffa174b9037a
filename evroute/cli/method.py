"""``evroute method``: models and indices and their options, and kernels."""

from typing import Annotated

import typer

from evroute.cli.console import plain_console

OPTIONS = {
    "B": (
        "bound of the norm of the learned deviation, in prior deviations; auto: by rule of thumb, "
        "without guarantee"
    ),
    "adam_rate": "step size of the inducing points",
    "batch_size": "measurements in a step",
    "batch_trips": "trips in a batch",
    "beta_scale": "factor of beta: less explores less",
    "c": "scale of the guesses that a bound weighs; mixture: a grid of them",
    "clip_prior": "whether B alone is a further bound",
    "coefficient_scale": (
        "factor of the prior deviations of mass, rolling, drag, auxiliary power and wind"
    ),
    "delta": "probability that any of the bounds fails",
    "device": "device: cpu, cuda",
    "eps": "accuracy of the scores by which arms enter the dictionary",
    "epsilon": "share of the rounds that drive at random",
    "eta": "the ridge is 1 + eta",
    "factor_std": "prior deviation of the factor",
    "features": "largest number of features of the kernel",
    "form": (
        "whose radius: lean, theory, safe (the model's), gp, cgp (GP-UCB's), constant (multiplier)"
    ),
    "gamma": (
        "factor from an arm's score to its probability of entering the dictionary; 1 is rough, "
        "5 accurate"
    ),
    "inducing_points": "largest number of inducing points",
    "max_batch_trips": "largest number of trips in a batch",
    "max_dictionary": "largest number of points in the dictionary",
    "mode": (
        "strict: a closed batch is measured whole before the next plan; soft: unfinished trips are "
        "carried over"
    ),
    "mu": "accuracy of the projection over the noise variance; none: the ridge",
    "multiplier": "standard deviations of the form constant",
    "natural_rate": "step size of the variational distribution",
    "noise": "deviations of measurements: prior (as given), learned",
    "norm_bound": "bound of the norm of the learned deviation: larger explores more",
    "omega": "parameter of Theorem 3.1",
    "on_empty": "if no function of norm B fits: raise B (and lose the guarantee), or stop",
    "q_bar": (
        "oversampling: factor from an arm's variance to its probability of entering the dictionary"
    ),
    "refresh_every": "rounds between computations of the bounds",
    "rest_scale": "factor of the prior deviations of the part that eq. 8 cannot explain",
    "ridge": "lambda over the noise variance",
    "running": "whether bounds of earlier rounds stay valid; contexts must not change",
    "sampling": (
        "probability of an arm over its measurements: union (their sum), per_obs (as published)"
    ),
    "sigma": "factor on the deviations of the noise",
    "slots": "rule of inducing points: follow (driven arms), padded, literal (as printed)",
    "slowness_std": "prior deviation of the logarithm of an edge's travel time",
    "steps": "optimiser steps after each trip",
    "stop_rule": "rule that closes a batch: local, global, global-local, exact-ratio, product",
    "threshold": (
        "change of variances (cbbkb: their sum) at which dictionary and mean are renewed"
    ),
    "time_std": "deviation of the logarithm of one measured travel time",
    "trip_effect": "deviation of the factor that all edges of a trip share, as a share; or learned",
    "variance_scale": "factor of the sampled variances; 1 is the paper's, smaller explores less",
    "xi": "parameter of Theorem 3.1",
}
"""Descriptions of the options of models and indices; equal names have equal meanings."""

app = typer.Typer(
    help="Models, indices, the methods that they make, and kernels.", no_args_is_help=True
)


@app.command("list")
def list_methods() -> None:
    """List named methods, models, indices, and kernels between contexts."""
    from rich.table import Table

    from evroute.methods.parts import INDICES, METHODS, MODELS, summary_of
    from evroute.model.context_kernels import KERNELS

    console = plain_console()
    table = Table("method", "model", "index", "options", title="Named methods")
    for name, parts in METHODS.items():
        options = ", ".join(
            f"{key}={value}" for key, value in parts.items() if key not in {"model", "index"}
        )
        table.add_row(name, str(parts["model"]), str(parts["index"]), options)
    console.print(table)
    for title, known in (("Models", MODELS), ("Indices", INDICES), ("Kernels", KERNELS)):
        table = Table("name", "description", title=title)
        for name in known:
            table.add_row(name, _plain(summary_of(known, name)))
        console.print(table)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A named method, a model or an index.")]) -> None:
    """Show the options of a method, a model or an index."""
    from rich.table import Table

    from evroute.errors import UnknownNameError
    from evroute.methods.parts import INDICES, METHODS, MODELS, defaults_of, summary_of

    if name in METHODS:
        plain_console().print(
            f"{name}: {', '.join(f'{key} = {value}' for key, value in METHODS[name].items())}"
        )
        parts = [(MODELS, str(METHODS[name]["model"])), (INDICES, str(METHODS[name]["index"]))]
    else:
        parts = [(known, name) for known in (MODELS, INDICES) if name in known]
    if not parts:
        raise UnknownNameError(f"unknown method '{name}'; see 'evroute method list'")
    for known, part in parts:
        kind = "model" if known is MODELS else "index"
        defaults = defaults_of(known, part)
        title = f"{kind} {part}: {_plain(summary_of(known, part))}"
        if not defaults:
            plain_console().print(f"{title} It has no options.", highlight=False)
            continue
        table = Table("option", "default", "description", title=title)
        for option, default in defaults.items():
            table.add_row(
                option, "none" if default is None else str(default), OPTIONS.get(option, "")
            )
        plain_console().print(table)


def _plain(summary: str) -> str:
    """Turn the first line of a docstring into words for a terminal."""
    return summary.removeprefix("Return ").replace("`", "")
