"""The command line ``evroute``: each command parses, calls one library function and prints.

The module of a command is imported when the command is called, so that ``evroute --help`` stays
instant.
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evroute import __version__
from evroute.cli.terminal import escaped_output
from evroute.errors import EvrouteError
from evroute.optional import missing
from evroute.text import cut, escaped

PLUGIN = "--plugin"
COMMANDS = {
    "route": ("route.route", "Plan a trip by least energy."),
    "range": ("reach.reach", "Find the roads within reach of a charge."),
    "needed": ("needed.charge", "Find the least charge at the start that keeps a reserve."),
    "simulate": ("simulate.simulate", "Let methods learn in simulated worlds."),
    "bandit": ("bandit.bandit", "Let methods play a plain kernel bandit."),
    "learn": ("learn.learn", "Learn measured trips."),
    "export": ("export.export", "Write what a belief learned as numbers for other planners."),
    "merge": ("merge.merge", "Unite run folders of one experiment."),
    "report": ("report.report", "Write a page on runs or learned trips."),
    "app": ("dashboard.app", "Open the dashboard in a browser."),
    "serve": ("serve.serve", "Answer requests by HTTP."),
    "network": ("network.app", "Road networks: list, inspect, build, export."),
    "vehicle": ("vehicle.app", "Vehicles of the catalogue, and your own TOML files."),
    "check-model": ("check_model.check_model", "Check an energy model for what no vehicle can do."),
    "benchmark": ("benchmark.benchmark", "Compare programs that expect the energy of trips."),
    "method": ("method.app", "Models, indices, methods and kernels."),
}
"""Module and name of the function or group of each command, and its line in the help."""


def load(name: str) -> Callable[..., None] | typer.Typer:
    """Import and return the function of a command, or its group of commands."""
    module, _, attribute = COMMANDS[name][0].partition(".")
    return getattr(import_module(f"evroute.cli.{module}"), attribute)


@contextmanager
def _interrupts_reach_main() -> Iterator[None]:
    """Turn an interrupt, which typer would end without a word, into an error of typer."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Abort from None


class _Lazy(TyperGroup):
    """A group that imports a command when it is called."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move ``--plugin MODULE``, which may be written anywhere, to the front."""
        first, rest = [], list(args)
        while PLUGIN in rest[:-1]:
            at = rest.index(PLUGIN)
            first += rest[at : at + 2]
            del rest[at : at + 2]
        written = [each for each in rest if each.startswith(f"{PLUGIN}=")]
        left = [each for each in rest if each not in written]
        parsed: list[str] = super().parse_args(ctx, [*first, *written, *left])
        return parsed

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Parse the options, which imports pydantic. An interrupt reaches `main`."""
        with _interrupts_reach_main():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. An interrupt reaches `main`."""
        with _interrupts_reach_main():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and its arguments, with the imported command for the listed one."""
        name, _, rest = super().resolve_command(ctx, args)
        found, single = load(str(name)), typer.Typer(rich_markup_mode=None)
        if isinstance(found, typer.Typer):
            single.add_typer(found, name=name)
        else:
            single.command(name)(found)
        return name, typer.main.get_group(single).commands[str(name)], rest


app = typer.Typer(
    name="evroute",
    cls=_Lazy,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time of --help
    add_completion=False,
)
for _name, (_, _line) in COMMANDS.items():
    app.command(_name, help=_line)(lambda: None)

SHOWN_CHARACTERS = 2_000
"""Longest printed message of an error, which can quote its input."""
# raised by typer for wrong options and arguments; it has no public name
_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"evroute {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            PLUGIN,
            metavar="MODULE",
            help="A module with models, indices, kernels, worlds or readers of your own, which "
            "runs its code. It may stand after the command. Repeatable.",
        ),
    ] = None,
) -> None:
    """Energy-efficient routes for electric cars, learned from the trips that were driven."""
    if plugin:
        from evroute.plugins import use

        for name in plugin:
            use(name)


def main() -> None:
    """Run the command line.

    A user error is one line on stderr and exit status 2. An internal error is one line and exit
    status 70, after its traceback if ``EVROUTE_DEBUG`` is 1.
    """
    with escaped_output():
        _run()


def _run() -> None:
    try:
        sys.exit(app(standalone_mode=False))
    except _USAGE_ERROR as error:
        message = _with_value(error)
        if message.startswith("Usage:"):  # a group without a command answers with its help
            print(message, file=sys.stderr)
            sys.exit(2)
        if error.ctx and type(error) is not typer.BadParameter:
            message = f"{message.rstrip('.?')}. See '{error.ctx.command_path} --help'"
        _fail(" ".join(message.split()), 2)
    except EvrouteError as error:
        _fail(str(error), 2)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        _fail(f"{error.strerror or error}{where}", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", 130)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (package := missing(error)):
            _fail(str(package), 2)
        if os.environ.get("EVROUTE_DEBUG") == "1":
            traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        _fail(f"internal error. EVROUTE_DEBUG=1 shows its traceback: {reason}", 70)


def _with_value(error: Any) -> str:
    """Return the message of a usage error, with the refused value where there is one."""
    message, cause = str(error.format_message()), error.__cause__
    if type(cause).__name__ != "ValidationError":  # of pydantic, which is slow to import
        return message
    from evroute.validation.invalid import first_problem

    start = message.partition(": ")[0].removeprefix("Invalid value for ")
    return first_problem(cause).replace("value", start.strip("'"), 1)


def _fail(message: str, status: int) -> None:
    line = escaped(" ".join(message.splitlines()))
    print(f"evroute: {cut(line, SHOWN_CHARACTERS)}", file=sys.stderr)
    sys.exit(status)
