"""Prior: the assumptions about arm energies before any trip, as one value."""

from dataclasses import dataclass

from evroute.energy.prior import DEFAULT_SPREAD, check_spread
from evroute.model.build import DEFAULT_LENGTHSCALE
from evroute.model.context_kernels import DEFAULT_KERNEL, context_kernel


@dataclass(frozen=True, slots=True)
class Prior:
    """Assumptions about the energies of arms.

    Parameters
    ----------
    spread
        Spread of the prior deviations over the arms, one of `energy.prior.SPREADS`.
    kernel
        Kernel between contexts, see `model.context_kernels.context_kernel`.
    lengthscale
        Of the kernel, in standard deviations of the contexts, positive.
    temperature
        Whether contexts have the temperature as a further feature.

    Raises
    ------
    UnknownNameError
        If there is no such spread or kernel.
    """

    spread: str = DEFAULT_SPREAD
    kernel: str = DEFAULT_KERNEL
    lengthscale: float = DEFAULT_LENGTHSCALE
    temperature: bool = False

    def __post_init__(self) -> None:
        check_spread(self.spread)
        context_kernel(self.kernel)


DEFAULT_PRIOR = Prior()
