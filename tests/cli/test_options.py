"""Every option of every command, with ``--version``; arguments without a name are none."""

import typer
from typer.main import get_command, get_group

from evroute.cli import COMMANDS, app, load

MOST_OPTIONS = 99


def options_of(command: object) -> list[str]:
    """Return the options of a command, or of all commands of a group."""
    found = [p.opts[0] for p in command.params if p.param_type_name == "option"]
    for each in getattr(command, "commands", {}).values():
        found += options_of(each)
    return found


def test_there_are_at_most_99_public_options() -> None:
    count = len([p for p in get_command(app).params if p.param_type_name == "option"])
    for name in COMMANDS:
        found, single = load(name), typer.Typer()
        if isinstance(found, typer.Typer):
            single.add_typer(found, name=name)
        else:
            single.command(name)(found)
        count += len(options_of(get_group(single).commands[name]))
    assert count <= MOST_OPTIONS
