"""Learn measured trips one after the other, on the exact model of edges in blocks.

A block takes the joint posterior of its edges once. Each trip is predicted from it and then
conditions it, so the predictions are those of trip after trip. The model learns the block at once:
an edge that several of its trips pass is then one edge.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from evroute.arms import Feedback
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.model.exact import ExactGP
from evroute.planning.spaces.edge_space import EdgeSpace

BLOCK = 64
"""Number of trips learned at once; the rest of a log is learned trip by trip."""


def learn_in_turn(
    learner: LearnedBelief | TripEnergies, trips: Sequence[MeasuredTrip]
) -> Iterator[dict[str, Any]]:
    """Learn trips and yield the prediction of each from the trips before it (`expected`)."""
    done = 0
    if (
        isinstance(learner, LearnedBelief)
        and isinstance(learner.model, ExactGP)
        and isinstance(learner.space, EdgeSpace)
    ):
        done = len(trips) // BLOCK * BLOCK
        for start in range(0, done, BLOCK):
            yield from _learn_block(learner, learner.model, trips[start : start + BLOCK])
    for trip in trips[done:]:
        row = learner.expected(trip)
        learner.learn(trip, row)
        yield row


def _learn_block(
    learner: LearnedBelief, model: ExactGP, trips: Sequence[MeasuredTrip]
) -> list[dict[str, float]]:
    """Learn one block and return the prediction of each of its trips."""
    feedback = [trip.feedback(learner.setting) for trip in trips]
    edge, energy_wh, prior_mean_wh, features = (
        np.concatenate([getattr(each, name) for each in feedback])
        for name in ("id", "energy_wh", "prior_mean_wh", "features")
    )
    driven, place = np.unique(edge, return_inverse=True)
    arms = learner.space.reference.take(driven)
    mean_wh, covariance = model.posterior(arms).mean_wh.copy(), model.covariance(arms)
    noise_variance = model.noise_std(arms) ** 2
    rows = []
    for trip, at in zip(
        trips, np.split(place, np.cumsum([len(trip.edge) for trip in trips])[:-1]), strict=True
    ):
        joint = covariance[np.ix_(at, at)] + np.diag(noise_variance[at])
        off_wh = trip.energy_wh - mean_wh[at]
        row = learner.prediction(float(mean_wh[at].sum()), float(np.sqrt(joint.sum())))
        rows.append(row)
        learner.learn_around(trip, row)
        gain = cho_solve(cho_factor(joint, lower=True), covariance[at]).T
        mean_wh += gain @ off_wh
        covariance -= gain @ covariance[at]
    model.update(Feedback(edge, features, prior_mean_wh, energy_wh))
    return rows
