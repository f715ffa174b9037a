"""Progress of long work on stderr: a bar on a terminal, a line a minute elsewhere, such as in a log file."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

LINE_EVERY_S = 60.0

Report = Callable[[str, int, int | None], None]
"""Hears what is being counted, how many of it are done, and of how many, if that is known."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Yield what is to hear of the progress; nothing of it stays to be seen when the work fails."""
    if quiet:
        yield lambda what, done, total: None
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
            yield lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            )
        except BaseException:
            bar.live.transient = True  # the one line that tells what was wrong stands alone
            raise


def _lines() -> Report:
    started_s = told_s = monotonic()
    first: int | None = None

    def report(what: str, done: int, total: int | None) -> None:
        nonlocal told_s, first
        now_s = monotonic()
        if first is None:
            first = (
                done  # what an earlier run had done already says nothing of the time this one takes
            )
        if now_s - told_s < LINE_EVERY_S and done != total:
            return
        told_s, line = now_s, f"{what}: {done:,}"
        if total is not None:
            line += f" of {total:,}"
        if total is not None and first < done < total:
            line += f", about {(now_s - started_s) * (total - done) / (done - first) / 60:.0f} minutes left"
        print(line, file=sys.stderr, flush=True)

    return report
