"""Layers of the map on page Plan by name.

A layer is a value `Layer` in a file of this folder. The map's box of layers shows and hides it. Its
name is a key of the session, a parameter of the page address and an attribute of the map, so it is
one word in lower case.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name

from evroute.arrays import FloatArray
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.report.colours import Classes

LAYERS = {
    "range": "layers.reach:LAYER",
    "stations": "layers.stations:LAYER",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Contents of a layer: roads coloured by a quantity, points, or both.

    Parameters
    ----------
    words
        A sentence beside the map, without its full stop. Empty for none.
    values
        (n,) quantity of each edge. Edges of NaN are left out.
    classes
        Classes of the quantity, with their colours, or None if no road is coloured.
    points
        Latitude, longitude and text of each point.
    mark
        Label of the points in the legend, or empty without points.
    """

    words: str = ""
    values: FloatArray | None = None
    classes: Classes | None = None
    points: Sequence[tuple[float, float, str]] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """Inputs of a plan that layers depend on: origin (empty if missing), charge, risk."""

    origin: str
    battery: Battery
    risk: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of the map.

    Parameters
    ----------
    label
        Its name in the box of layers.
    draw
        Returns the contents for the inputs of a plan and their planner. It raises an
        `EvrouteError` if there are none.
    depends
        Returns the inputs on which the contents depend. They are drawn again once these change.
        They always depend on the planner.
    """

    label: str
    draw: Callable[[Asked, Planner], Drawn]
    depends: Callable[[Asked], Hashable] = lambda asked: None


def layer_named(name: str) -> Layer:
    """Return a layer of `LAYERS`."""
    return resolve_name(LAYERS[name])
