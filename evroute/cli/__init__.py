"""The command line ``evroute``: each command parses, calls one library function and prints.

numpy and all packages that need it are imported inside the commands, so that ``evroute --help``
stays instant.
"""

import os
import sys
import traceback
from typing import Annotated, Any

import typer

from evroute import __version__
from evroute.cli import (
    bandit,
    learn,
    method,
    network,
    reach,
    report,
    route,
    serve,
    simulate,
    vehicle,
)
from evroute.errors import EvrouteError
from evroute.text import UNPRINTABLE

app = typer.Typer(
    name="evroute",
    help="Energy-efficient routes for electric cars, learned from the trips that were driven.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time of --help
    add_completion=False,
)
app.add_typer(network.app, name="network")
app.add_typer(vehicle.app, name="vehicle")
app.add_typer(method.app, name="method")
app.command()(route.route)
app.command("range")(reach.reach)
app.command()(simulate.simulate)
app.command()(bandit.bandit)
app.command()(learn.learn)
app.command()(report.report)
app.command()(serve.app)
app.command()(serve.serve)

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
) -> None:
    """Energy-efficient routes for electric cars, learned from the trips that were driven."""


def main() -> None:
    """Run the command line.

    A user error is one line on stderr and exit status 2. An internal error is one line and exit
    status 70, after its traceback if ``EVROUTE_DEBUG`` is 1.
    """
    try:
        sys.exit(app(standalone_mode=False))
    except _USAGE_ERROR as error:
        message = _with_value(error)
        if message.startswith("Usage:"):  # a group without a command answers with its help
            print(message, file=sys.stderr)
            sys.exit(2)
        _fail(" ".join(message.split()), 2)
    except EvrouteError as error:
        _fail(str(error), 2)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        _fail(f"{error.strerror or error}{where}", 2)
    except (KeyboardInterrupt, typer.Abort):
        _fail("interrupted", 130)
    except Exception as error:
        if os.environ.get("EVROUTE_DEBUG") == "1":
            traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        _fail(f"internal error; EVROUTE_DEBUG=1 shows its traceback: {reason}", 70)


def _with_value(error: Any) -> str:
    """Return the message of a usage error, with the refused value where there is one."""
    message, cause = str(error.format_message()), error.__cause__
    if type(cause).__name__ != "ValidationError":  # of pydantic, which is slow to import
        return message
    from evroute.invalid import first_problem

    start = message.partition(": ")[0].removeprefix("Invalid value for ")
    return first_problem(cause).replace("value", start.strip("'"), 1)


def _fail(message: str, status: int) -> None:
    line = UNPRINTABLE.sub("\ufffd", " ".join(message.splitlines()))
    line = line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}..."
    print(f"evroute: {line}", file=sys.stderr)
    sys.exit(status)
