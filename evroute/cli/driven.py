"""``evroute route --driven``: what is left of a plan, by the drive so far."""

import time
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import typer

from evroute.cli.shared import refuse
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, LimitError
from evroute.planning.plan import Plan

MOST_MB = 64
"""Largest file that is followed, MB."""
LOOK_S = 1.0
"""Time between two looks at a file that grows, s."""


@dataclass(frozen=True, slots=True)
class Drive:
    """Values of ``--driven`` and ``--follow``."""

    path: Path | None
    follow: bool

    def check(self, *, with_tables: bool, with_files: bool) -> None:
        """Refuse options that do not go together.

        Raises
        ------
        EvrouteError
            If they do not.
        """
        refuse(
            (
                self.path and with_tables,
                "--driven goes with one plan, not with --batch or --matrix",
            ),
            (
                self.path and with_files,
                "--driven writes no --geojson, --gpx or --map of the plan",
            ),
            (self.follow and not self.path, "--follow goes with --driven"),
        )

    def show(self, plan: Plan, vehicle: Vehicle, *, json: bool) -> None:
        """Print what is left of a plan, once or whenever the file has grown.

        Parameters
        ----------
        plan
            The plan.
        vehicle
            The car.
        json
            Whether to print a line of JSON.

        Raises
        ------
        EvrouteError
            If the file cannot be read, or nothing of the plan is left.
        LimitError
            If it is larger than `MOST_MB`.
        """
        from evroute.learning.readers.drive_so_far import read_drive

        path = self.path
        assert path is not None, "there is a drive"

        def show() -> None:
            left = plan.after(read_drive(path, plan.roads, vehicle))
            document = dumps(left.document(), ensure_ascii=False)
            typer.echo(document if json else "\n".join(left.sentences))

        if not self.follow:
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
