"""``evroute route --driven``: what is left of a plan, by the drive so far."""

import time
from json import dumps
from pathlib import Path

import typer

from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, LimitError
from evroute.planning.plan import Plan

MOST_MB = 64
"""Largest file that is followed, MB."""
LOOK_S = 1.0
"""Time between two looks at a file that grows, s."""


def show_driven(plan: Plan, path: Path, vehicle: Vehicle, *, json: bool, follow: bool) -> None:
    """Print what is left of a plan, once or whenever a file has grown.

    Parameters
    ----------
    plan
        The plan.
    path
        File of the drive so far.
    vehicle
        The car.
    json
        Whether to print a line of JSON.
    follow
        Whether to go on until Ctrl-C.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or nothing of the plan is left.
    LimitError
        If it is larger than `MOST_MB`.
    """
    from evroute.learning.readers.drive_so_far import read_drive

    def show() -> None:
        left = plan.after(read_drive(path, plan.roads, vehicle))
        text = dumps(left.document(), ensure_ascii=False) if json else "\n".join(left.sentences)
        typer.echo(text)

    if not follow:
        show()
        return
    seen, said = (-1, -1.0), ""
    while True:
        state = path.stat() if path.is_file() else None
        now = (-1, -1.0) if state is None else (state.st_size, state.st_mtime)
        if state is not None and state.st_size > MOST_MB * 1_000_000:
            raise LimitError(f"{path} has {state.st_size / 1e6:.0f} MB, at most {MOST_MB}")
        if now != seen:
            seen = now
            try:
                show()
            except EvrouteError as error:  # a row that is not written yet, or no fix so far
                if str(error) != said:
                    typer.echo(f"evroute: {error}", err=True)
                said = str(error)
        time.sleep(LOOK_S)
