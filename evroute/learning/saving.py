"""What planning on a belief would save on trips that were driven, as the belief itself expects.

Energies of routes share edges and learned errors, so the interval is that of one weighted sum over
all edges under the joint posterior; the noise of single trips is left out. It holds as far as the
belief does: what nobody has driven rests on eq. 8 and the kernel.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evroute.arms import Arms, Round, Route
from evroute.arrays import FloatArray
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, HasJoint
from evroute.planning.arm_space import ArmSpace, EdgeArms
from evroute.planning.forecast import INTERVAL_LEVEL
from evroute.planning.turn_belief import TurnBelief
from evroute.planning.weights import potential


@dataclass(frozen=True, slots=True)
class Saving:
    """What the belief's routes are expected to take less than others, in all, Wh.

    std_wh: its standard deviation under the belief.  other_wh: what the others are expected to
    take.
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
        return f"{self.mean_wh / 1000:.2f} kWh, {share[0]:.1%} ({INTERVAL_LEVEL:.0%}: {share[1]:.1%} to {share[2]:.1%})"


def savings(model: EnergyModel, driven: Iterable[Route], setting: Setting) -> dict[str, Saving]:
    """Return what the belief's routes between the ends of trips save against ``driven`` and against ``eq8``'s routes.

    Trips that end where they begin are left out. Nothing is returned for a model without a joint
    posterior.
    """
    routes = [route for route in driven if route.edges[0] != route.edges[-1]]
    learner, space = about(model, setting)
    if not isinstance(learner, HasJoint) or not routes:
        return {}
    requests = [Round(1, setting.arms, route.edges[0], route.edges[-1]) for route in routes]
    arms = space.arms(requests[0])
    mean_wh = learner.posterior(arms).mean_wh
    own = _planned(mean_wh, requests, space)
    on_edges = EdgeArms(setting.search, setting.potential_wh)
    others = {"driven": routes, "eq8": _planned(setting.prior.mean_wh, requests, on_edges)}
    counts = {
        name: _counts(each, requests, space, len(arms))
        for name, each in {"own": own, **others}.items()
    }
    return {name: _saving(learner, arms, counts["own"], counts[name], mean_wh) for name in others}


def about(model: EnergyModel, setting: Setting) -> tuple[EnergyModel, ArmSpace]:
    """Return the model inside a belief about turns and how its arms follow from edges, or of edges as they are."""
    if isinstance(model, TurnBelief):
        return model.model, model.space
    return model, EdgeArms(setting.search, setting.potential_wh)


def _planned(energy_wh: FloatArray, requests: Iterable[Round], space: ArmSpace) -> list[Route]:
    found: dict[tuple[int, int], Route] = {}
    routes = []
    for request in requests:
        ends = request.origin, request.destination
        if ends not in found:
            weights = potential(energy_wh, np.zeros(len(energy_wh)), space.potential_wh(request))
            found[ends] = space.route(weights, request)
        routes.append(found[ends])
    return routes


def _counts(routes: list[Route], requests: list[Round], space: ArmSpace, n_arms: int) -> FloatArray:
    """Return how often the routes pass each arm, (a,)."""
    passed = [
        space.arms_of_route(request, route) for route, request in zip(routes, requests, strict=True)
    ]
    return np.bincount(np.concatenate(passed), minlength=n_arms).astype(float)


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
