"""Terminal output of the commands: text from data is no markup, so ``[/b]`` in a name is shown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def plain_console(*, stderr: bool = False, highlight: bool = True) -> "Console":
    """Return a console of rich that shows ``[...]`` and ``:...:`` as they are."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=highlight, markup=False, emoji=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    texts: int | None = None,
) -> None:
    """Print a table; its first column is not wrapped.

    Parameters
    ----------
    columns
        Headings; all empty for a table without headings.
    rows
        Cells of each row.
    title
        Line above the table.
    texts
        Number of columns of text, in front of columns of numbers; None for text alone.
    """
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.table import Table

    narrow = texts is not None
    table = Table(
        title=title,
        show_header=any(columns),
        box=SIMPLE_HEAD if narrow else HEAVY_HEAD,
        pad_edge=not narrow,
        collapse_padding=narrow,
    )
    for k, column in enumerate(columns):
        of_numbers = texts is not None and k >= texts
        table.add_column(
            column,
            justify="right" if of_numbers else "left",
            no_wrap=narrow or not k,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*row)
    plain_console().print(table)
