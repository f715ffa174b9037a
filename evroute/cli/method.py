"""``evroute method``: models and indices and their options, and kernels."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from evroute.cli.console import plain_console, print_table
from evroute.errors import MissingPackageError, UnknownNameError, require
from evroute.methods.parts import (
    INDICES,
    METHODS,
    MODELS,
    index_options,
    model_options,
    summary_of,
)
from evroute.model.context_kernels import KERNELS
from evroute.plugins import use_parts

app = typer.Typer(
    help="Models, indices, the methods that they make, and kernels.", no_args_is_help=True
)


@app.command("list")
def list_methods() -> None:
    """List named methods, models, indices, and kernels between contexts."""
    options = {
        name: ", ".join(f"{key}={parts[key]}" for key in parts if key not in {"model", "index"})
        for name, parts in METHODS.items()
    }
    rows = (
        (name, str(parts["model"]), str(parts["index"]), options[name])
        for name, parts in METHODS.items()
    )
    print_table(("method", "model", "index", "options"), rows, title="Named methods")
    for title, known in (("Models", MODELS), ("Indices", INDICES), ("Kernels", KERNELS)):
        print_table(
            ("name", "description"),
            ((name, _summary(known, name)) for name in known),
            title=title,
        )


def _summary(known: Mapping[str, str], name: str) -> str:
    """Return the summary of a part, or how to install it."""
    try:
        return summary_of(known, name)
    except MissingPackageError as error:
        return str(error)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A named method, a model or an index.")]) -> None:
    """Show the options of a method, a model or an index."""
    if name in METHODS:
        plain_console().print(
            f"{name}: {', '.join(f'{key} = {value}' for key, value in METHODS[name].items())}"
        )
    use_parts([name])
    parts = METHODS.get(name, {"model": name, "index": name})
    found = {kind: _options_of(kind, part) for kind, part in parts.items() if kind in OPTIONS}
    require(
        any(found.values()), f"unknown method '{name}'. See 'evroute method list'", UnknownNameError
    )
    for kind, options in found.items():
        if options is None:
            continue
        summary = (options.__doc__ or "").partition("\n")[0].replace("`", "")
        title = f"{kind} {parts[kind]}: {summary}"
        if not options.model_fields:
            plain_console().print(f"{title} It has no options.", highlight=False)
            continue
        rows = (
            (option, "none" if default is None else str(default), values, sentence)
            for option, (values, sentence) in options.described().items()
            for default in [options.model_fields[option].default]
        )
        print_table(("option", "default", "values", "description"), rows, title=title)


OPTIONS: dict[str, Callable[[str], Any]] = {"model": model_options, "index": index_options}


def _options_of(kind: str, part: Any) -> Any:
    """Return the class of options of a part, or None if there is none of that kind."""
    try:
        return OPTIONS[kind](str(part))
    except UnknownNameError:
        return None
