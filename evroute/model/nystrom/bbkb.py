"""BBKB, Batch GP-UCB and batch Thompson sampling as models: `batches.Batches` with their dictionaries and rules."""

from numpy.random import Generator

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.model.nystrom.batches import Batches, Mode
from evroute.model.nystrom.gp import NystromGP
from evroute.model.nystrom.sampling import Redraw, Sampling
from evroute.model.nystrom.stopping import StopRule
from evroute.model.nystrom.whitened import Covariance


def bbkb(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    q_bar: float = 2.0,
    sampling: Sampling = "union",
    stop_rule: StopRule = "local",
    threshold: float = 2.0,
    mode: Mode = "strict",
    max_batch_trips: int = 50,
    max_dictionary: int | None = None,
) -> NystromGP:
    """BBKB: mean and dictionary are renewed when the variances have shrunk by a threshold.

    ridge: lambda over the noise variance.  q_bar: oversampling.  stop_rule, threshold: when a batch
    closes.  mode: what happens then to trips under way.  max_dictionary: most points.
    """
    rule = Batches(
        Redraw(q_bar=q_bar, sampling=sampling, max_dictionary=max_dictionary),
        stop_rule=stop_rule,
        threshold=threshold,
        mode=mode,
        max_trips=max_batch_trips,
    )
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="BBKB")


def batch_ucb(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    stop_rule: StopRule = "product",
    threshold: float = 2.0,
    mode: Mode = "strict",
    max_batch_trips: int = 50,
) -> NystromGP:
    """Batch GP-UCB: an exact posterior, renewed when the product of running variances exceeds a threshold."""
    rule = Batches(
        None, stop_rule=stop_rule, threshold=threshold, mode=mode, max_trips=max_batch_trips
    )
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="batch GP-UCB")


def delayed(
    kernel: Covariance,
    arms: Arms,
    noise_std_wh: FloatArray,
    rng: Generator,
    *,
    ridge: float = 1.0,
    batch_trips: int = 30,
    mode: Mode = "strict",
) -> NystromGP:
    """Renew an exact posterior after batches of one size, planned with no word of each other: for batch TS."""
    rule = Batches(None, stop_rule=None, threshold=1.0, mode=mode, max_trips=batch_trips)
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="delayed")
