"""First passage against joint draws of whole trips (`docs/figures/risk.md`).

python studies/first_passage_draws.py 1000000
"""

import sys

import numpy as np

from evroute.planning.forecasts.first_passage import first_passage

CASES = 24
SEED = 0


def main(draws: int) -> None:
    """Print the greatest difference of the probabilities, and the standard error of the draws."""
    rng = np.random.default_rng(SEED)
    off, errors = [], []
    for case in range(CASES):
        k, nu = int(rng.integers(5, 40)), [3.0, 6.0, 30.0, np.inf][case % 4]
        load = rng.uniform(5.0, 15.0, k)
        if case % 3 == 1:  # edges that drain what others save
            load *= rng.choice([-1.0, 1.0], k)
        edges = np.diag(rng.uniform(20.0, 200.0, k)) + np.outer(load, load) * (case % 3 != 2)
        covariance = edges.cumsum(axis=0).cumsum(axis=1)
        sd = np.sqrt(covariance.diagonal())
        room = rng.uniform(1.5, 2.5) * sd.max() + np.cumsum(rng.normal(0.0, 0.1 * sd.max(), k))
        crossed = np.zeros(draws, dtype=bool)
        scale = 1.0 if np.isinf(nu) else np.sqrt(nu / rng.chisquare(nu, draws))
        root, normal = np.linalg.cholesky(covariance), rng.standard_normal((k, draws))
        for row, least in zip(root, room, strict=True):
            crossed |= scale * (row @ normal) > least
        share = crossed.mean()
        off.append(abs(first_passage(room, covariance, nu) - share))
        errors.append(np.sqrt(share * (1 - share) / draws))
    worst = int(np.argmax(off))
    print(
        f"{CASES} cases: greatest difference {100 * off[worst]:.3f} percentage points "
        f"(standard error there {100 * errors[worst]:.3f}), median {100 * np.median(off):.3f}"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
