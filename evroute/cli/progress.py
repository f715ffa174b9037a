"""Progress on stderr: a bar on a terminal, else a line a minute, such as in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

LINE_EVERY_S = 60.0

Report = Callable[[str, int, int | None], None]
"""Called with the name of the counted things, the number done, and the total if known."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Yield a progress callback; the bar is removed on failure."""
    if quiet:
        yield lambda name, done, total: None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _lines()


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("preparing", total=None)
        try:
            yield lambda name, done, total: bar.update(
                task, description=name, completed=done, total=total
            )
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
