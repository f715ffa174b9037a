"""The pieces of the page *Pieces apart* compute what other programs and formulas do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import evroute

PAGE = Path(__file__).parents[1] / "docs/how-to/pieces.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
MOST_LINES = 10


@pytest.fixture
def run() -> Callable[[str], dict[str, Any]]:
    """Run the block of the page that has a word, and return its variables."""

    def run(word: str) -> dict[str, Any]:
        (block,) = (block for block in BLOCKS if word in block)
        scope: dict[str, Any] = {}
        exec(compile(block, word, "exec"), scope)
        return scope

    return run


def test_each_example_has_at_most_ten_lines() -> None:
    for block in BLOCKS:
        lines = [line for line in block.splitlines() if line and "import" not in line]
        assert len(lines) <= MOST_LINES
    assert len(BLOCKS) == 5


def test_the_graph_kernel_is_the_power_of_the_laplacian(run: Any) -> None:
    """Sandberg et al., eq. 134: (2 nu / kappa² I + L)^-nu, scaled to a mean diagonal of 1."""
    laplacian = nx.laplacian_matrix(nx.karate_club_graph()).toarray()
    inverse = np.linalg.inv(4 * np.eye(34) + laplacian)
    expected = inverse @ inverse
    club = run("GraphMatern")["club"].detach().numpy()
    np.testing.assert_allclose(club, expected / expected.diagonal().mean(), rtol=1e-6, atol=1e-9)


def test_the_posterior_equals_a_gaussian_process(run: Any) -> None:
    """Rasmussen & Williams, eqs. 2.23 and 2.24."""
    scope = run("IncrementalPosterior")
    prior, at = scope["prior"], [1, 4]
    gain = np.linalg.solve(prior[np.ix_(at, at)] + 0.1 * np.eye(2), prior[at]).T
    np.testing.assert_allclose(scope["mean"], gain @ [1.0, -1.0])
    expected = prior.diagonal() - np.einsum("ij,ji->i", gain, prior[at])
    np.testing.assert_allclose(scope["variance"], expected)


def test_the_route_is_the_shortest_path_of_networkx(run: Any) -> None:
    scope = run("from_osmnx")
    roads = scope["roads"]
    turns = nx.DiGraph()
    turns.add_weighted_edges_from((a, b, roads.length_m[b]) for a, b in roads.turns.tolist())
    expected_m = nx.shortest_path_length(turns, 3, 700, weight="weight")
    found_m = roads.length_m[list(scope["shortest"].edges[1:])].sum()
    assert found_m == pytest.approx(expected_m)


def test_the_energy_of_the_vehicle_is_the_work_of_its_forces(run: Any) -> None:
    """Work against height, rolling and air over the efficiency, and auxiliaries."""
    scope, car, speed = run("energy_parts"), evroute.load_vehicle("renault-zoe"), 50 / 3.6
    weight_n, level_m = car.mass_kg * 9.82, np.sqrt(1000.0**2 - 20.0**2)
    air_n = 0.5 * 1.2 * car.drag * car.front_m2 * speed**2
    work_j = weight_n * 20 + weight_n * car.rolling * level_m + air_n * 1000
    total_j = work_j / car.propulsion_efficiency + car.auxiliary_w * 1000 / speed
    assert scope["total_wh"][0] == pytest.approx(total_j / 3600, rel=0.001)
    drag_wh = air_n * 1000 / car.propulsion_efficiency / 3600
    assert scope["drag_wh"][0] == pytest.approx(drag_wh, rel=0.001)


def test_the_policy_finds_the_cheapest_arm(run: Any) -> None:
    chosen = run("IndependentThompson")["chosen"]
    assert np.mean(np.array(chosen[100:]) == 1) > 0.9
