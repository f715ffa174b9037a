"""The sparse graph kernel against the dense one, and the exact model on both."""

import weakref

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.model import regional
from evroute.model.exact import ExactGP
from evroute.model.kernels import sparse_graph
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.model.kernels.sparse_graph import PriorDraws
from evroute.model.regional import RegionalOptions
from evroute.model.regional import sparse_graph as build_graph
from evroute.network.line_graph import LineGraph

BOUND = 2 * sparse_graph.TOLERANCE
"""Twice the bound before rounding to single precision."""


def places(network):
    return ((at[network.tail] + at[network.head]) / 2 for at in (network.x_m, network.y_m))


@pytest.fixture(scope="module")
def graphs(denver):
    laplacian = LineGraph.from_network(denver).laplacian(denver.length_m)
    return build_graph(denver, None), GraphMatern(laplacian, nu=2, kappa=1)


@pytest.fixture(scope="module")
def setting(denver) -> Setting:
    return Setting(denver, load_vehicle("reference"))


@pytest.fixture(scope="module")
def pair(setting):
    """A regional and an exact model that heard of the same trips."""
    arms, rng = setting.arms, np.random.default_rng(0)
    models = (
        RegionalOptions().build(setting, rng),
        ExactGP(setting.kernel, arms, setting.noise_std_wh),
    )
    for _ in range(3):
        origin, destination = rng.integers(len(arms), size=2).tolist()
        rows = setting.search.route(setting.network.length_m, origin, destination).rows
        energy_wh = arms.prior_mean_wh[rows] + rng.normal(0.0, 20.0, len(rows))
        for model in models:
            model.update(Feedback(rows, arms.features[rows], arms.prior_mean_wh[rows], energy_wh))
    return models


def test_columns_from_patches_equal_solves_on_the_whole_network(graphs):
    sparse, whole = graphs
    edges = np.arange(0, sparse.n_edges, 7)
    everywhere = np.arange(sparse.n_edges)
    assert (
        np.abs(sparse.block(edges, everywhere) - whole.block(edges, np.arange(whole.n_edges))).max()
        < BOUND * whole.diagonal.max()
    )
    assert np.abs(sparse.diagonal - whole.diagonal).max() < BOUND * whole.diagonal.max()


def test_patches_do_not_depend_on_the_tile_before(make_network, monkeypatch):
    # along the first half of a line the kernel fades fast, along the other half slowly
    n = 3000
    line = make_network(
        [(f"{k}", k, k + 1) for k in range(n)],
        [(10.0 * k, 0.0, 0.0) for k in range(n + 1)],
        length_m=np.where(np.arange(n) < n // 2, 300.0, 10.0),
    )
    laplacian = LineGraph.from_network(line).laplacian(line.length_m)
    x_m, y_m = places(line)
    growths, patch_of = [], sparse_graph.Patches.patch_of
    monkeypatch.setattr(
        sparse_graph.Patches,
        "patch_of",
        lambda self, tile, growth: growths.append(growth) or patch_of(self, tile, growth),
    )
    roots = []
    for step in (1, -1):
        some = sparse_graph.tiles(x_m, y_m)[::step]
        with monkeypatch.context() as patched:
            patched.setattr(sparse_graph, "tiles", lambda x_m, y_m, some=some: some)
            roots.append(sparse_graph.sparse_root(laplacian, 1.0, x_m, y_m))
    assert {-1, 1} <= set(np.sign(np.diff(growths)))
    first, other = (root.rows(np.arange(n)) for root in roots)
    # the columns of a root are edges
    assert (first != other).nnz == 0


def test_patches_smaller_than_the_network_grow_until_the_bound_holds(make_network):
    # a line of 1,500 streets of 10 m, along which the kernel fades slowly
    n = 1500
    line = make_network(
        [(f"{k}", k, k + 1) for k in range(n)],
        [(10.0 * k, 0.0, 0.0) for k in range(n + 1)],
        length_m=np.where(np.arange(n) % 30 == 0, 300.0, 10.0),
    )
    laplacian = LineGraph.from_network(line).laplacian(line.length_m)
    root = sparse_graph.sparse_root(laplacian, 1.0, *places(line))
    assert np.diff(root.start).max() < n / 2
    sparse, whole = sparse_graph.SparseGraphMatern(root, ""), GraphMatern(laplacian, nu=2, kappa=1)
    edges = np.arange(0, n, 97)
    error = np.abs(sparse.block(edges, np.arange(n)) - whole.block(edges, np.arange(whole.n_edges)))
    assert error.max() < BOUND * whole.diagonal.max()


def test_every_edge_lies_in_one_small_tile(denver):
    cut = sparse_graph.tiles(*places(denver))
    np.testing.assert_array_equal(np.sort(np.concatenate(cut)), np.arange(denver.n_edges))
    assert max(map(len, cut)) <= sparse_graph.TILE_EDGES


def test_a_block_is_right_for_lists_in_any_order_and_with_repeats(graphs):
    sparse, whole = graphs
    a, b = np.array([5, 3, 3, 900]), np.array([7, 5, 2, 5, 901, 3])
    for first, second in ((a, b), (b, a)):
        expected = whole.matrix()[np.ix_(first, second)]
        np.testing.assert_allclose(
            sparse.block(first, second), expected, atol=BOUND * whole.diagonal.max()
        )


def test_the_root_is_kept_and_read_back(denver, tmp_path, graphs):
    for _ in range(2):
        kept = build_graph(denver, tmp_path)
        np.testing.assert_array_equal(kept.diagonal, graphs[0].diagonal)
        edges = np.arange(9)
        np.testing.assert_array_equal(kept.block(edges, edges), graphs[0].block(edges, edges))


def test_a_root_of_which_a_part_was_damaged_is_made_again_with_one_warning(hill, tmp_path, caplog):
    first = build_graph(hill, tmp_path)
    diagonal = first.diagonal.copy()
    (value,) = tmp_path.rglob("*-value.npy")
    whole = value.read_bytes()
    value.write_bytes(whole[:-40] + bytes(40))
    again = build_graph(hill, tmp_path)
    np.testing.assert_array_equal(again.diagonal, diagonal)
    (warning,) = caplog.messages
    assert f"{value} is damaged" in warning
    assert value.read_bytes() == whole


def test_the_posterior_on_some_edges_is_the_exact_one_of_all(pair, setting):
    some = setting.arms.take(np.arange(100, 1000))
    here, everywhere = (model.posterior(some) for model in pair)
    scale = np.sqrt(setting.prior_variance_wh2.mean())
    np.testing.assert_allclose(here.mean_wh, everywhere.mean_wh, atol=1e-5 * scale)
    np.testing.assert_allclose(here.std_wh**2, everywhere.std_wh**2, atol=1e-5 * scale**2)
    np.testing.assert_allclose(pair[0].mean(some), here.mean_wh, rtol=1e-12)
    route = setting.arms.take(np.arange(30))
    np.testing.assert_allclose(
        pair[0].covariance(route), pair[1].covariance(route), atol=1e-5 * scale**2
    )


def test_draws_of_the_prior_have_its_covariance(setting):
    kernel, arms = setting.sparse_kernel, setting.arms
    rows = np.array([10, 11, 12, 400, 800, 10])
    rng, draws = np.random.default_rng(0), PriorDraws(kernel)
    sample = np.array([draws(rows, arms.features[rows], rng) for _ in range(800)])
    expected = kernel(rows, arms.features[rows], rows, arms.features[rows])
    scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    assert (
        np.abs(sample.T @ sample / len(sample) - expected).max()
        < 5 * np.sqrt(2 / len(sample)) * scale.max()
    )
    np.testing.assert_allclose(sample[:, 0], sample[:, 5], atol=1e-12 * scale.max())


def test_joint_draws_have_the_posterior_mean_and_covariance(pair, setting):
    some = setting.arms.take(np.arange(600, 1120))
    rng, size, multiplier = np.random.default_rng(1), 200, 0.5
    draws = np.array([pair[0].sample_around(some, rng, multiplier) for _ in range(size)])
    belief, covariance = pair[1].posterior(some), pair[1].covariance(some)
    error = (draws.mean(axis=0) - belief.mean_wh) / (multiplier * belief.std_wh) * np.sqrt(size)
    assert np.abs(error).max() < 5
    watched = np.arange(0, len(some), 40)
    centred = draws[:, watched] - belief.mean_wh[watched]
    scale = np.outer(belief.std_wh[watched], belief.std_wh[watched]) * multiplier**2
    off = (
        centred.T @ centred / size - multiplier**2 * covariance[np.ix_(watched, watched)]
    ) / scale
    assert np.abs(off).max() < 5 * np.sqrt(2 / size)


def test_a_model_without_reference_arms_needs_a_sparse_kernel(setting):
    with pytest.raises(TypeError, match="no sparse root"):
        ExactGP(setting.kernel, setting.arms.take(np.empty(0, dtype=int)), setting.noise_std_wh)


@pytest.mark.data
@pytest.mark.slow
def test_the_sparse_kernel_of_luxembourg_is_within_its_bound_of_the_exact_one(luxembourg):
    laplacian = LineGraph.from_network(luxembourg).laplacian(luxembourg.length_m)
    whole, sparse = GraphMatern(laplacian, nu=2, kappa=1), build_graph(luxembourg, None)
    edges = np.arange(0, luxembourg.n_edges, 40)
    error = np.abs(
        sparse.block(edges, np.arange(luxembourg.n_edges))
        - whole.block(edges, np.arange(whole.n_edges))
    )
    assert error.max() < BOUND


def test_a_part_of_the_root_is_let_go_when_it_is_mapped(denver, graphs, tmp_path, monkeypatch):
    made, held = [], []
    make, map_part = regional.sparse_root, regional.mapped

    def watched(*given):
        root = make(*given)
        made.extend(weakref.ref(getattr(root, part)) for part in regional.PARTS)
        return root

    def counted(path, part):
        array = map_part(path, part)
        held.append(sum(each() is not None for each in made))
        return array

    monkeypatch.setattr(regional, "sparse_root", watched)
    monkeypatch.setattr(regional, "mapped", counted)
    mapped = build_graph(denver, tmp_path)
    assert held == [4, 3, 2, 1, 0]
    again = build_graph(denver, tmp_path)
    assert len(made) == len(regional.PARTS)
    for part in regional.PARTS:
        for graph in (mapped, again):
            np.testing.assert_array_equal(
                getattr(graph._root, part), getattr(graphs[0]._root, part)
            )
