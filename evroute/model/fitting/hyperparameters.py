"""Hyper-parameters fitted to trips: maximum likelihood, or maximum a posteriori with a prior.

Fitted are the lengthscales of both terms of the kernel, the graph's share, a factor of all prior
deviations, a factor of all noise deviations, nu (1, 2 or 3) and kappa of the graph kernel. The
search is L-BFGS from the present kernel, once for each nu. The paper fixes these numbers (section
B.3). So does evroute by default.
"""

import logging
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from evroute.arrays import FloatArray
from evroute.model.base import CovarianceError
from evroute.model.fitting.evidence import Driven, covariance, log_likelihood
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern, filter_blocks, raw_diagonal

NUS = (1, 2, 3)
MOST_ARMS = 1000
"""Arms used in a fit, the most visited. A search step costs the cube of their number."""
MOST_STEPS = 100
TOLERANCE_NATS = 1e-3
"""Gain of a step, per nat gained so far beyond the first, below which a search ends."""
LIMITS = {
    "variance": (1e-4, 1e4),
    "lengthscale": (1e-2, 1e2),
    "kappa": (1e-2, 1e2),
    "noise": (1e-3, 1e3),
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """Numbers of a kernel and its noise. Those with a unit are factors of a first kernel's numbers.

    Parameters
    ----------
    nu, kappa
        Smoothness and lengthscale of the graph kernel.
    lengthscales
        (2, d) of k_f and k_f', in standard deviations of the features.
    graph_share
        Share of the prior variance in the first term, in (0, 1).
    std_factor, noise_factor
        Factors of all prior and all noise standard deviations.
    """

    nu: int
    kappa: float
    lengthscales: FloatArray
    graph_share: float
    std_factor: float = 1.0
    noise_factor: float = 1.0

    @classmethod
    def of(cls, kernel: EdgeContextKernel) -> "Hyperparameters":
        """Return the hyper-parameters of a kernel."""
        return cls(kernel.matern.nu, kernel.matern.kappa, kernel.lengthscales, kernel.graph_share)

    def applied(self, kernel: EdgeContextKernel) -> EdgeContextKernel:
        """Return the first kernel with these numbers. Seconds on a city if nu or kappa differ."""
        graph = kernel.matern
        if (self.nu, self.kappa) != (graph.nu, graph.kappa):
            graph = GraphMatern(graph.laplacian, self.nu, self.kappa)
        return EdgeContextKernel(
            graph,
            self.std_factor * kernel.std_wh,
            self.lengthscales,
            graph_share=self.graph_share,
            context=kernel.context_name,
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers and lists."""
        return asdict(self) | {"lengthscales": self.lengthscales.tolist()}

    @classmethod
    def from_json(cls, numbers: dict[str, Any]) -> "Hyperparameters":
        """Return the hyper-parameters from the result of `to_json`."""
        return cls(**numbers | {"lengthscales": np.array(numbers["lengthscales"])})


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Start and result of a fit.

    Parameters
    ----------
    n_arms
        Number of arms used.
    start, found
        Hyper-parameters before and after. Equal if the fit failed.
    start_log_likelihood, log_likelihood
        Log likelihood before and after, nats.
    failed
        Reason of a failed fit. Empty otherwise.
    """

    n_arms: int
    start: Hyperparameters
    found: Hyperparameters
    start_log_likelihood: float
    log_likelihood: float
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, lists and texts."""
        return {
            "n_arms": self.n_arms,
            "start": self.start.to_json(),
            "found": self.found.to_json(),
            "start_log_likelihood": self.start_log_likelihood,
            "log_likelihood": self.log_likelihood,
            "failed": self.failed,
        }


def fit(
    kernel: EdgeContextKernel,
    noise_std_wh: FloatArray,
    driven: Driven,
    *,
    prior_log_std: float | None = None,
) -> Fit:
    """Fit hyper-parameters to measurements, starting from a kernel and the noise of its edges.

    Parameters
    ----------
    kernel
        Start of the search.
    noise_std_wh
        (n,) noise deviations at the start, Wh.
    driven
        Merged measurements.
    prior_log_std
        Deviation of a log-normal prior around the start, for every number, or None for no prior.
    """
    driven = driven.most_visited(MOST_ARMS)
    problem = _Problem(kernel, noise_std_wh, driven, prior_log_std)
    start = Hyperparameters.of(kernel)
    why = ""
    try:
        before, _ = problem.log_likelihood(start.nu, problem.origin(start.nu))
        tried = [(*problem.best(nu), nu) for nu in NUS]
        found = [each for each in tried if np.isfinite(each[0])]
    except CovarianceError as error:
        before, why = float("nan"), str(error)
    if not why and (not found or min(each[0] for each in found) >= -before):
        why = "no step from the start raised it"
    if why:
        log.warning("the hyper-parameters stay unchanged: %s", why)
        return Fit(len(driven.id), start, start, before, before, why)
    _, theta, nu = min(found, key=lambda each: each[0])
    after, _ = problem.log_likelihood(nu, theta)
    return Fit(len(driven.id), start, problem.named(nu, theta), before, after)


class _Problem:
    """Objective over the logs of a, b, lengthscales, kappa (`covariance`) and a noise factor."""

    def __init__(
        self,
        kernel: EdgeContextKernel,
        noise_std_wh: FloatArray,
        driven: Driven,
        prior_log_std: float | None,
    ) -> None:
        self.kernel = kernel
        self.driven = driven
        self.unit_wh = kernel.std_wh[driven.id]
        self.noise_std_wh = noise_std_wh[driven.id]
        self.prior_log_std = np.inf if prior_log_std is None else prior_log_std

    def origin(self, nu: int) -> FloatArray:
        """Return the start of the search. The mean graph variance is the same for every nu."""
        kernel, edges = self.kernel, np.unique(self.driven.id)
        filtered, _ = filter_blocks(kernel.matern.laplacian, nu, kernel.matern.kappa, edges)
        share = kernel.graph_share
        with_graph = share * kernel.graph.diagonal[edges].mean() / filtered.diagonal().mean()
        return np.log(
            np.array(
                [with_graph, 1.0 - share, *kernel.lengthscales.ravel(), kernel.matern.kappa, 1.0]
            )
        )

    def log_likelihood(self, nu: int, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log likelihood and its gradient."""
        surface = covariance(
            self.kernel.matern.laplacian,
            nu,
            np.exp(theta[:-1]),
            self.driven,
            self.kernel.context,
        )
        return log_likelihood(
            surface, self.driven, self.unit_wh, self.noise_std_wh * np.exp(theta[-1])
        )

    def best(self, nu: int) -> tuple[float, FloatArray]:
        """Return the smallest negative log posterior for one nu, and its location."""
        origin = self.origin(nu)
        first, _ = self.log_likelihood(nu, origin)
        # Every measurement informs the noise, every arm the other numbers: in these steps the
        # surface is about equally steep in all directions. The loss is relative to its start, so
        # that the tolerance is in nats.
        step = np.ones(len(origin))
        step[-1] = np.sqrt(len(self.driven.count) / (2.0 * self.driven.count.sum()))

        def loss(steps: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.log_likelihood(nu, origin + step * steps)
            away = step * steps / self.prior_log_std
            return 0.5 * float(away @ away) - (value - first), step * (
                away / self.prior_log_std - gradient
            )

        lengthscales = [LIMITS["lengthscale"]] * self.kernel.lengthscales.size
        limits = np.log(
            [LIMITS["variance"]] * 2 + lengthscales + [LIMITS["kappa"], LIMITS["noise"]]
        )
        bounds = (limits - origin[:, np.newaxis]) / step[:, np.newaxis]
        options = {"maxiter": MOST_STEPS, "ftol": TOLERANCE_NATS}
        result = minimize(
            loss, np.zeros(len(origin)), jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        return float(result.fun) - first, origin + step * result.x

    def named(self, nu: int, theta: FloatArray) -> Hyperparameters:
        """Return the numbers as hyper-parameters of a kernel whose k_G has mean diagonal 1."""
        a, b, *_, kappa, noise_factor = np.exp(theta)
        scale = (2 * nu / kappa**2) ** nu * raw_diagonal(
            self.kernel.matern.laplacian, nu, kappa
        ).mean()
        lengthscales = np.exp(theta[2:-2]).reshape(self.kernel.lengthscales.shape)
        variance = a * scale + b
        return Hyperparameters(
            nu,
            float(kappa),
            lengthscales,
            float(a * scale / variance),
            float(np.sqrt(variance)),
            float(noise_factor),
        )
