"""BBKB, batch GP-UCB and batch Thompson sampling as models: `batches.Batches` with their rules."""

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
    """BBKB: mean and dictionary are renewed once the variances have shrunk by a threshold.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All reference arms.
    noise_std_wh
        (n,) noise deviation of one measurement of each reference arm, Wh.
    rng
        Draws the dictionary.
    ridge
        lambda over the noise variance, positive.
    q_bar
        Oversampling, positive.
    sampling
        Law of the inclusion probabilities.
    stop_rule, threshold
        Bound that closes a batch, and its largest value, at least 1.
    mode
        Treatment of trips under way when a batch closes.
    max_batch_trips
        Largest number of trips in a batch.
    max_dictionary
        Largest number of dictionary points, or None.
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
    """Batch GP-UCB: an exact posterior, renewed once the product of running variances is large.

    Parameters
    ----------
    kernel, arms, noise_std_wh, rng, ridge
        As for `bbkb`.
    stop_rule, threshold, mode, max_batch_trips
        As for `bbkb`.
    """
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
    """Exact posterior renewed after batches of fixed size, whose trips ignore each other: batch TS.

    Parameters
    ----------
    kernel, arms, noise_std_wh, rng, ridge
        As for `bbkb`.
    batch_trips
        Trips in a batch, at least 1.
    mode
        Treatment of trips under way when a batch closes.
    """
    rule = Batches(None, stop_rule=None, threshold=1.0, mode=mode, max_trips=batch_trips)
    return NystromGP(kernel, arms, noise_std_wh, rng, rule=rule, ridge=ridge, name="delayed")
