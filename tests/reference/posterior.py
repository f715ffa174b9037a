"""Posteriors of Sandberg et al., eqs. 2-3, from networks, contexts and measured trips."""

from graph_kernel import NETWORKS, graph_matern, matern52
from mpmath import inverse, matrix, mpf

STD_WH, NOISE_WH = 12.5, [2.5, 4, 3.1, 5.2, 2.2, 6, 3.3, 4.4]
CONTEXTS = [
    [0.3, 1.1, -0.4],
    [2.2, 0.7, 0],
    [0.1, 1.1, 1.8],
    [0.9, 2.4, -2.1],
    [1.4, 0.3, 0.2],
    [0.2, 0.7, 0.9],
    [3.1, 2.4, -0.3],
    [0.6, 1.9, 0.5],
]
PRIOR_WH = [11, 85, -7.5, 22, 31, 14, 57, 3]
TRIPS = [
    [[0, 14.2], [1, 91.5]],
    [[4, 25], [3, 20.5], [1, 80.1], [1, 83.3], [2, -11]],
    [[0, 9.9], [2, -3.2], [0, 12], [4, 38.5]],
]


def cases():
    """Return the belief after one, two and three trips, on two networks and two lengthscales."""
    return [
        case(network, lengthscales, TRIPS[: n + 1])
        for network in NETWORKS[1:]
        for lengthscales in ([1, 1, 1], [0.4, 2.5, 0.8])
        for n in range(3)
    ]


def case(network, lengthscales, trips):
    """Return prior covariance, posterior mean and covariance of all edges, Wh and Wh²."""
    n = len(network["length_m"])
    graph = graph_matern(**network, nu=2, kappa=1)
    prior = matrix(n, n)
    for a in range(n):
        for b in range(n):
            context = matern52(CONTEXTS[a], CONTEXTS[b], lengthscales)
            shared = (graph[a, b] * context + context) / 2  # section B.1: k_G k_f + k_f', halves
            prior[a, b] = mpf(STD_WH) ** 2 * shared
    edges = [edge for trip in trips for edge, _ in trip]
    residual = matrix([mpf(wh) - mpf(PRIOR_WH[edge]) for trip in trips for edge, wh in trip])
    gram = matrix(len(edges), len(edges))
    cross = matrix(n, len(edges))
    for i, a in enumerate(edges):
        for j, b in enumerate(edges):
            gram[i, j] = prior[a, b] + (mpf(NOISE_WH[a]) ** 2 if i == j else 0)
        for b in range(n):
            cross[b, i] = prior[b, a]
    solved = inverse(gram)  # eqs. 2-3: (K + noise)^-1
    return network | {
        "std_wh": STD_WH,
        "noise_std_wh": NOISE_WH[:n],
        "contexts": CONTEXTS[:n],
        "lengthscales": lengthscales,
        "prior_mean_wh": PRIOR_WH[:n],
        "trips": trips,
        "mean_wh": matrix([mpf(wh) for wh in PRIOR_WH[:n]]) + cross * (solved * residual),  # eq. 2
        "covariance_wh2": prior - cross * solved * cross.T,  # eq. 3
    }
