"""A case of hostile input: the command that reads it; and the list of all kinds."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from numpy.random import Generator

T = TypeVar("T")
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Command:
    """Arguments of ``evroute``, changes of the environment, and the behaviour of any server."""

    arguments: list[str]
    environ: dict[str, str] = field(default_factory=dict)
    server: str = ""

    def write(self, folder: Path) -> None:
        (folder / "command.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> "Command":
        return cls(**json.loads((folder / "command.json").read_text()))


Kind = Callable[[Path, Generator], Command]
KINDS: dict[str, Kind] = {}
"""Functions that write files into a folder and return the command that reads them."""


def kind(make: Kind) -> Kind:
    """Add a function to `KINDS`."""
    KINDS[make.__name__] = make
    return make


def one(rng: Generator, choices: Sequence[T]) -> T:
    """Return one of several choices."""
    return choices[int(rng.integers(len(choices)))]


def nested(rng: Generator, opening: str = "[", closing: str = "]") -> str:
    """Return brackets that are nested too deep, closed or not."""
    depth = int(rng.integers(101, 200_000))
    return opening * depth + closing * (depth if rng.random() < 0.5 else 0)


def large(rng: Generator, least_mb: float, most_mb: float) -> int:
    """Return a number of bytes; halving it is as likely anywhere between the two."""
    return int(MB * least_mb * (most_mb / least_mb) ** rng.random())
