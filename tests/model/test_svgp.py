"""SVGP in closed form: exact until its points are full, then the points that a rule chooses."""

import numpy as np
from engines import engine
from numpy.random import default_rng

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.svgp import GROWTH, SVGPOptions, pivots

N, NOISE_WH = 60, 0.3
FEATURES = default_rng(1).random((N, 2))
KERNEL = VectorKernel("rbf", 1.0, 0.4)
ARMS = Arms(np.arange(N), FEATURES, np.zeros(N))


def model_of(points: int, **options):
    given = KERNEL, ARMS, np.full(N, NOISE_WH), default_rng(0)
    return engine(SVGPOptions, *given, inducing_points=points, **options)


def learned(points: int, trips: list[list[int]]):
    """Return a model after trips with random energies, and all of these, arm by arm."""
    model, rng, all_wh = model_of(points), default_rng(2), []
    for rows in trips:
        wh = rng.standard_normal(len(rows))
        model.update(Feedback(np.array(rows), FEATURES[rows], np.zeros(len(rows)), wh))
        all_wh += wh.tolist()
    return model, np.concatenate(trips), np.array(all_wh)


def test_the_posterior_is_exact_while_all_arms_fit() -> None:
    model, rows, wh = learned(8, [[0, 1, 2, 3], [3, 4, 5, 0], [6, 7, 1, 1]])
    matrix = KERNEL(rows, FEATURES[rows], rows, FEATURES[rows]) + NOISE_WH**2 * np.eye(len(rows))
    cross = KERNEL(ARMS.id, FEATURES, rows, FEATURES[rows])
    belief = model.posterior(ARMS)
    np.testing.assert_allclose(belief.mean_wh, cross @ np.linalg.solve(matrix, wh), atol=1e-6)
    variance = 1.0 - np.einsum("ij,ji->i", cross, np.linalg.solve(matrix, cross.T))
    np.testing.assert_allclose(belief.std_wh**2, variance, atol=1e-6)


def test_points_are_those_that_the_others_explain_least() -> None:
    model, rows, _ = learned(20, [[*range(12)], [0, 1, 0, 5]])
    slots = np.unique(model.sparse.slots(rows, FEATURES[rows]))
    count = np.bincount(rows)
    gram = np.sqrt(np.outer(count, count)) * KERNEL(slots, FEATURES[slots], slots, FEATURES[slots])
    expected: list[int] = []
    for _ in range(5):  # by whole conditional covariances
        rest = gram
        if expected:
            some = gram[expected]
            rest = gram - some.T @ np.linalg.solve(some[:, expected], some)
        expected.append(int(np.argmax(rest.diagonal())))
    assert pivots(model.sparse, slots, 5).tolist() == expected


def test_the_dictionary_stays_full_and_is_chosen_again_as_arms_grow() -> None:
    model = model_of(10)
    sizes, dictionaries = [], []
    for row in range(N):
        model.update(Feedback(np.array([row]), FEATURES[[row]], np.zeros(1), np.ones(1)))
        sizes.append(len(model.sparse.dictionary))
        dictionaries.append(tuple(sorted(model.sparse.dictionary.tolist())))
    assert sizes == [*range(1, 11), *[10] * (N - 10)]
    changes = [k + 1 for k in range(10, N) if dictionaries[k] != dictionaries[k - 1]]
    allowed, after = [], 10
    for arms in range(11, N + 1):
        if arms > after:
            allowed.append(arms)
            after = int(GROWTH * arms)
    assert len(changes) > 5
    assert set(changes) <= set(allowed)


def test_the_most_used_points_are_the_most_measured_arms_after_every_trip() -> None:
    model = model_of(3, choice="most-used")
    for rows in ([7, 8, 9], [7, 8, 9, 4], [4, 4, 5], [5, 5, 5]):  # in the end 5 and 4, then 7
        energy_wh = np.ones(len(rows))
        model.update(Feedback(np.array(rows), FEATURES[rows], np.zeros(len(rows)), energy_wh))
    assert set(model.inducing().id.tolist()) == {4, 5, 7}
