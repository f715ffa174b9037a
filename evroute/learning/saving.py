"""Energy that planning on a belief would save on the trips that were driven, by the belief itself.

Energies of routes share edges and learned errors, so the interval is that of one weighted sum over
all arms under the joint posterior; the noise of single trips is left out. It holds as far as the
belief does: the energy of edges that nobody has driven rests on eq. 8 and the kernel.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evroute.arms import Arms, Round, Route
from evroute.arrays import FloatArray
from evroute.learning.learned_belief import LearnedBelief
from evroute.model.base import HasJoint
from evroute.planning.arm_space import ArmSpace, least_energy_route
from evroute.planning.forecast import INTERVAL_LEVEL


@dataclass(frozen=True, slots=True)
class Saving:
    """Expected saving of the belief's routes over others, in all.

    Parameters
    ----------
    mean_wh, std_wh
        Mean and standard deviation of the saving under the belief, Wh.
    other_wh
        Expected energy of the other routes, Wh.
    """

    mean_wh: float
    std_wh: float
    other_wh: float

    def __str__(self) -> str:
        half = float(ndtri(0.5 + INTERVAL_LEVEL / 2)) * self.std_wh
        share = [
            each / abs(self.other_wh)
            for each in (self.mean_wh, self.mean_wh - half, self.mean_wh + half)
        ]
        interval = f"{INTERVAL_LEVEL:.0%}: {share[1]:.1%} to {share[2]:.1%}"
        return f"{self.mean_wh / 1000:.2f} kWh, {share[0]:.1%} ({interval})"


def savings(belief: LearnedBelief, driven: Iterable[Route]) -> dict[str, Saving]:
    """Return the expected savings of the belief's routes between the ends of trips.

    Trips that end where they begin are left out.

    Parameters
    ----------
    belief
        The routes of least energy by this belief are compared.
    driven
        The routes that the trips took.

    Returns
    -------
    dict
        Savings against the routes ``driven`` and against those of ``eq8``; empty for a model
        without a joint posterior.
    """
    model, space = belief.model, belief.space
    routes = [route for route in driven if route.edges[0] != route.edges[-1]]
    if not isinstance(model, HasJoint) or not routes:
        return {}
    edges = space.edges.reference
    requests = [Round(1, edges, route.edges[0], route.edges[-1]) for route in routes]
    arms = space.arms(requests[0])
    mean_wh = model.posterior(arms).mean_wh
    by_eq8 = _planned(space.edges, edges.prior_mean_wh, requests)
    own = _counts(space, _planned(space, mean_wh, requests), arms)
    others = {"driven": _counts(space, routes, arms), "eq8": _counts(space, by_eq8, arms)}
    return {name: _saving(model, arms, own, other, mean_wh) for name, other in others.items()}


def _planned(space: ArmSpace, energy_wh: FloatArray, requests: Iterable[Round]) -> list[Route]:
    found: dict[tuple[int, int], Route] = {}
    routes = []
    for request in requests:
        ends = request.origin, request.destination
        if ends not in found:
            found[ends] = least_energy_route(space, energy_wh, request)
        routes.append(found[ends])
    return routes


def _counts(space: ArmSpace, routes: list[Route], arms: Arms) -> FloatArray:
    """Return how often the routes pass each arm, (a,)."""
    passed = np.concatenate([arms.rows_of(space.arms_of_route(route)) for route in routes])
    return np.bincount(passed, minlength=len(arms)).astype(float)


def _saving(
    model: HasJoint, arms: Arms, own: FloatArray, other: FloatArray, mean_wh: FloatArray
) -> Saving:
    difference = other - own
    touched = np.flatnonzero(difference)
    weight = difference[touched]
    variance = (
        float(weight @ model.covariance(arms.take(touched)) @ weight) if len(touched) else 0.0
    )
    return Saving(float(difference @ mean_wh), max(variance, 0.0) ** 0.5, float(other @ mean_wh))
