"""TOML files of users: vehicles, worlds, bandits and experiments."""

from pathlib import Path
from typing import Any

from evroute import limits
from evroute.errors import EvrouteError


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Read a TOML file. ``kind`` names its kind in messages, such as ``vehicle file``.

    Raises
    ------
    EvrouteError
        If it does not exist, is not TOML, or is too large or nested too deep.
    """
    try:
        return limits.parse_toml(limits.read_text(path, "toml_mb"), f"{kind} {path}")
    except FileNotFoundError:
        raise EvrouteError(f"{kind} {path} does not exist") from None
    except ValueError as error:
        raise EvrouteError(f"{kind} {path} is not TOML: {error}") from None
