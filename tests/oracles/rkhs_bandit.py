"""A bandit whose reward function has known norm: Flynn & Reeb (arXiv 2403.12732), section 7.

``f = sum_i w_i k(., z_i)`` with 20 points z uniform in the unit cube and standard normal weights,
scaled to norm B. Every round offers 100 random points. The method takes the point of largest upper
bound and observes its value with Gaussian noise. All methods face the same function, points and
noise. Rewards are maximised, as in the paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from ridge import Ridge

from evroute.arrays import FloatArray
from evroute.model.bounds.sets import PAPER_GRID, ConfidenceSet
from evroute.model.bounds.spectrum import Spectrum
from evroute.model.context_kernels import context_kernel
from evroute.policy.bounds import assume

N_CENTRES = 20
N_ARMS = 100

NAMES = {1.5: "matern-3/2", 2.5: "matern-5/2", np.inf: "rbf"}

Kernel = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Problem:
    """A family of functions, and the constants known to the methods.

    smoothness: of the Matérn kernel, 1.5 or 2.5, or infinite for the Gaussian one.  lengthscale, d:
    of the kernel and the unit cube.  norm, sigma, delta: B, noise deviation, failure probability.
    horizon: planned rounds.
    """

    smoothness: float
    lengthscale: float
    d: int = 3
    norm: float = 10.0
    sigma: float = 0.1
    delta: float = 0.01
    horizon: int = 1000

    def __post_init__(self) -> None:
        if self.smoothness not in NAMES:
            raise ValueError(f"smoothness is {self.smoothness:g}. It must be 1.5, 2.5 or inf")

    def kernel(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the kernel between points (a, d) and (b, d), (a, b)."""
        return context_kernel(NAMES[self.smoothness])(x, y, np.full(self.d, self.lengthscale))

    @property
    def scale(self) -> float:
        """The paper's c: 1 for the Gaussian kernel, ``T^(-d / (2d + 2 nu))`` for a Matérn one."""
        if np.isinf(self.smoothness):
            return 1.0
        return float(self.horizon ** (-self.d / (2 * self.d + 2 * self.smoothness)))

    def function(self, rng: Generator) -> Callable[[FloatArray], FloatArray]:
        """Draw a function of points (a, d)."""
        centres, weights = rng.uniform(size=(N_CENTRES, self.d)), rng.standard_normal(N_CENTRES)
        weights *= self.norm / np.sqrt(weights @ self.kernel(centres, centres) @ weights)
        return lambda points: self.kernel(points, centres) @ weights


class Method(Protocol):
    """A rule that bounds points from above and learns from measurements."""

    def upper(self, cross: FloatArray, variance: FloatArray) -> FloatArray:
        """Return upper bounds of points from their kernel with measurements (t, a), itself (a,)."""

    def observe(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add the value y of a point, with its kernel as in `upper`.

        Parameters
        ----------
        cross
            (t,) kernel with the measurements so far.
        variance
            Kernel with itself.
        y
            Observed value.
        """


class Ellipsoids:
    """AMM or DMM: the best of one ellipsoid for each alpha."""

    def __init__(self, problem: Problem, factors: tuple[float, ...]) -> None:
        self._norm, self._sigma2, self._delta = problem.norm, problem.sigma**2, problem.delta
        self._ridges = {factor: Ridge(factor * self._sigma2 / problem.scale) for factor in factors}

    def upper(self, cross: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the least of the upper ends."""
        at_c = self._ridges[1.0]
        radius2 = at_c.quadratic + self._sigma2 * (at_c.log_det - 2 * np.log(self._delta))
        ends = []
        for ridge in self._ridges.values():
            mean, rho2 = ridge.predict(cross, variance)
            rtilde2 = radius2 + ridge.alpha * self._norm**2 - ridge.quadratic
            ends.append(mean + np.sqrt(max(rtilde2, 0.0) / ridge.alpha * rho2))
        least: FloatArray = np.min(ends, axis=0)
        return least

    def observe(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add a measurement to every regression.

        Parameters
        ----------
        cross, variance, y
            As in `Method.observe`.
        """
        for ridge in self._ridges.values():
            ridge.append(cross, variance, y)


class AbbasiYadkori:
    """AY-GP-UCB at ``lambda = sigma² / c``."""

    def __init__(self, problem: Problem) -> None:
        self._norm, self._sigma2, self._delta = problem.norm, problem.sigma**2, problem.delta
        self._ridge = Ridge(self._sigma2 / problem.scale)

    def upper(self, cross: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the upper ends."""
        mean, rho2 = self._ridge.predict(cross, variance)
        noise = np.sqrt(
            self._sigma2 * (self._ridge.log_det - 2 * np.log(self._delta)) / self._ridge.alpha
        )
        ends: FloatArray = mean + (noise + self._norm) * np.sqrt(rho2)
        return ends

    def observe(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add a measurement.

        Parameters
        ----------
        cross, variance, y
            As in `Method.observe`.
        """
        self._ridge.append(cross, variance, y)


class ImprovedGP:
    """IGP-UCB with ``eta = 2 / T``, and 2 instead of ``t eta``, as in the authors' program."""

    def __init__(self, problem: Problem) -> None:
        self._norm, self._sigma2, self._delta = problem.norm, problem.sigma**2, problem.delta
        self._ridge = Ridge(1.0 + 2.0 / problem.horizon)

    def upper(self, cross: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the upper ends."""
        mean, rho2 = self._ridge.predict(cross, variance)
        noise = np.sqrt(self._sigma2 * (self._ridge.log_det + 2 - 2 * np.log(self._delta)))
        ends: FloatArray = mean + (noise + self._norm) * np.sqrt(rho2)
        return ends

    def observe(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add a measurement.

        Parameters
        ----------
        cross, variance, y
            As in `Method.observe`.
        """
        self._ridge.append(cross, variance, y)


class Exact:
    """CMM by the dual in the eigenbasis, decomposed anew in every round."""

    def __init__(self, problem: Problem) -> None:
        self._assumptions = assume(problem.norm, problem.sigma, problem.delta, problem.scale)
        self._gram, self._y = np.empty((0, 0)), np.empty(0)

    def upper(self, cross: FloatArray, variance: FloatArray) -> FloatArray:
        """Return the largest values over the confidence set."""
        spectrum = Spectrum.of_gram(self._gram, self._y, np.ones(len(self._y)))
        return (
            ConfidenceSet(spectrum, self._assumptions).exact(spectrum.points(cross, variance)).high
        )

    def observe(self, cross: FloatArray, variance: float, y: float) -> None:
        """Add a measurement.

        Parameters
        ----------
        cross, variance, y
            As in `Method.observe`.
        """
        self._gram = np.block([[self._gram, cross[:, np.newaxis]], [cross, np.array(variance)]])
        self._y = np.append(self._y, y)


METHODS: Mapping[str, Callable[[Problem], Method] | None] = {
    "CMM-UCB": Exact,
    "DMM-UCB": lambda problem: Ellipsoids(problem, PAPER_GRID),
    "AMM-UCB": lambda problem: Ellipsoids(problem, (1.0,)),
    "AY-GP-UCB": AbbasiYadkori,
    "IGP-UCB": ImprovedGP,
    "Random": None,
}


def play(problem: Problem, method: str, seed: int, *, rounds: int | None = None) -> FloatArray:
    """Return the cumulative regret after each round.

    Function, points, noise and the random first choice depend on the problem's kernel and the seed
    alone.

    Parameters
    ----------
    problem
        Family of functions.
    method
        Key of `METHODS`.
    seed
        Repetition.
    rounds
        Number of rounds; None for the horizon.

    Returns
    -------
    FloatArray
        (rounds,).
    """
    rounds = problem.horizon if rounds is None else rounds
    world, arms_rng, noise_rng, choice_rng = (default_rng(s) for s in SeedSequence(seed).spawn(4))
    f = problem.function(world)
    make = METHODS[method]
    learner = make(problem) if make else None
    measured, regret = np.empty((rounds, problem.d)), np.empty(rounds)
    for t in range(rounds):
        points = arms_rng.uniform(size=(N_ARMS, problem.d))
        values = f(points)
        y_noise, random_choice = (
            problem.sigma * noise_rng.standard_normal(),
            int(choice_rng.integers(N_ARMS)),
        )
        if learner is None:
            chosen = random_choice
        else:
            cross = problem.kernel(measured[:t], points)
            chosen = int(learner.upper(cross, np.ones(N_ARMS)).argmax()) if t else random_choice
            learner.observe(cross[:, chosen], 1.0, float(values[chosen] + y_noise))
        measured[t] = points[chosen]
        regret[t] = values.max() - values[chosen]
    return np.cumsum(regret)
