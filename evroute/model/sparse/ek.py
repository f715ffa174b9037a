"""EK-UCB and K-UCB: a dictionary that grows one arm at a time, in driving order.

Source: Zenati, Bietti, Diemert, Mairal, Martin & Gaillard, *Efficient Kernel UCB for Contextual
Bandits*, AISTATS 2022. Sections 2 and 4. It is computed in features of a growing Cholesky factor,
not with the paper's inverses, which lose their digits on smooth kernels. K-UCB is the exact method:
every arm enters.

KORS decides which arms enter (section 4 and eq. 41, after Calandriello, Lazaric & Valko,
*Second-order kernel online convex optimization with adaptive sketching*, 2017). The score is the
paper's. Its published program computes only the quadratic form that eq. 41 subtracts, and so
prefers points that the dictionary explains already. Weights are ``1 / sqrt(p)``.
"""

import logging
from typing import Annotated

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray, IntArray
from evroute.model.base import State
from evroute.model.growing_factor import GrowingFactor
from evroute.model.sparse import radius
from evroute.model.sparse.gp import Rule, SparseOptions
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import DictionaryOptions

EXACT_ARMS = 300
"""Most measured arms whose whole kernel matrix gives ``log det`` and ``mu_t`` of a radius."""

log = logging.getLogger(__name__)


class Kors:
    """Scores of new points against a weighted dictionary.

    Parameters
    ----------
    mu
        Accuracy of the projection, lambda in the paper.
    eps
        Accuracy of the scores.

    Attributes
    ----------
    p
        (m,) inclusion probability of each dictionary point.
    factor
        Cholesky factor of ``S K_ZZ S + mu I``, (m, m), S the weights.
    """

    def __init__(self, mu: float, eps: float) -> None:
        self._mu = mu
        self._eps = eps
        self.p = np.empty(0)
        self.factor = GrowingFactor()

    def score(self, prior: float, with_points: FloatArray) -> float:
        """Return tau~ of a point, in [0, 1 + eps).

        prior: its prior variance.  with_points: (m,) its covariance with the dictionary.
        """
        explained = self._spread(with_points)
        rest = max(0.0, prior - float(explained @ explained))
        return (1.0 + self._eps) * rest / (rest + self._mu)

    def add(self, prior: float, with_points: FloatArray, p: float) -> None:
        """Add a point to the dictionary.

        Parameters
        ----------
        prior
            Its prior variance.
        with_points
            (m,) its covariance with the dictionary.
        p
            Its inclusion probability.
        """
        row = self._spread(with_points) / np.sqrt(p)
        self.factor.append(row, prior / p + self._mu - row @ row)
        self.p = np.append(self.p, p)

    def _spread(self, with_points: FloatArray) -> FloatArray:
        return self.factor.features((with_points / np.sqrt(self.p))[:, np.newaxis])[:, 0]


class Growing(Rule):
    """Add measured arms to the dictionary one at a time, with the probability of KORS.

    All without it.

    Parameters
    ----------
    kors
        Scores of new points, or None.
    gamma
        Budget, factor of a score in its probability. The first measurement always enters, unless
        gamma is 0: the dictionary then stays empty.
    max_dictionary
        Largest number of dictionary points, or None.
    """

    def __init__(
        self, kors: Kors | None, *, gamma: float = 1.0, max_dictionary: int | None = None
    ) -> None:
        self._kors = kors
        self._gamma = gamma
        self._most = max_dictionary
        self._refused = 0

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Draw for each arm whether it enters, in driving order, then learn all measurements.

        Parameters
        ----------
        posterior
            The posterior to update.
        slots
            (k,) slots of the measured arms.
        whitened
            (k,) residuals over noise deviations.
        rng
            One uniform number is drawn for each measurement.
        """
        for slot, uniform in zip(slots.tolist(), rng.random(len(slots)), strict=True):
            self._offer(posterior, slot, uniform)
        posterior.absorb(slots, whitened)

    def radius(
        self, posterior: SparsePosterior, form: radius.Form, norm_bound: float, delta: float
    ) -> float:
        """Return the radius of EK-UCB, from upper bounds beyond ``EXACT_ARMS`` measured arms.

        Parameters
        ----------
        posterior
            The posterior.
        form
            One of ``radius.FORMS``.
        norm_bound
            F, of the whitened residuals.
        delta
            Failure probability.
        """
        log_det, error = posterior.log_det(), posterior.trace()
        if form != "lean" and len(posterior.observed) <= EXACT_ARMS:
            log_det, error = whole_matrix(posterior)
        elif form != "lean":
            log_det += error / posterior.ridge
        return radius.ek(
            form,
            log_det=log_det,
            projection_error=error,
            ridge=posterior.ridge,
            norm_bound=norm_bound,
            delta=delta,
        )

    def diagnostics(self) -> dict[str, float]:
        """Return the number of points that the cap refused."""
        return {"capped": float(self._refused)}

    def state(self) -> State:
        """Return that number and the state of KORS."""
        kors = (
            {}
            if self._kors is None
            else {"p": self._kors.p.copy(), "factor": self._kors.factor.lower.copy()}
        )
        return kors | {"refused": np.array(self._refused)}

    def restore(self, state: State) -> None:
        """Restore a state."""
        self._refused = int(state["refused"])
        if self._kors is not None:
            self._kors.p = state["p"].copy()
            self._kors.factor = GrowingFactor(state["factor"].copy())

    def _offer(self, posterior: SparsePosterior, slot: int, uniform: float) -> None:
        p, with_points = 1.0, np.empty(0)
        prior = float(posterior.prior[slot])
        if self._kors is not None:
            with_points = posterior.factor @ posterior.embedding[:, slot]
            p = min(1.0, self._gamma * self._kors.score(prior, with_points))
            if not len(self._kors.p) and self._gamma > 0:
                p = 1.0
        if uniform >= p:
            return
        if self._most is not None and len(posterior.basis) >= self._most:
            if not self._refused:
                log.warning(
                    "the dictionary has reached its cap of %d points. No further point is added",
                    self._most,
                )
            self._refused += 1
            return
        if self._kors is None:
            posterior.span(slot)
        elif posterior.grow(slot):
            self._kors.add(prior, with_points, p)


def whole_matrix(posterior: SparsePosterior) -> tuple[float, float]:
    """Return ``log det(I + K / lambda)`` and ``mu_t``, in cubic time of the measured arms.

    ``mu_t`` is the largest eigenvalue of ``K - Psi'Psi``, the error of the projection.
    """
    measured = posterior.observed
    z, root = posterior.embedding[:, measured], np.sqrt(posterior.count[measured])
    gram = root[:, np.newaxis] * posterior.prior_between(measured, measured) * root
    log_det = np.linalg.slogdet(np.eye(len(gram)) + gram / posterior.ridge)[1]
    error = np.linalg.eigvalsh(gram - root[:, np.newaxis] * (z.T @ z) * root)
    return float(log_det), float(error.max(initial=0.0))


class EKOptions(DictionaryOptions):
    """EK-UCB: a dictionary that grows by KORS."""

    label = "EK-GP"
    engine = "EK-UCB"

    mu: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="accuracy of the projection over the noise variance; none: the ridge",
    )
    gamma: float = Field(
        default=1.0,
        ge=0,
        description="factor from an arm's score to its probability of entering the dictionary. 0 "
        "keeps it empty, 1 is rough, 5 accurate",
    )
    eps: float = Field(
        default=0.5,
        gt=0,
        lt=1,
        description="accuracy of the scores by which arms enter the dictionary",
    )
    max_dictionary: Annotated[int, Field(ge=1)] | None = Field(
        default=1000, description="largest number of points in the dictionary"
    )

    def rule(self) -> Growing:
        """Return the rule of EK-UCB."""
        kors = Kors(self.ridge if self.mu is None else self.mu, self.eps)
        return Growing(kors, gamma=self.gamma, max_dictionary=self.max_dictionary)


class KUCBOptions(SparseOptions):
    """K-UCB (CGP-UCB up to its radius): every measured arm enters, so the posterior is exact."""

    label = "K-GP"
    engine = "K-UCB"

    def rule(self) -> Growing:
        """Return the rule of K-UCB."""
        return Growing(None)
