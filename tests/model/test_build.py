import logging
from dataclasses import replace

import numpy as np
import pytest

from evroute.energy import prior as energy_prior
from evroute.energy.vehicle import load_vehicle
from evroute.model.kernels import build
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network import context
from evroute.network.line_graph import LineGraph
from evroute.planning.spaces.edge_space import EdgeSpace


@pytest.fixture
def prior(hill):
    return energy_prior.fit(hill, load_vehicle("reference"))


@pytest.fixture
def arms(hill, prior):
    return EdgeSpace(hill, load_vehicle("reference")).reference


def files(folder):
    return sorted(path.name.split("-")[0:2] for path in folder.rglob("*.npy"))


def test_the_standard_kernel_has_the_papers_values(hill, prior, arms):
    kernel = EdgeContextKernel(build.standard_graph(hill, None), prior.std_wh, np.ones(3))
    graph = GraphMatern(LineGraph.from_network(hill).laplacian(hill.length_m), 2, 1)
    by_hand = EdgeContextKernel(graph, prior.std_wh, np.ones(3))
    assert len(context.NAMES) == 3
    np.testing.assert_array_equal(kernel.matrix(arms.features), by_hand.matrix(arms.features))
    assert kernel.diagonal(arms.id, arms.features).mean() == pytest.approx(prior.std_wh[0] ** 2)


def test_the_diagonal_is_kept_and_used(hill, tmp_path, monkeypatch):
    first = build.standard_graph(hill, tmp_path)
    assert files(tmp_path) == [["graph", "diagonal"]]
    monkeypatch.setattr(build.graph_matern, "raw_diagonal", lambda *_: pytest.fail("made again"))
    again = build.standard_graph(hill, tmp_path)
    np.testing.assert_array_equal(again.diagonal, first.diagonal)


def cut(whole):
    return whole[:-9]


def other_numbers(whole):
    half = len(whole) // 2
    return whole[:half] + bytes(byte ^ 1 for byte in whole[half:-32]) + whole[-32:]


@pytest.mark.parametrize(
    "damage", [cut, other_numbers, lambda whole: b"", lambda whole: whole[:-32]]
)
def test_a_kept_file_that_was_damaged_is_made_again_with_one_warning(
    hill, prior, arms, tmp_path, caplog, damage
):
    kernel = EdgeContextKernel(build.standard_graph(hill, None), prior.std_wh, np.ones(3))
    first = np.array(build.prior_factor(kernel, arms, tmp_path))
    (kept,) = tmp_path.rglob("*.npy")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    with caplog.at_level(logging.WARNING):
        again = build.prior_factor(kernel, arms, tmp_path)
    assert len(caplog.messages) == 1
    assert f"{kept} is damaged" in caplog.text
    assert "making it again" in caplog.text
    np.testing.assert_array_equal(again, first)
    assert kept.read_bytes() == whole


@pytest.mark.parametrize("kept", [False, True])
def test_the_prior_factor_squares_to_the_prior_covariance(hill, prior, arms, tmp_path, kept):
    kernel = EdgeContextKernel(build.standard_graph(hill, None), prior.std_wh, np.ones(3))
    factors = [build.prior_factor(kernel, arms, tmp_path if kept else None) for _ in range(2)]
    np.testing.assert_array_equal(*factors)
    covariance = build.prior_covariance(kernel, arms)
    np.testing.assert_allclose(factors[0] @ factors[0].T, covariance, rtol=1e-13)
    assert files(tmp_path) == ([["prior", "factor"]] if kept else [])
    assert isinstance(factors[1], np.memmap) == kept


def test_another_vehicle_has_another_prior_file(hill, arms, tmp_path):
    for mass_kg in (1830.0, 900.0):
        prior = energy_prior.fit(hill, replace(load_vehicle("reference"), mass_kg=mass_kg))
        build.prior_factor(
            EdgeContextKernel(build.standard_graph(hill, tmp_path), prior.std_wh, np.ones(3)),
            arms,
            tmp_path,
        )
    assert files(tmp_path) == [["graph", "diagonal"], ["prior", "factor"], ["prior", "factor"]]


def test_the_prior_of_some_edges_alone_is_refused(hill, prior, arms):
    kernel = EdgeContextKernel(build.standard_graph(hill, None), prior.std_wh, np.ones(3))
    with pytest.raises(ValueError, match="all 7 edges"):
        build.prior_covariance(kernel, arms.take(np.arange(6)))
