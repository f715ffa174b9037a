"""Moments of measured trips, each from the trips before it, on the exact model of edges in blocks.

A block takes the joint posterior of its edges once. Each trip is predicted from it and then
conditions it, so the predictions are the same as trip after trip. The model learns the block at
once: an edge that several of its trips pass is then one edge.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from evroute.arms import Arms, Feedback
from evroute.model.exact import ExactGP

BLOCK = 64
"""Number of trips learned at once. The rest of a log is learned trip by trip."""


def learn_block(
    model: ExactGP, reference: Arms, feedback: Sequence[Feedback]
) -> list[tuple[float, float]]:
    """Learn one block, and return mean and deviation of each trip's energy before it, Wh.

    Parameters
    ----------
    model
        Model of the edges.
    reference
        All edges in free flow.
    feedback
        Trips by edges, in free flow.
    """
    edge, energy_wh, prior_mean_wh, features = (
        np.concatenate([getattr(each, name) for each in feedback])
        for name in ("id", "energy_wh", "prior_mean_wh", "features")
    )
    driven, place = np.unique(edge, return_inverse=True)
    arms = reference.take(driven)
    mean_wh, covariance = model.posterior(arms).mean_wh.copy(), model.covariance(arms)
    noise_variance = model.noise_std(arms) ** 2
    moments = []
    for trip, at in zip(
        feedback, np.split(place, np.cumsum([len(trip.id) for trip in feedback])[:-1]), strict=True
    ):
        joint = covariance[np.ix_(at, at)] + np.diag(noise_variance[at])
        off_wh = trip.energy_wh - mean_wh[at]
        moments.append((float(mean_wh[at].sum()), float(np.sqrt(joint.sum()))))
        gain = cho_solve(cho_factor(joint, lower=True), covariance[at]).T
        mean_wh += gain @ off_wh
        covariance -= gain @ covariance[at]
    model.update(Feedback(edge, features, prior_mean_wh, energy_wh))
    return moments
