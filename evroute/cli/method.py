"""``evroute method``: models and indices and their options, and kernels."""

from typing import Annotated

import typer

from evroute.cli.console import plain_console

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
            table.add_row(name, summary_of(known, name))
        console.print(table)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A named method, a model or an index.")]) -> None:
    """Show the options of a method, a model or an index."""
    from rich.table import Table

    from evroute.errors import UnknownNameError
    from evroute.methods.parts import INDICES, METHODS, MODELS, named, summary_of

    if name in METHODS:
        plain_console().print(
            f"{name}: {', '.join(f'{key} = {value}' for key, value in METHODS[name].items())}"
        )
    parts = METHODS.get(name, {"model": name, "index": name})
    tables = {"model": MODELS, "index": INDICES}
    if not any(parts[kind] in known for kind, known in tables.items()):
        raise UnknownNameError(f"unknown method '{name}'; see 'evroute method list'")
    for kind, known in tables.items():
        if (part := parts[kind]) not in known:
            continue
        options = named(known, kind, part)
        title = f"{kind} {part}: {summary_of(known, part)}"
        if not options.model_fields:
            plain_console().print(f"{title} It has no options.", highlight=False)
            continue
        table = Table("option", "default", "values", "description", title=title)
        for option, (values, sentence) in options.described().items():
            default = options.model_fields[option].default
            table.add_row(option, "none" if default is None else str(default), values, sentence)
        plain_console().print(table)
