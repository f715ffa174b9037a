"""The variational distribution of Algorithm 3 and its optimisation step, in GPyTorch.

Sandberg et al., section 4.1 and Algorithm 3. After Hensman, Fusi & Lawrence, 2013 (*Gaussian
processes for big data*) and Salimbeni, Eleftheriadis & Hensman, 2018 (*Natural gradients in
practice*). A Gaussian q(u) over the values at M inducing points summarises all measurements. It
is kept whitened, u = L v with L L' the prior covariance of the points, and in natural parameters.
A point is an edge with a context. The context is trained, the edge is fixed.

All values are in units of the edge's prior standard deviation (``EdgeContextKernel.std_wh``), so
that one jitter suits edges of every size. Measurements of one arm in a batch are merged: the
gradient is the same and cheaper.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import MissingPackageError, require
from evroute.model.base import JITTER
from evroute.model.kernels.arms import EdgeContextKernel

try:
    import torch
    from gpytorch.distributions import MultivariateNormal
    from gpytorch.kernels import Kernel
    from gpytorch.models import ApproximateGP
    from gpytorch.optim import NGD
    from gpytorch.variational import NaturalVariationalDistribution, VariationalStrategy
    from linear_operator.utils.cholesky import psd_safe_cholesky
    from linear_operator.utils.errors import NanError, NotPSDError
    from torch import Tensor
except ModuleNotFoundError as error:
    raise MissingPackageError(error.name or "torch", "gp") from None


@dataclass(frozen=True, slots=True, eq=False)
class Inducing:
    """M inducing points, q(v) in natural parameters, and Adam's moments of the points.

    Parameters
    ----------
    points
        (M, 1 + d) edge and context.
    information
        (M,) ``S^-1 m``.
    precision
        (M, M) ``S^-1``.
    moments
        (2, M, 1 + d) first and second moments of the gradients.
    adam_steps
        Steps taken.
    """

    points: FloatArray
    information: FloatArray
    precision: FloatArray
    moments: FloatArray
    adam_steps: int

    @classmethod
    def at(cls, points: FloatArray) -> "Inducing":
        """Return the prior at points."""
        m = len(points)
        return cls(points, np.zeros(m), np.eye(m), np.zeros((2, *points.shape)), 0)

    def __len__(self) -> int:
        return len(self.points)

    def extended(self, points: FloatArray) -> "Inducing":
        """Return the same belief with further points appended, at their conditional prior."""
        old, new = len(self), Inducing.at(points)
        precision = np.eye(old + len(new))
        precision[:old, :old] = self.precision
        return Inducing(
            np.concatenate([self.points, new.points]),
            np.concatenate([self.information, new.information]),
            precision,
            np.concatenate([self.moments, new.moments], axis=1),
            self.adam_steps,
        )

    def relabelled(self, points: FloatArray) -> "Inducing":
        """Return the same q(v) at other points, (M, 1 + d). Adam starts anew."""
        return replace(self, points=points, moments=np.zeros_like(self.moments), adam_steps=0)


class DivergedError(Exception):
    """A step to numbers that are not finite, or to a covariance that is not positive definite."""


class Variational:
    """Computations on an `Inducing` belief, on a device of torch.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    natural_rate
        Step size of q(v).
    adam_rate
        Step size of the inducing contexts. 0 keeps them fixed.
    device
        Device of torch: cpu or cuda.

    Raises
    ------
    EvrouteError
        If the device is missing.
    """

    def __init__(
        self, kernel: EdgeContextKernel, *, natural_rate: float, adam_rate: float, device: str
    ) -> None:
        self._device = _find_device(device)
        self._kernel = _UnitKernel(kernel).to(self._device, torch.float64)
        self._natural_rate = natural_rate
        self._adam_rate = adam_rate

    def step(
        self, belief: Inducing, arms: FloatArray, mean: FloatArray, weight: FloatArray
    ) -> Inducing:
        """Take one natural-gradient step on q(v) and one Adam step on the contexts.

        Both maximise the evidence lower bound.

        Parameters
        ----------
        belief
            Belief before the step.
        arms
            (b, 1 + d) distinct arms of the batch.
        mean
            (b,) mean measurement of each arm.
        weight
            (b,) summed precision of each arm, scaled from the batch to all measurements.

        Raises
        ------
        DivergedError
            If the step fails.
        """
        gp = _GP(belief, self._kernel).train()
        q, points = (
            gp.variational_strategy._variational_distribution,
            gp.variational_strategy.inducing_points,
        )
        points.requires_grad_(self._adam_rate > 0)
        try:
            predicted = gp(self._tensor(arms))
            misfit = self._tensor(weight) * (
                (self._tensor(mean) - predicted.mean) ** 2 + predicted.variance
            )
            loss = 0.5 * misfit.sum() + gp.variational_strategy.kl_divergence()
        except (NanError, NotPSDError) as error:
            raise DivergedError(str(error)) from None
        lost = float(loss.detach())
        if not math.isfinite(lost):
            raise DivergedError(f"the loss is {lost}")
        loss.backward()
        NGD([q.natural_vec, q.natural_mat], num_data=1, lr=self._natural_rate).step()
        moments, adam_steps = belief.moments, belief.adam_steps
        if self._adam_rate > 0:
            adam = torch.optim.Adam([points], lr=self._adam_rate)
            first, second = self._tensor(moments)
            adam.state[points] = {
                "step": torch.tensor(float(adam_steps)),
                "exp_avg": first,
                "exp_avg_sq": second,
            }
            adam.step()
            moments, adam_steps = _array(torch.stack([first, second])), adam_steps + 1
        precision = -2.0 * q.natural_mat.detach()
        if not (torch.isfinite(points).all() and torch.isfinite(q.natural_vec).all()):
            raise DivergedError(f"a parameter is not finite, the loss was {lost:.3g}")
        try:
            psd_safe_cholesky(precision)
            self._prior_factor(points.detach())
        except NotPSDError as error:
            raise DivergedError(f"{error}, the loss was {lost:.3g}") from None
        return Inducing(
            _array(points), _array(q.natural_vec), _array(precision), moments, adam_steps
        )

    def predict(self, belief: Inducing, arms: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of arms (a, 1 + d), (a,) each."""
        with torch.no_grad():
            x = self._tensor(arms)
            weights, spread, mean = self._projected(belief, x)
            variance = self._kernel(x, diag=True) - (weights**2).sum(dim=0) + (spread**2).sum(dim=0)
            return _array(weights.T @ mean), _array(variance)

    def covariance(self, belief: Inducing, arms: FloatArray) -> FloatArray:
        """Return the covariance of arms (a, 1 + d), (a, a)."""
        with torch.no_grad():
            x = self._tensor(arms)
            weights, spread, _ = self._projected(belief, x)
            return _array(self._kernel(x).to_dense() - weights.T @ weights + spread.T @ spread)

    def _projected(self, belief: Inducing, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return ``A = L^-1 K_Zx``, B with ``B' B = A' S A``, (M, a) each, and m, (M,)."""
        points = self._tensor(belief.points)
        weights = torch.linalg.solve_triangular(
            self._prior_factor(points), self._kernel(points, x).to_dense(), upper=False
        )
        factor = torch.linalg.cholesky(self._tensor(belief.precision))
        mean = torch.cholesky_solve(self._tensor(belief.information)[:, None], factor)[:, 0]
        return weights, torch.linalg.solve_triangular(factor, weights, upper=False), mean

    def _prior_factor(self, points: Tensor) -> Tensor:
        prior: Tensor = self._kernel(points).to_dense()
        jitter = JITTER * torch.eye(len(points), dtype=prior.dtype, device=prior.device)
        return psd_safe_cholesky(prior + jitter)

    def _tensor(self, array: FloatArray) -> Tensor:
        return torch.tensor(array, dtype=torch.float64, device=self._device)


class _GP(ApproximateGP):  # type: ignore[misc]
    """GPyTorch's model of one belief, rebuilt for every step: all state is in `Inducing`."""

    def __init__(self, belief: Inducing, kernel: "_UnitKernel") -> None:
        q = NaturalVariationalDistribution(len(belief))
        points = torch.tensor(belief.points)
        super().__init__(
            VariationalStrategy(self, points, q, learn_inducing_locations=True, jitter_val=JITTER)
        )
        self.variational_strategy.variational_params_initialized.fill_(1)
        self.kernel = kernel
        self.to(kernel.device, torch.float64)
        q.natural_vec.data.copy_(torch.tensor(belief.information))
        q.natural_mat.data.copy_(torch.tensor(-0.5 * belief.precision))

    def forward(self, x: Tensor) -> MultivariateNormal:
        """Return the prior of points (a, 1 + d)."""
        return MultivariateNormal(
            torch.zeros(len(x), dtype=x.dtype, device=x.device), self.kernel(x)
        )


class _UnitKernel(Kernel):  # type: ignore[misc]
    """``w k_G k_f + (1 - w) k_f'`` between rows (edge, context). The graph part is a lookup."""

    def __init__(self, kernel: EdgeContextKernel) -> None:
        super().__init__()
        self._graph = kernel.graph
        self._share = kernel.graph_share
        self._is_one = bool(np.all(kernel.lengthscales[0] == kernel.lengthscales[1]))
        self.with_graph, self.alone = (
            kernel.context.torch_kernel(each) for each in kernel.lengthscales
        )

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **_: object) -> Tensor:
        """Return the matrix between rows. With ``diag`` the values of paired rows.

        Parameters
        ----------
        x1, x2
            (a, 1 + d) and (b, 1 + d) rows (edge, context).
        diag
            Whether to return the (a,) values of the pairs of rows only.
        """
        rows_1, rows_2 = (x[:, 0].detach().cpu().numpy().astype(np.int64) for x in (x1, x2))
        looked_up = self._graph.diagonal[rows_1] if diag else self._graph.block(rows_1, rows_2)
        graph = self._share * torch.tensor(looked_up, device=x1.device)
        contexts = x1[:, 1:], x2[:, 1:]
        alone: Tensor = self.alone.forward(*contexts, diag=diag)
        return (
            graph * (alone if self._is_one else self.with_graph.forward(*contexts, diag=diag))
            + (1.0 - self._share) * alone
        )


def _find_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    require(device.type in ("cpu", "cuda"), f"unknown device '{name}'. Use cpu or cuda")
    require(
        device.type != "cuda" or (device.index or 0) < torch.cuda.device_count(),
        f"device '{name}' is missing. Use cpu",
    )
    return device


def _array(tensor: Tensor) -> FloatArray:
    return tensor.detach().cpu().numpy().copy()
