"""ModelOptions: the options of a model of arm energies, and the setting that it is built in."""

from typing import ClassVar, Protocol

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.energy.regressors import Derivatives
from evroute.model.base import EnergyModel
from evroute.model.kernels import EdgeContextKernel
from evroute.model.nystrom.whitened import Covariance
from evroute.options import PartOptions


class CovarianceSetting(Protocol):
    """Values that a model without roads takes, over a arms."""

    @property
    def kernel(self) -> Covariance:
        """Prior covariance of arms."""

    @property
    def arms(self) -> Arms:
        """All arms in their reference contexts."""

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""


class ModelSetting(CovarianceSetting, Protocol):
    """Values that a model takes from its network, vehicle and prior, over a arms."""

    @property
    def potential_wh(self) -> FloatArray:
        """(a,) rise of the potential over each arm, Wh."""

    @property
    def prior_variance_wh2(self) -> FloatArray:
        """(a,) diagonal of the kernel, Wh²."""

    @property
    def kernel(self) -> EdgeContextKernel:
        """Prior covariance of arms."""

    @property
    def sparse_kernel(self) -> EdgeContextKernel:
        """Prior covariance to 1e-6, on a sparse graph kernel."""

    @property
    def dissipation_kernel(self) -> EdgeContextKernel:
        """Prior covariance with deviations as shares of the dissipated energy."""

    @property
    def regressors(self) -> Derivatives:
        """Derivatives of the energy of the arms by the coefficients of physics."""

    @property
    def prior_factor(self) -> FloatArray:
        """(a, a) factor of the prior covariance, Wh."""


class ModelOptions(PartOptions):
    """Options of a model."""

    has_kernel: ClassVar[bool] = False
    """Whether the model takes `ModelSetting.kernel`, so that it can be scaled and fitted."""
    only_edges: ClassVar[str] = ""
    """Reason why the model has no arms on turns; empty if it has."""

    def build(self, setting: ModelSetting, rng: Generator) -> EnergyModel:
        """Return the model before any trip, with ``rng`` as its source of randomness."""
        raise NotImplementedError

    @classmethod
    def cache(cls, setting: ModelSetting) -> None:
        """Compute the arrays of the setting that workers then map from the cache."""
