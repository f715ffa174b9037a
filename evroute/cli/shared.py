"""Options that several commands have, how they are read, and the files that commands write."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evroute.errors import require
from evroute.files import replacing
from evroute.limits import parse_toml
from evroute.optional import check_extra

if TYPE_CHECKING:
    from evroute.experiments.parallel.engine import Engine

Network = Annotated[str, typer.Option(help="A network's name, or a stored .npz file.")]
VehicleName = Annotated[
    str | None,
    typer.Option(
        help="A vehicle of 'evroute vehicle list', or a .toml file. [the belief's, or "
        "nissan-leaf-40]"
    ),
]
Belief = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Plan on the belief that was learned in this folder."),
]
Physics = Annotated[
    str | None,
    typer.Option(
        help="Physics without --belief: driving (kinetic energy, turns, stops, real speeds) or "
        "eq8 (steady speeds at the limits). [driving]"
    ),
]
Run = Annotated[str | None, typer.Option(help="Run of --belief, if the folder has several.")]


def _with_report(path: Path | None) -> Path | None:
    """Return the path of a map if maps can be drawn. Refuse it before any work if not."""
    if path is not None:
        check_extra("report")
    return path


Map = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="FILE.html",
        help="Write a map that needs no internet.",
        callback=_with_report,
    ),
]


Jobs = Annotated[int, typer.Option(min=1, help="Processes. The results do not depend on it.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:8786|local:N",
        help="A Dask scheduler whose workers do the work, or a Dask cluster of N processes, "
        "instead of --jobs, with the same results.",
    ),
]
Mixed = Annotated[
    bool,
    typer.Option(
        "--mixed",
        help="Accept workers of --cluster with other versions or another BLAS: last digits differ.",
    ),
]


@dataclass(frozen=True, slots=True)
class Workers:
    """Values of ``--jobs``, ``--cluster`` and ``--mixed``."""

    jobs: int
    cluster: str | None
    mixed: bool

    @property
    def given(self) -> bool:
        """Whether one of the options was given."""
        return self != Workers(1, None, False)

    @contextmanager
    def engine(self) -> "Iterator[Engine | int]":
        """Yield the engine of a Dask cluster, or the number of processes of this machine.

        Raises
        ------
        EvrouteError
            If the options do not go together, or there is no such cluster.
        """
        refuse(
            (self.cluster is None and self.mixed, "--mixed goes with --cluster"),
            (
                self.cluster is not None and self.jobs != 1,
                "--cluster goes without --jobs: its workers are the processes",
            ),
        )
        if self.cluster is None:
            yield self.jobs
            return
        from evroute.experiments.parallel.dask_cluster import cluster as connected

        with connected(self.cluster) as engine:
            yield replace(engine, mixed=self.mixed)


def refuse(*conflicts: tuple[object, str]) -> None:
    """Raise EvrouteError with the message of the first conflict that there is."""
    for conflict, message in conflicts:
        require(not conflict, message)


def write(path: Path | None, make: Callable[[], Any]) -> None:
    """Write a text, a map, or other content as JSON. Without a path nothing is made."""
    if path is None:
        return
    content = make()
    with replacing(path, follow=True) as temporary:
        if hasattr(content, "save"):
            content.save(str(temporary))
        else:
            temporary.write_text(
                content if isinstance(content, str) else dumps(content), encoding="utf-8"
            )


def parsed_options(given: list[str] | None) -> dict[str, Any]:
    """Return values by name of ``NAME=VALUE``. Written as in TOML or as 'method show' prints it."""
    options: dict[str, Any] = {}
    for option in given or ():
        name, separator, value = option.partition("=")
        require(separator and name, f"--option '{option}' is not NAME=VALUE")
        require(name not in options, f"--option {name} is given twice. Give one value of it")
        value = value.lower() if value in {"True", "False"} else value
        try:
            options[name] = parse_toml(f"value = {value}", f"--option {name}")["value"]
        except ValueError:
            options[name] = value
    return options
