"""When a batch closes: bounds on the shrinkage of variances since mean and dictionary were frozen.

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Near-linear Time Gaussian Process
Optimization with Adaptive Batching and Resparsification*, ICML 2020, Lemmas 1 and 3. ``product`` is
Desautels, Krause & Burdick 2014. Each rule bounds ``max_x s_start(x) / s_now(x)``, s the scaled
variance, given the pending pulls of a posterior. A batch continues while the bound is at most a
threshold. "All x" are the reference arms and the arms of the batch.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from evroute.arrays import FloatArray
from evroute.model.sparse.all_edges_cache import AllEdgesCache
from evroute.model.sparse.posterior import SparsePosterior

StopRule = Literal["local", "global", "global-local", "product"]


def global_bound(posterior: SparsePosterior, everywhere: AllEdgesCache) -> float:
    """Return ``1 + sum of the variances at the start`` (Lemma 1)."""
    pulled = np.flatnonzero(posterior.pending)
    return 1.0 + float(posterior.pending[pulled] @ posterior.slot_variance(pulled, pending=False))


def local_bound(posterior: SparsePosterior, everywhere: AllEdgesCache) -> float:
    """Return ``max_x 1 + sum_j k~(x, x_j)² / s(x)`` (Lemma 3).

    Two sums are computed at each x, with the covariance k~ and with its explained part. The larger
    counts. The first alone bounds the ratio only where the unexplained covariance is not negative.
    """
    return 1.0 + max(
        float(np.max(part, initial=0.0)) for part in local_parts(posterior, everywhere)
    )


def local_parts(posterior: SparsePosterior, everywhere: AllEdgesCache) -> list[FloatArray]:
    """Return the local bound minus 1 at the arms of the batch and at all reference arms."""
    pulled = np.flatnonzero(posterior.pending)
    pulls, z = posterior.pending[pulled], posterior.embedding[:, pulled]
    parts = []
    for z_x, prior_x, prior in (
        (z, posterior.prior[pulled], posterior.prior_between(pulled, pulled)),
        (everywhere.embed(), everywhere.prior, everywhere.with_slots(pulled).T),
    ):
        explained = posterior.explained_covariance(z_x, z, pending=False)
        whole = (prior - z_x.T @ z) / posterior.ridge + explained
        larger = np.maximum(whole**2 @ pulls, explained**2 @ pulls)
        parts.append(larger / posterior.variance(z_x, prior_x, pending=False))
    return parts


def product_bound(posterior: SparsePosterior, everywhere: AllEdgesCache) -> float:
    """Return the product of (1 + running variances): ``det V with the batch / det V``."""
    return float(np.exp(posterior.log_det(pending=True) - posterior.log_det()))


def stop_bound(
    rule: StopRule, threshold: float
) -> Callable[[SparsePosterior, AllEdgesCache], float]:
    """Return the bound of a rule.

    ``global-local`` is ``global`` up to the threshold, then ``local``.
    """
    if rule == "global-local":

        def bound(posterior: SparsePosterior, everywhere: AllEdgesCache) -> float:
            value = global_bound(posterior, everywhere)
            return value if value <= threshold else local_bound(posterior, everywhere)

        return bound
    return {
        "local": local_bound,
        "global": global_bound,
        "product": product_bound,
    }[rule]
