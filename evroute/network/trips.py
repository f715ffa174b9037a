"""Named trips shipped with evroute: origin and destination edges (``data/trips.toml``)."""

import tomllib
from dataclasses import dataclass

from evroute.resources import data_path


@dataclass(frozen=True, slots=True)
class Trip:
    """A named request: drive from edge id ``origin`` to edge id ``destination``."""

    name: str
    origin: str
    destination: str


def load_trips(network_name: str) -> dict[str, Trip]:
    """Return the named trips of a network, by name; empty if it has none."""
    listed = tomllib.loads(data_path("trips.toml").read_text(encoding="utf-8"))
    return {
        name: Trip(name, ends["from"], ends["to"])
        for name, ends in listed.get(network_name, {}).items()
    }
