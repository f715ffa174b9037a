"""Terminal output of the commands: text from data is no markup, so ``[/b]`` in a name is shown."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(*, stderr: bool = False, highlight: bool = True) -> "Console":
    """Return a console of rich that shows ``[...]`` and ``:...:`` as they are."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=highlight, markup=False, emoji=False)
