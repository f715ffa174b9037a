"""Confidence parameters, indices and rectified means: Sandberg et al., Theorem 3.1, Algorithm 2."""

from mpmath import erfinv, log, mpf, ncdf, npdf, pi, sqrt

BELIEFS = [  # mean, standard deviation and noise deviation of an edge, Wh
    (12, 3, 2),
    (-40, 25, 7),
    (0.5, 0.01, 0.2),
    (300, 120, 15),
    (-2, 0.3, 6.5),
    (3, 9, 0.5),
]


def cases():
    """Return both indices of some edges at some rounds."""
    grid = [(n, t) for n in (6, 1342) for t in (1, 2, 37, 500)]
    levels = [(1, 1), (1, 0.5), (1.5, 2)]
    return [case(n, t, *level) for n, t in grid for level in levels]


def case(n_arms, t, omega, xi):
    """Return beta, indices and weights of GP-UCB and GP-BayesUCB."""
    ucb = 2 * log(n_arms * mpf(t) ** 2 / sqrt(2 * pi))  # Theorem 3.1 (i)
    eta = sqrt(2 * pi) ** mpf(omega) / (2 * mpf(n_arms) ** mpf(omega) * mpf(t) ** mpf(xi))  # (ii)
    bayes = 2 * erfinv(1 - 2 * eta) ** 2  # Theorem 3.1 (ii): sqrt(beta) = Phi^-1(1 - eta)
    found = {"n_arms": n_arms, "t": t, "omega": omega, "xi": xi, "beliefs": BELIEFS}
    for name, beta in (("ucb", ucb), ("bayes_ucb", bayes)):
        index = [mpf(mean) - sqrt(beta) * mpf(std) for mean, std, _ in BELIEFS]  # Algorithm 2, l. 2
        weight = [rectified(u, mpf(noise)) for u, (_, _, noise) in zip(index, BELIEFS, strict=True)]
        found |= {f"beta_{name}": beta, f"index_{name}": index, f"weight_{name}": weight}
    return found


def rectified(mean, std):
    """Return E[max(0, X)] of a normal X."""
    z = mean / std
    return mean * ncdf(z) + std * npdf(z)  # Algorithm 2, line 3: mean of the rectified normal
