"""Variance starvation: the posterior on the half of a line without measurements (BKB, Fig. 1).

Source: Calandriello, Carratino, Lazaric, Valko & Rosasco, *Gaussian Process Optimization with
Adaptive Sketching*, COLT 2019, after Wang, Gehring, Kohli & Jegelka 2018. A draw of the kernel on
[0, 1] is measured in [0, 1/2] only.
"""

from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evroute.arms import Arms, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.bandits.problems import VectorKernel
from evroute.model.base import lower_factor
from evroute.model.sparse.bkb import BKBOptions
from evroute.model.sparse.gp import SparseGP

POINTS = 201


class StarvationExperiment(BaseModel):
    """Numbers of measurements in the left half, and the size of the dictionary."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    problem: Literal["variance-starvation"]
    evaluations: tuple[int, ...] = (6, 63, 215)
    repetitions: int = Field(default=10, ge=1)
    lengthscale: float = Field(default=0.1, gt=0)
    noise_std: float = Field(default=0.1, gt=0)
    q_bar: float = Field(default=2.0, gt=0)


def bands(experiment: StarvationExperiment) -> dict[str, list[Any]]:
    """Return one row per repetition, number of evaluations and point.

    Columns: seed, evaluations, x, truth, mean and std of BKB, exact_std, sor_std (deviation of a
    subset of regressors on the same dictionary, without BKB's correction), points in the
    dictionary.
    """
    columns: dict[str, list[Any]] = {}
    kernel = VectorKernel("rbf", 1.0, experiment.lengthscale)
    number, x = np.arange(POINTS), np.linspace(0.0, 1.0, POINTS)
    arms = Arms(number, x[:, np.newaxis], np.zeros(POINTS))
    prior = kernel(number, arms.features, number, arms.features)
    root = lower_factor(prior + 1e-10 * np.eye(POINTS), "the kernel on the line", overwrite=True)
    noise = np.full(POINTS, experiment.noise_std)
    for seed in range(experiment.repetitions):
        truth_rng, world, draws = (
            np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(3)
        )
        truth = root @ truth_rng.standard_normal(POINTS)
        left = world.integers(0, POINTS // 2 + 1, max(experiment.evaluations))
        measured = truth[left] + experiment.noise_std * world.standard_normal(len(left))
        for n in experiment.evaluations:
            rule = BKBOptions(q_bar=experiment.q_bar).rule()
            sparse = SparseGP(kernel, arms, noise, draws, rule=rule, ridge=1.0, name="BKB")
            for place in range(n):
                row = left[place : place + 1]
                sparse.update(
                    Feedback(row, arms.features[row], np.zeros(1), measured[place : place + 1])
                )
            belief = sparse.posterior(arms)
            z = sparse.sparse.embed(number, arms.features)
            new = {
                "seed": np.full(POINTS, seed),
                "evaluations": np.full(POINTS, n),
                "x": x,
                "truth": truth,
                "mean": belief.mean_wh,
                "std": belief.std_wh,
                "exact_std": _exact_std(prior, left[:n], experiment.noise_std),
                "sor_std": experiment.noise_std * np.sqrt(sparse.sparse.explained_variance(z)),
                "points": np.full(POINTS, len(sparse.sparse.dictionary)),
            }
            for name, values in new.items():
                columns.setdefault(name, []).extend(values.tolist())
    return columns


def _exact_std(prior: FloatArray, measured: IntArray, noise_std: float) -> FloatArray:
    gram = prior[np.ix_(measured, measured)] + noise_std**2 * np.eye(len(measured))
    cross = prior[measured]
    variance = prior.diagonal() - np.einsum("ij,ij->j", cross, np.linalg.solve(gram, cross))
    return np.sqrt(np.maximum(variance, 0.0))
