"""Kernels of Sandberg et al., section B.1: eqs. 132 to 136."""

from mpmath import diag, eigsy, exp, eye, matrix, mpf, sqrt

NETWORKS = [
    {"length_m": [10, 30], "turns": [[0, 1], [1, 0]]},
    {
        "length_m": [120, 45, 300, 80, 61.5],
        "turns": [[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [4, 0], [4, 1]],
    },
    {
        "length_m": [55, 410, 33, 90, 140, 72, 260, 18],
        "turns": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [4, 5], [5, 6], [6, 7], [7, 4], [2, 6]],
    },
]


def laplacian(length_m, turns):
    """Return the incidence Laplacian of the line graph."""
    n, mean = len(length_m), sum(map(mpf, length_m)) / len(length_m)
    incidence = matrix(n, len(turns))
    for column, (source, target) in enumerate(turns):
        weight = mean / mpf(length_m[source])  # eq. 132: W(e1, e2) = mean length / length(e1)
        incidence[source, column], incidence[target, column] = -weight, weight  # eq. 133: B
    return incidence * incidence.T  # eq. 133: L = B B'


def graph_matern(length_m, turns, nu, kappa):
    """Return the graph Matérn kernel, scaled to mean diagonal 1."""
    inner = laplacian(length_m, turns)
    n = inner.rows
    values, vectors = eigsy(inner + eye(n) * (2 * mpf(nu) / mpf(kappa) ** 2))
    raw = vectors * diag([value ** -mpf(nu) for value in values]) * vectors.T  # eq. 134
    return raw * (n / sum(raw[i, i] for i in range(n)))  # ours: the paper gives no scaling


def matern52(x, y, lengthscales):
    """Return the Matérn kernel of smoothness 5/2 of two contexts."""
    squares = [
        ((mpf(a) - mpf(b)) / mpf(s)) ** 2 for a, b, s in zip(x, y, lengthscales, strict=True)
    ]
    r = sqrt(5 * sum(squares))  # eq. 136: D, one lengthscale per feature
    return (1 + r + r**2 / 3) * exp(-r)  # eq. 135 at nu = 5/2


def cases():
    """Return the kernel of each network, and the kernel of some contexts."""
    found = []
    for network in NETWORKS:
        for nu, kappa in ((2, 1), (1, 0.5), (3, 2)):
            kernel = graph_matern(**network, nu=nu, kappa=kappa)
            found.append(
                network
                | {"nu": nu, "kappa": kappa, "laplacian": laplacian(**network), "kernel": kernel}
            )
    contexts = [[0, 0, 0], [1.5, -0.2, 0.4], [1.5, -0.2, 0.41], [-3, 2, 7], [0.1, 0, 0]]
    scales = [1, 0.5, 2]
    gram = [[matern52(a, b, scales) for b in contexts] for a in contexts]
    return [*found, {"contexts": contexts, "lengthscales": scales, "matern52": gram}]
