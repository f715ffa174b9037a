"""``evroute method``: what models and indices there are, and the options of each."""

from typing import Annotated

import typer

app = typer.Typer(help="Models, indices, and the methods that they make.", no_args_is_help=True)


@app.command("list")
def list_methods() -> None:
    """List named methods, models and indices."""
    from rich.console import Console
    from rich.table import Table

    from evroute.simulation.parts import INDICES, METHODS, MODELS, summary_of

    console = Console()
    table = Table("method", "model", "index", "options", title="Named methods")
    for name, parts in METHODS.items():
        options = ", ".join(f"{key}={value}" for key, value in parts.items() if key not in {"model", "index"})
        table.add_row(name, str(parts["model"]), str(parts["index"]), options)
    console.print(table)
    for title, known in (("Models", MODELS), ("Indices", INDICES)):
        table = Table("name", "what it is", title=title)
        for name in known:
            table.add_row(name, summary_of(known, name))
        console.print(table)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A named method, a model or an index.")]) -> None:
    """Show the options of a method, a model or an index."""
    from rich.console import Console
    from rich.table import Table

    from evroute.errors import UnknownNameError
    from evroute.simulation.parts import INDICES, METHODS, MODELS, defaults_of, summary_of

    if name in METHODS:
        parts = [(MODELS, str(METHODS[name]["model"])), (INDICES, str(METHODS[name]["index"]))]
    else:
        parts = [(known, name) for known in (MODELS, INDICES) if name in known]
    if not parts:
        raise UnknownNameError(f"unknown method '{name}'; 'evroute method list' tells what there is")
    for known, part in parts:
        kind = "model" if known is MODELS else "index"
        table = Table("option", "default", title=f"{kind} {part}: {summary_of(known, part)}")
        for option, default in defaults_of(known, part).items():
            table.add_row(option, str(default))
        Console().print(table)
