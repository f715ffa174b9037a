import numpy as np
import pytest
from scipy.linalg import eigh

from evroute.model.kernels.graph_matern import GraphMatern, digest, raw_diagonal
from evroute.network.line_graph import LineGraph

ALL = np.arange(30)


@pytest.fixture
def laplacian(random_laplacian):
    return random_laplacian(30, 1)


def scaled(raw):
    return raw / raw.diagonal().mean()


def by_spectrum(laplacian, nu, kappa):
    eigenvalues, vectors = eigh(laplacian.toarray())
    return (vectors * (2 * nu / kappa**2 + eigenvalues) ** -nu) @ vectors.T


@pytest.mark.parametrize(("nu", "kappa"), [(1, 1.0), (2, 1.0), (3, 0.5), (4, 3.0)])
def test_columns_block_matrix_and_diagonal_are_the_power_of_the_shifted_laplacian(
    laplacian, nu, kappa
):
    graph = GraphMatern(laplacian, nu, kappa)
    expected = scaled(by_spectrum(laplacian, nu, kappa))
    edges = np.array([3, 17, 3, 0])
    np.testing.assert_allclose(graph.block(edges, np.arange(30)), expected[edges], atol=1e-12)
    np.testing.assert_allclose(graph.block(np.arange(30), edges), expected[:, edges], atol=1e-12)
    np.testing.assert_allclose(graph.matrix(), expected, atol=1e-12)
    np.testing.assert_allclose(graph.diagonal, expected.diagonal(), atol=1e-12)
    assert graph.diagonal.mean() == pytest.approx(1.0, abs=1e-14)


def test_the_kernel_of_a_network_without_turns_is_the_identity(random_laplacian):
    graph = GraphMatern(0.0 * random_laplacian(5, 0))
    np.testing.assert_allclose(graph.matrix(), np.eye(5), atol=1e-15)


def test_a_column_is_the_same_to_the_last_bit_in_any_company(laplacian):
    alone, together = GraphMatern(laplacian), GraphMatern(laplacian)
    all_at_once = together.block(ALL, ALL)
    for edge in (29, 3, 8):
        np.testing.assert_array_equal(alone.block(np.array([edge]), ALL)[0], all_at_once[edge])


def test_a_kept_diagonal_changes_nothing(laplacian):
    fresh = GraphMatern(laplacian)
    kept = GraphMatern(laplacian, raw_diagonal=raw_diagonal(laplacian))
    np.testing.assert_array_equal(kept.diagonal, fresh.diagonal)
    np.testing.assert_array_equal(kept.block(ALL[:5], ALL), fresh.block(ALL[:5], ALL))


def test_a_diagonal_of_another_network_is_refused(laplacian):
    with pytest.raises(ValueError, match=r"shape \(3,\), expected \(30,\)"):
        GraphMatern(laplacian, raw_diagonal=np.ones(3))


@pytest.mark.parametrize(
    ("nu", "kappa"), [(0, 1), (-1, 1), (2, 0), (1.5, 1), (np.nan, 1), (2, np.inf)]
)
def test_bad_parameters_are_refused(laplacian, nu, kappa):
    with pytest.raises(ValueError, match="nu must be a whole and kappa any positive number"):
        GraphMatern(laplacian, nu, kappa)


def test_the_digest_tells_kernels_apart(laplacian):
    names = {
        digest(laplacian, 2, 1),
        digest(laplacian, 3, 1),
        digest(laplacian, 2, 2),
        digest(2 * laplacian, 2, 1),
    }
    assert len(names) == 4
    assert digest(laplacian.copy(), 2, 1.0) in names


@pytest.mark.data
@pytest.mark.slow
def test_columns_on_monaco_equal_the_eigendecomposition(monaco):
    laplacian = LineGraph.from_network(monaco).laplacian(monaco.length_m)
    graph = GraphMatern(laplacian)
    eigenvalues, vectors = eigh(laplacian.toarray(), overwrite_a=True)
    weights = (4.0 + np.maximum(eigenvalues, 0.0)) ** -2.0
    raw = vectors**2 @ weights
    edges = np.arange(0, monaco.n_edges, 35)
    columns = (vectors * weights) @ vectors[edges].T / raw.mean()
    assert np.abs(graph.block(np.arange(monaco.n_edges), edges) - columns).max() < 1e-8
    assert np.abs(graph.diagonal - raw / raw.mean()).max() < 1e-8


@pytest.mark.data
def test_the_raw_diagonal_on_monaco_spans_a_wide_range_below_its_bound(monaco):
    raw = raw_diagonal(LineGraph.from_network(monaco).laplacian(monaco.length_m))
    assert raw.max() <= 1.0 / 16.0
    assert raw.min() < 0.15 * raw.mean()
    assert raw.max() > 4.0 * raw.mean()
