"""Colours of the routes of a plan, and classes of a quantity with their colours and legend.

All are distinct for colour-blind readers. The orange-brown series is ColorBrewer's YlOrBr with a
blue for values below zero and a teal for the regeneration of a route. Visits take steps of viridis.
Both darken with the quantity, so that they survive a print in grey.
"""

from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from evroute.arrays import FloatArray, IntArray

_ALTERNATIVES = [f"alternative-{rank}" for rank in range(1, 6)]
_BLUES = ("#56b4e9", "#0072b2", "#26306e", "#a9c4de", "#767676")
ROUTE_COLOURS = {
    "energy": "#222222",
    "time": "#cc79a7",
    "distance": "#009e73",
    "time-without-stop": "#009e73",
    "energy-limited": "#d55e00",
    "recommended": "#e69f00",
    "cost": "#d55e00",
    **dict(zip(_ALTERNATIVES, _BLUES, strict=True)),
}
ROUTE_DASHES = {
    "energy": (1, 0),
    "time": (6, 3),
    "distance": (2, 3),
    "time-without-stop": (2, 3),
    "energy-limited": (8, 2),
    "recommended": (10, 3),
    "cost": (8, 2),
    **dict.fromkeys(_ALTERNATIVES, (4, 2)),
}


def route_style(name: str, recommended: str) -> tuple[str, tuple[int, int]]:
    """Return colour and dashes of a row. The recommended row changes place with ``energy``."""
    own = {recommended: "energy", "energy": recommended}.get(name, name)
    return ROUTE_COLOURS[own], ROUTE_DASHES[own]


PART_COLOURS = {
    "climb": "#0072b2",
    "rolling": "#779900",
    "drag": "#56b4e9",
    "auxiliary": "#cc79a7",
    "warm-up": "#444400",
    "turning": "#f0e442",
    "lost": "#ccddaa",
    "learned": "#4411ee",
    "held": "#444444",
}
"""Colours of the parts of a route's energy, none of them near one of `ENERGY_CLASSES`."""

_BELOW_ZERO = "#2b6cb0"
_RISING = ("#fdbe6f", "#f98a1c", "#cc4c02", "#7a2c04")
CHARGE_COLOURS = ("#9e0d20", "#e8602c", "#f5c04a", "#8fd17a", "#159a8c")
"""Colours of a charge, from the least to the most."""
VISIT_COLOURS = ("#a2cf4a", "#4bb37b", "#26838f", "#3d4e8a", "#440f54")
_NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0)


@dataclass(frozen=True, slots=True)
class Classes:
    """Classes of a quantity: class i holds ``breaks[i - 1] <= value < breaks[i]``.

    The first and the last class are open.  title: the quantity with its unit.  labels, colours: one
    per class, one more than breaks.
    """

    title: str
    breaks: tuple[float, ...]
    labels: tuple[str, ...]
    colours: tuple[str, ...]

    def of(self, values: FloatArray) -> IntArray:
        """Return the class (k,) of each of the values (k,)."""
        return np.searchsorted(self.breaks, values, side="right")

    def legend_html(self) -> str:
        """Return the legend as HTML with inline styles. Its entries wrap."""
        entry = (
            '<span style="display:inline-block;white-space:nowrap;margin-right:14px">'
            '<span style="display:inline-block;width:22px;height:8px;background:{};'
            'margin-right:6px"></span>{}</span>'
        )
        entries = (
            entry.format(colour, escape(label))
            for colour, label in zip(self.colours, self.labels, strict=True)
        )
        title = f'<b style="display:inline-block;min-width:10em">{escape(self.title)}</b>'
        return f"<div>{title} {' '.join(entries)}</div>"


ENERGY_CLASSES = Classes(
    "Wh per km",
    (0.0, 200.0),
    ("regenerates", "0 to 200", "from 200"),
    ("#1b9e94", "#fdbe6f", "#cc4c02"),
)
"""Energy per distance of a route: one scale for all plans."""


def value_classes(title: str, values: FloatArray) -> Classes:
    """Choose round classes for any quantity, blue below zero.

    Parameters
    ----------
    title
        The quantity with its unit.
    values
        (k,) values. Those that are not finite are left out. The middle classes hold most of them.
    """
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() < 0:
        step = _nice(float(np.quantile(np.abs(finite), 0.9)) / 2) if np.any(finite) else 1.0
        breaks: tuple[float, ...] = (-2 * step, -step, 0.0, step, 2 * step)
        colours: tuple[str, ...] = (
            "#08306b",
            _BELOW_ZERO,
            "#9ecae1",
            _RISING[0],
            _RISING[2],
            _RISING[3],
        )
    else:
        low, high = np.quantile(finite, [0.05, 0.95]) if len(finite) else (0.0, 1.0)
        step = _nice(max(float(high - low), 1e-9) / 4)
        first = max(step, float(np.ceil(low / step)) * step)
        breaks = tuple(first + k * step for k in range(4))
        colours = ("#ffffcc", *_RISING)
    between = tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(breaks))
    labels = (f"below {breaks[0]:.4g}", *between, f"{breaks[-1]:.4g} and more")
    return Classes(title, breaks, labels, colours)


def visit_classes(most: int) -> Classes:
    """Choose classes in geometric steps for counts from 1 to ``most``."""
    steps = np.unique(np.round(np.geomspace(1, max(most, 1), len(VISIT_COLOURS) + 1)).astype(int))
    starts = [int(s) for s in (steps if len(steps) <= len(VISIT_COLOURS) else steps[:-1])]
    ends = [*(s - 1 for s in starts[1:]), max(most, 1)]
    labels = tuple(
        f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in zip(starts, ends, strict=True)
    )
    colour = np.linspace(0, len(VISIT_COLOURS) - 1, len(starts)).round().astype(int)
    return Classes(
        "times driven",
        tuple(map(float, starts[1:])),
        labels,
        tuple(VISIT_COLOURS[k] for k in colour),
    )


def _nice(value: float) -> float:
    """Return the round number nearest to a positive value, on a log scale."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * min(_NICE, key=lambda nice: abs(np.log(nice * power / value))))
