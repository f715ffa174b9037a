"""Normal beliefs held to a cone: the mean by its constrained mode, draws by rejection.

The cone is ``{b : C b >= 0}``. The constrained mode minimises ``(b - m)' S^-1 (b - m)`` over it:
with ``S = R R'`` and ``b = m + R u`` the least ``|u|`` with ``(C R) u >= -C m``, a least-distance
problem that non-negative least squares solves exactly (Lawson & Hanson, *Solving Least Squares
Problems*, 23.4).
"""

import logging
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from evroute.arrays import FloatArray

DRAWS = 1000
"""Draws made before rejection gives up."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Physical:
    """Coefficients in the cone.

    coefficients: (p,).  moved: (p,) difference from the unconstrained mean, or from the draw that
    was projected; 0 where nothing was moved.  rejected: draws that were outside the cone.
    """

    coefficients: FloatArray
    moved: FloatArray
    rejected: int = 0


def constrained_mode(mean: FloatArray, root: FloatArray, cone: FloatArray) -> Physical:
    """Return the most probable coefficients in the cone.

    Parameters
    ----------
    mean
        (p,) unconstrained mean.
    root
        (p, p) with ``root @ root.T`` the covariance.
    cone
        (c, p) C; the cone must have a point.
    """
    slack = cone @ mean
    if np.all(slack >= 0.0):
        return Physical(mean, np.zeros(len(mean)))
    constraints = cone @ root
    scale = np.linalg.norm(constraints, axis=1)
    system = np.vstack([(constraints / scale[:, np.newaxis]).T, -slack / scale])
    target = np.append(np.zeros(len(mean)), 1.0)
    residual = system @ nnls(system, target)[0] - target
    moved = root @ (-residual[:-1] / residual[-1])
    return Physical(mean + moved, moved)


def draw(
    mean: FloatArray, root: FloatArray, cone: FloatArray, rng: np.random.Generator
) -> Physical:
    """Draw coefficients from the normal distribution cut to the cone, by rejection.

    Where `DRAWS` draws all lie outside, the last one is moved to the nearest point of the cone
    (constrained mode about the draw); a warning is logged and ``moved`` is not 0.

    Parameters
    ----------
    mean
        (p,) unconstrained mean.
    root
        (p, p) with ``root @ root.T`` the covariance.
    cone
        (c, p) C.
    rng
        Source of the draws.
    """
    draws = mean + rng.standard_normal((DRAWS, len(mean))) @ root.T
    inside = np.all(draws @ cone.T >= 0.0, axis=1)
    if inside.any():
        first = int(inside.argmax())
        return Physical(draws[first], np.zeros(len(mean)), first)
    projected = constrained_mode(draws[-1], root, cone)
    log.warning("none of %d draws of the coefficients is physical; the last one was moved", DRAWS)
    return Physical(projected.coefficients, projected.moved, DRAWS)
