"""Figures of docs/figures/papers.md: ``python studies/engine_figures.py`` prints them."""

import numpy as np

from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.ek import Growing, Kors, whole_matrix
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import draw, probabilities


def variance_ratios(n_draws: int = 200) -> None:
    """Print how often a dictionary keeps all variances within a factor 3 of the exact ones."""
    rng = np.random.default_rng(3)
    x = rng.random((200, 2))
    posterior = SparsePosterior(VectorKernel("rbf", 1.0, 0.25), np.ones(200), 2, 0.05)
    slots = posterior.slots(np.arange(200), x)
    posterior.absorb(rng.integers(0, 200, 300), np.zeros(300))
    observed = posterior.observed
    posterior.set_dictionary(observed)
    exact = posterior.slot_variance(slots)
    print(f"d_eff {posterior.effective_dimension():.1f}, {len(observed)} distinct arms")
    print("q_bar | draws within 1/3..3 | median worst ratio | mean size")
    for q_bar in (1.0, 2.0, 5.0, 10.0):
        good, worst, size = 0, [], []
        for seed in range(n_draws):
            stream = np.random.default_rng(seed)
            posterior.set_dictionary(observed)
            for _ in range(2):
                p = probabilities(
                    posterior.slot_variance(observed), posterior.count[observed], q_bar, "union"
                )
                posterior.set_dictionary(observed[draw(p, stream)])
            ratio = posterior.slot_variance(slots) / exact
            good += bool(np.all((ratio >= 1 / 3) & (ratio <= 3)))
            worst.append(max(ratio.max(), 1 / ratio.min()))
            size.append(len(posterior.dictionary))
        print(
            f"{q_bar:g} | {100 * good / n_draws:.1f} % | {np.median(worst):.2f} | "
            f"{np.mean(size):.0f}"
        )


def kors_sizes(n: int = 1500) -> None:
    """Print size and projection error of KORS's dictionary and the effective dimension."""
    print("lengthscale | mu | d_eff | gamma | m | mu_t / mu | m / (gamma d_eff)")
    for lengthscale in (1.0, 0.5):
        kernel = VectorKernel("matern-5/2", 0.25**2, lengthscale)
        x, zero = np.random.default_rng(0).random((n, 3)), np.zeros(n, dtype=np.int64)
        eigenvalues = np.linalg.eigvalsh(kernel(zero, x, zero, x))
        for mu in (0.01, 0.1):
            d_eff = float(np.sum(eigenvalues / (eigenvalues + mu)))
            for gamma in (0.5, 1.0, 5.0):
                rng = np.random.default_rng(1)
                posterior = SparsePosterior(kernel, np.ones(1), 3, mu)
                rule = Growing(Kors(mu, 0.5), gamma=gamma)
                rule.learn(posterior, posterior.slots(zero, x), np.zeros(n), rng)
                m, error = len(posterior.basis), whole_matrix(posterior)[1] / mu
                print(
                    f"{lengthscale} | {mu} | {d_eff:.0f} | {gamma:g} | {m} | {error:.2f} | "
                    f"{m / gamma / d_eff:.1f}"
                )


if __name__ == "__main__":
    variance_ratios()
    kors_sizes()
