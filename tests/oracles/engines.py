"""Nyström models without roads, by the class of their options."""

from types import SimpleNamespace

from evroute.model.sparse.gp import SparseGP


def engine(kind, kernel, arms, noise_std_wh, rng, **options) -> SparseGP:
    """Return a model on arms with a kernel and (n,) noise deviations.

    Parameters
    ----------
    kind
        Class of the options, such as `BKBOptions`.
    kernel, arms, noise_std_wh, rng
        Prior covariance, all reference arms, deviations in Wh, source of the dictionary's draws.
    **options
        Values of the options.
    """
    setting = SimpleNamespace(kernel=kernel, arms=arms, noise_std_wh=noise_std_wh)
    return kind(**options).build(setting, rng)
