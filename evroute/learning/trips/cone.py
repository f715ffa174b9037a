"""Normal beliefs held to a cone: the mean by its constrained mode.

The cone is ``{b : C b >= 0}``. The constrained mode minimises ``(b - m)' S^-1 (b - m)`` over it:
with ``S = R R'`` and ``b = m + R u`` the least ``|u|`` with ``(C R) u >= -C m``, a least-distance
problem that non-negative least squares solves exactly (Lawson & Hanson, *Solving Least Squares
Problems*, 23.4).
"""

from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Physical:
    """Coefficients in the cone.

    coefficients: (p,).  moved: (p,) difference from the unconstrained mean, or 0 where none.
    """

    coefficients: FloatArray
    moved: FloatArray


def constrained_mode(mean: FloatArray, root: FloatArray, cone: FloatArray) -> Physical:
    """Return the most probable coefficients in the cone.

    Parameters
    ----------
    mean
        (p,) unconstrained mean.
    root
        (p, m) with ``root @ root.T`` the covariance.
    cone
        (c, p) C. The cone must have a point.
    """
    slack = cone @ mean
    if np.all(slack >= 0.0):
        return Physical(mean, np.zeros(len(mean)))
    from scipy.optimize import nnls  # a tenth of a second, which most plans need not

    constraints, target = cone @ root, np.append(np.zeros(root.shape[1]), 1.0)
    scale = np.linalg.norm(constraints, axis=1)
    system = np.vstack([(constraints / scale[:, np.newaxis]).T, -slack / scale])
    residual = system @ nnls(system, target)[0] - target
    moved = root @ (-residual[:-1] / residual[-1])
    return Physical(mean + moved, moved)
