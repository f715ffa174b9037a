"""Terminal output of the commands: tables, and progress on stderr.

Text from data is no markup, so ``[/b]`` in a name is shown as it is. Progress is a bar on a
terminal, and a line a minute elsewhere, such as in a log file.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evroute.cli.terminal import itself
from evroute.text import escaped


class PlainConsole(Console):
    """A console of rich on which texts are neither markup nor signs that steer the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as rich shows it, with escapes (`text.escaped`)."""
        return super().render_str(escaped(text), **options)


def plain_console(*, stderr: bool = False, highlight: bool = True) -> Console:
    """Return a console of rich that shows ``[...]`` and ``:...:`` as they are."""
    return PlainConsole(
        file=itself(sys.stderr if stderr else sys.stdout),
        highlight=highlight,
        markup=False,
        emoji=False,
    )


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    caption: str = "",
    texts: int | None = None,
) -> None:
    """Print a table. Numbers are not wrapped, nor the first column where all columns are text.

    Parameters
    ----------
    columns
        Headings. All empty for a table without headings.
    rows
        Cells of each row.
    title, caption
        Lines above and below the table.
    texts
        Number of columns of text, in front of columns of numbers, or None for text alone.
    """
    narrow = texts is not None
    table = Table(
        title=title,
        caption=caption,
        caption_justify="left",
        show_header=any(columns),
        box=SIMPLE_HEAD if narrow else HEAVY_HEAD,
        pad_edge=not narrow,
        collapse_padding=narrow,
    )
    listed = list(rows)
    for k, column in enumerate(columns):
        numbers = texts is not None and k >= texts
        words = column.split() + [row[k] for row in listed]
        table.add_column(
            column,
            justify="right" if numbers else "left",
            no_wrap=not k and texts is None,
            overflow="fold",
            min_width=max(map(len, words), default=0) if numbers else None,
        )
    for row in listed:
        table.add_row(*row)
    plain_console().print(table)


LINE_EVERY_S = 60.0
SHOWN_EVERY_S = 0.1

Report = Callable[[str, int, int | None], None]
"""Called with the name of the counted things, the number done, and the total if known."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Yield a progress callback. The bar is removed on failure."""
    if quiet:
        yield lambda name, done, total: None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Report]:
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=plain_console(stderr=True),
        auto_refresh=False,  # its thread would keep processes from being forked
    ) as bar:
        task = bar.add_task("preparing", total=None)
        bar.refresh()
        shown_s = -SHOWN_EVERY_S

        def report(name: str, done: int, total: int | None) -> None:
            nonlocal shown_s
            now_s = monotonic()
            due = now_s - shown_s >= SHOWN_EVERY_S
            shown_s = now_s if due else shown_s
            bar.update(task, description=name, completed=done, total=total, refresh=due)

        try:
            yield report
        except BaseException:
            bar.live.transient = True  # keep only the error message
            raise


def _lines() -> Report:
    started_s = printed_s = monotonic()
    first: int | None = None

    def report(name: str, done: int, total: int | None) -> None:
        nonlocal printed_s, first
        now_s = monotonic()
        if first is None:
            first = done  # work of an earlier run does not count in the speed of this one
        if now_s - printed_s < LINE_EVERY_S and done != total:
            return
        printed_s, line = now_s, f"{name}: {done:,}"
        if total is not None:
            line += f" of {total:,}"
        if total is not None and first < done < total:
            left_s = (now_s - started_s) * (total - done) / (done - first)
            line += f", about {left_s / 60:.0f} minutes left"
        print(line, file=sys.stderr, flush=True)

    return report
