"""Tables of *the papers* that take a minute: variances of BKB and the sizes of KORS.

`small` plays ten short bandits, which `make test` plays again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.bandits.kernel_bandit import load_bandit, play
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.ek import Growing, Kors, whole_matrix
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.sampling import draw, probabilities
from evroute.resources import data_path
from studies.pages.tables import store


def bkb_variances(n_draws: int = 200) -> None:
    """Write how often a dictionary keeps all variances within a factor 3 of the exact ones."""
    rng = np.random.default_rng(3)
    x = rng.random((200, 2))
    posterior = SparsePosterior(VectorKernel("rbf", 1.0, 0.25), np.ones(200), 2, 0.05)
    slots = posterior.slots(np.arange(200), x)
    posterior.absorb(rng.integers(0, 200, 300), np.zeros(300))
    observed = posterior.observed
    posterior.set_dictionary(observed)
    exact, rows = posterior.slot_variance(slots), []
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
        share = f"{100 * good / n_draws:.1f} %"
        rows.append([f"{q_bar:g}", share, f"{np.median(worst):.2f}", f"{np.mean(size):.0f}"])
    columns = ["q_bar", "draws within 1/3 to 3", "median worst ratio", "mean size"]
    store("bkb-variances", columns, rows, command="python -m studies.pages --run bkb-variances")


def kors(n: int = 1500) -> None:
    """Write size and projection error of KORS's dictionary and the effective dimension."""
    rows = []
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
                name = f"{lengthscale}, {mu}, {gamma:g}"
                scale = f"{m / gamma / d_eff:.1f}"
                rows.append([name, f"{d_eff:.0f}", f"{m}", f"{error:.2f}", scale])
    columns = ["lengthscale, mu, gamma", "d_eff", "points m", "mu_t / mu", "m / (gamma d_eff)"]
    store("kors", columns, rows, command="python -m studies.pages --run kors")


def small(names: tuple[str, ...]) -> list[list[str]]:
    """Return the regret of ten short runs of bandits: one repetition of 30 rounds."""
    bandit = load_bandit(data_path("bandits", "short.toml"))
    methods = [*bandit.methods, {"model": "k-ucb", "index": "greedy"}]
    short = bandit.model_validate(
        bandit.model_dump() | {"horizon": 30, "repetitions": 1, "methods": methods, "claims": None}
    )
    with TemporaryDirectory() as folder:
        rounds = play(short, lambda done: None, Path(folder)).to_pandas()
    regret = rounds.groupby("method", sort=False)["regret"].sum()
    return [[method, f"{value:.3f}"] for method, value in regret.items()]


SMALL = ["method", "regret of 30 rounds"]
RUNS = {"bkb-variances": bkb_variances, "kors": kors}
