"""What planning on a belief would save on trips that were driven, as the belief itself expects.

Energies of routes share edges and learned errors, so the interval is that of one weighted sum over all edges under
the joint posterior; the noise of single trips is left out. It holds as far as the belief does: what nobody has driven
rests on eq. 8 and the kernel.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasJoint
from evroute.planning.forecast import INTERVAL_LEVEL
from evroute.planning.weights import potential
from evroute.simulation.setting import Setting


@dataclass(frozen=True, slots=True)
class Saving:
    """What the belief's routes are expected to take less than others, in all, Wh.

    std_wh: its standard deviation under the belief.  other_wh: what the others are expected to take.
    """

    mean_wh: float
    std_wh: float
    other_wh: float

    def __str__(self) -> str:
        half = float(ndtri(0.5 + INTERVAL_LEVEL / 2)) * self.std_wh
        share = [each / abs(self.other_wh) for each in (self.mean_wh, self.mean_wh - half, self.mean_wh + half)]
        return (
            f"{self.mean_wh / 1000:.2f} kWh, {share[0]:.1%} ({INTERVAL_LEVEL:.0%}: {share[1]:.1%} to {share[2]:.1%})"
        )


def savings(model: EnergyModel, driven: Iterable[Route], setting: Setting) -> dict[str, Saving]:
    """Return what the belief's routes between the ends of trips save against ``driven`` and against ``eq8``'s routes.

    Trips that end where they begin are left out. Nothing is returned for a model without a joint posterior.
    """
    routes = [route for route in driven if route.edges[0] != route.edges[-1]]
    if not isinstance(model, HasJoint) or not routes:
        return {}
    mean_wh = model.posterior(setting.arms).mean_wh
    own = _planned(mean_wh, routes, setting)
    others = {"driven": routes, "eq8": _planned(setting.prior.mean_wh, routes, setting)}
    return {name: _saving(model, own, other, mean_wh, setting) for name, other in others.items()}


def _planned(energy_wh: FloatArray, routes: Iterable[Route], setting: Setting) -> list[Route]:
    weights = potential(energy_wh, np.zeros(len(energy_wh)), setting.potential_wh)
    ends = [(route.edges[0], route.edges[-1]) for route in routes]
    found = {pair: setting.search.route(weights, *pair) for pair in set(ends)}
    return [found[pair] for pair in ends]


def _saving(model: HasJoint, own: list[Route], other: list[Route], mean_wh: FloatArray, setting: Setting) -> Saving:
    n_edges = setting.network.n_edges
    counts = [np.bincount(np.concatenate([route.rows for route in each]), minlength=n_edges) for each in (own, other)]
    difference = (counts[1] - counts[0]).astype(float)
    touched = np.flatnonzero(difference)
    weight = difference[touched]
    variance = float(weight @ model.covariance(setting.arms.take(touched)) @ weight) if len(touched) else 0.0
    return Saving(float(difference @ mean_wh), max(variance, 0.0) ** 0.5, float(counts[1] @ mean_wh))
