"""The driver's profile: a file with car, city, habits of charging, home, price and last places.

``profile.json`` lies in the user's configuration folder, or at ``EVROUTE_PROFILE``. Only its user
can read it. A writer takes a lock, reads the file, changes its own fields and replaces the file, so
that two tabs lose nothing of each other. A damaged file is set aside under another name.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock, Timeout
from lan import check_write

from evroute.errors import EvrouteError
from evroute.files import inside, replacing
from evroute.limits import parse_json, read_text

VARIABLE = "EVROUTE_PROFILE"
VERSION = 1
MOST_PLACES = 20
LONGEST = 2000
"""Greatest number of characters of a text."""
DEFAULT_NETWORK = "denver"
"""Network of a driver without a profile."""
MODE = 0o600
WAIT_S = 5.0
"""Longest wait for another writer, s."""
Value = str | int | float | bool


@dataclass(frozen=True)
class Profile:
    """Remembered inputs of a driver.

    Parameters
    ----------
    inputs
        Values of inputs by name, such as ``vehicle`` and ``soc``.
    home
        Place of the home by network.
    places
        Network and text of the last places, the newest first.
    """

    inputs: Mapping[str, Value] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    places: tuple[tuple[str, str], ...] = ()

    def with_inputs(self, changes: Mapping[str, Value]) -> "Profile":
        """Return the profile with changed inputs. The others stay as they are."""
        return replace(self, inputs={**self.inputs, **changes})

    def with_home(self, network: str, place: str) -> "Profile":
        """Return the profile with a home on a network. An empty text removes it."""
        home = {name: each for name, each in self.home.items() if name != network}
        return replace(self, home=home | ({network: place} if place else {}))

    def with_places(self, network: str, places: Iterator[str] | list[str]) -> "Profile":
        """Return the profile with further last places, each once, at most `MOST_PLACES`."""
        newest = [(network, place) for place in places if place]
        known = [each for each in self.places if each not in newest]
        return replace(self, places=tuple([*dict.fromkeys(newest), *known][:MOST_PLACES]))

    def recent(self, network: str) -> list[str]:
        """Return the last places on a network, the home first."""
        last = [place for name, place in self.places if name == network]
        home = [self.home[network]] if network in self.home else []
        return list(dict.fromkeys([*home, *last]))


def path() -> Path:
    """Return the path of the profile."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_config_path("evroute") / "profile.json"


def _checked(name: str) -> Path:
    """Return the path of a file beside the profile. EvrouteError for a link to another folder."""
    return inside(path().parent, name)


def exists() -> bool:
    """Return True if there is a profile."""
    return path().exists()


def load() -> tuple[Profile, str]:
    """Return the profile, and a sentence if it cannot be read. An empty one where there is none.

    A damaged file is set aside. A file of a later version stays where it is.
    """
    try:
        return _read(), ""
    except FileNotFoundError:
        return Profile(), ""
    except (OSError, EvrouteError) as error:
        return Profile(), f"the profile cannot be read ({_line(error)}). Nothing is remembered"
    except ValueError:
        return _mended()


def glance() -> Profile:
    """Return the profile, or an empty one if it cannot be read. A damaged file stays as it is."""
    try:
        return _read()
    except (OSError, ValueError, EvrouteError):
        return Profile()


def _mended() -> tuple[Profile, str]:
    """Set a damaged profile aside, unless another tab did so meanwhile."""
    try:
        with _locked():
            try:
                return _read(), ""
            except ValueError as error:
                return Profile(), _set_aside(error)
    except FileNotFoundError:
        return Profile(), ""
    except (OSError, EvrouteError) as error:
        return Profile(), f"the profile is damaged and cannot be set aside ({_line(error)})"


def change(made: Callable[[Profile], Profile]) -> str:
    """Change the profile on the disk, and return a sentence if that failed.

    Parameters
    ----------
    made
        Returns the changed profile, from the one on the disk.
    """
    try:
        with _locked():
            note = ""
            try:
                old = _read()
            except FileNotFoundError:
                old = Profile()
            except ValueError as error:
                old = Profile()
                note = _set_aside(error)
            _write(made(old))
            return note
    except (OSError, EvrouteError) as error:
        return f"nothing can be remembered: {_line(error)}"


def forget() -> None:
    """Delete the profile, and damaged ones that were set aside.

    Raises
    ------
    OSError
        If the files cannot be deleted.
    EvrouteError
        If another process writes the profile for longer than `WAIT_S`.
    """
    with _locked():
        for each in [path(), *path().parent.glob(f"{path().name}.damaged-*")]:
            each.unlink(missing_ok=True)


def _read() -> Profile:
    """Read the profile. Raise ValueError if it is damaged."""
    content = parse_json(read_text(_checked(path().name), "json_mb"), str(path()))
    if not isinstance(content, dict):
        raise ValueError("it holds no table")
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        raise EvrouteError(f"{path()} is of version {version}. This evroute reads {VERSION}")
    if version != VERSION:
        raise ValueError(f"its version is {version!r:.40}")
    inputs = {str(name): value for name, value in _table(content, "inputs").items()}
    if not all(isinstance(value, Value) for value in inputs.values()):
        raise ValueError("an input is no text or number")
    home = _table(content, "home")
    places = content.get("places", [])
    pairs = isinstance(places, list) and all(_is_pair(each) for each in places)
    if not pairs or not all(_is_text(place) for place in home.values()):
        raise ValueError("a place is no text")
    return Profile(inputs, home, tuple((name, place) for name, place in places))


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"its {name} are no table")
    return table


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_text, value))


def _write(profile: Profile) -> None:
    content = {
        "version": VERSION,
        "inputs": dict(profile.inputs),
        "home": dict(profile.home),
        "places": [list(each) for each in profile.places],
    }
    with replacing(_checked(path().name), mode=MODE) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")


def _set_aside(error: Exception) -> str:
    """Rename a damaged profile, and return the sentence on it."""
    aside = path().with_name(f"{path().name}.damaged-{datetime.now():%Y%m%d-%H%M%S-%f}")
    path().rename(aside)
    return f"the profile was damaged ({_line(error)}) and was set aside as {aside}"


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the lock of the profile.

    Raises
    ------
    EvrouteError
        If another process keeps it, or this tab may not write it.
    """
    check_write()
    path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with FileLock(_checked(f".{path().name}.lock"), timeout=WAIT_S):
            yield
    except Timeout:
        raise EvrouteError(f"another process keeps {path()}") from None
