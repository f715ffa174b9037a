"""Roads by the graph-Matérn x Matérn kernel: features, their posterior, and beliefs with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import UnknownNameError
from evroute.learning.learn import learn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.road_features import RoadFeatures
from evroute.learning.roads.road_kernel import LEAST, MOST, RoadKernel
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.kept_trips import ROAD
from evroute.learning.trips.regression import TripRegression
from evroute.methods.setting import Setting
from evroute.model.context_kernels.matern import Matern52
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.model.kernels.sparse_graph import LOCAL_TOLERANCE, LocalGraphMatern
from evroute.network import context
from evroute.network.line_graph import LineGraph
from evroute.planning.dispatch.stops import read_stops
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner

CAR = load_vehicle("renault-zoe")


@pytest.fixture(scope="module")
def setting(denver) -> Setting:
    return Setting(denver, CAR)


@pytest.fixture(scope="module")
def dense(denver) -> np.ndarray:
    """k_G k_f of all roads, from the factor of the whole network."""
    laplacian = LineGraph.from_network(denver).laplacian(denver.length_m)
    graph = GraphMatern(laplacian, nu=2, kappa=1).matrix()
    system = laplacian.diagonal() + 4.0
    inverse = np.linalg.inv(laplacian.toarray() + 4.0 * np.eye(denver.n_edges))
    scale = (inverse @ inverse).diagonal().mean() / (system**-2).mean()
    features = context.build(denver).features
    return scale * graph * Matern52()(features, features, np.ones(3))


def routes(setting: Setting, n: int, seed: int = 0) -> list[np.ndarray]:
    """Return fastest routes between random roads of the first part of the network."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < n:
        pair = rng.choice(300, 2, replace=False).tolist()
        try:
            found.append(np.array(setting.search.route(setting.network.time_s, *pair).rows))
        except evroute.EvrouteError:
            continue
    return found


def trips_of(setting: Setting, n: int, seed: int = 0, prefix: str = "") -> list[MeasuredTrip]:
    """Return trips on which each road takes its own share more than eq. 8."""
    rng, network = np.random.default_rng(seed), setting.network
    more = 0.4 * np.sin(np.arange(network.n_edges) // 5)
    dissipated_wh = RoadKernel(setting).dissipated_wh
    found = []
    for i, edge in enumerate(routes(setting, n, seed)):
        wh = setting.arms.prior_mean_wh[edge] + (more * dissipated_wh)[edge]
        wh = wh + rng.normal(0.0, 5.0) / len(edge)
        departed_s = 86_400.0 * i
        found.append(MeasuredTrip(f"{prefix}{i}", edge, wh, network.time_s[edge], departed_s))
    return found


def belief_of(setting: Setting, trips: list[MeasuredTrip], roads: str = "kernel") -> TripEnergies:
    energies = TripEnergies(setting, physics="eq8", roads=roads)
    for trip in trips:
        energies.learn(trip)
    return energies


def test_columns_of_patches_equal_those_of_the_whole_network(denver) -> None:
    laplacian = LineGraph.from_network(denver).laplacian(denver.length_m)
    x_m, y_m = ((at[denver.tail] + at[denver.head]) / 2 for at in (denver.x_m, denver.y_m))
    local = LocalGraphMatern(laplacian, 1, x_m, y_m)
    whole = np.linalg.inv(laplacian.toarray() + 4.0 * np.eye(denver.n_edges))
    whole = whole @ whole / ((laplacian.diagonal() + 4.0) ** -2).mean()
    edges = np.arange(0, denver.n_edges, 50)
    for edge in edges.tolist():
        patch, column = local.column(edge)
        found = np.zeros(denver.n_edges)
        found[patch] = column
        assert np.abs(found - whole[edge]).max() <= LOCAL_TOLERANCE
        assert np.isin(patch, local.near(np.array([edge]))).all()
    np.testing.assert_allclose(local.diagonal(edges), whole[edges, edges], atol=LOCAL_TOLERANCE)


def test_products_of_features_are_the_kernel_that_the_points_explain(setting, dense) -> None:
    driven = routes(setting, 40)
    shares = [np.ones(len(each)) for each in driven]
    kernel = RoadKernel(setting)
    roads = kernel.chosen(RoadFeatures.none(), driven, shares)
    every = np.arange(setting.network.n_edges)
    features = roads.of(every, 1.0 / kernel.dissipated_wh)
    assert np.abs(features[features != 0]).min() >= LEAST
    assert 0.9 < (features == 0).mean() < 1.0
    # the driven roads that are described best have nearly their prior variance
    used = np.unique(np.concatenate(driven))
    share = (features[used] ** 2).sum(axis=1) / dense.diagonal()[used]
    assert len(roads) == 3 * len(driven)
    assert np.sort(share)[-len(roads) // 2 :].min() > 0.99
    explained = features @ features.T
    some = used[share > 0.999]
    np.testing.assert_allclose(explained[np.ix_(some, some)], dense[np.ix_(some, some)], atol=0.05)


def test_earlier_inducing_roads_are_kept(setting) -> None:
    driven = routes(setting, 40)
    shares = [np.ones(len(each)) for each in driven]
    kernel = RoadKernel(setting)
    first = kernel.chosen(RoadFeatures.none(), driven[:10], shares[:10])
    both = kernel.chosen(first, driven, shares)
    every = np.arange(setting.network.n_edges)
    assert (len(first), len(both)) == (30, 120)
    one, other = first.of(every, np.ones(len(every))), both.of(every, np.ones(len(every)))
    np.testing.assert_array_equal(other[:, :30], one)
    many = kernel.chosen(both, driven * 10, shares * 10)
    assert len(many) == MOST


def test_the_posterior_is_the_optimum_of_gpytorch_at_the_same_points(
    setting, dense, monkeypatch
) -> None:
    """One natural-gradient step of size 1 of GPyTorch's SVGP reaches the optimum of q(u)."""
    gpytorch, torch = pytest.importorskip("gpytorch"), pytest.importorskip("torch")
    monkeypatch.setattr("evroute.learning.roads.road_kernel.LEAST", 0.0)
    driven, rng = routes(setting, 12), np.random.default_rng(1)
    kernel, s, noise = RoadKernel(setting), 0.3, 0.2
    roads = kernel.chosen(RoadFeatures.none(), driven, [np.ones(len(each)) for each in driven])
    n = setting.network.n_edges
    every, edge = np.arange(n), np.unique(np.concatenate(driven))
    unit = roads.of(every, 1.0 / kernel.dissipated_wh)
    weight = np.bincount(np.concatenate(driven), minlength=n) * kernel.dissipated_wh**2
    points: list[int] = []
    for _ in range(len(roads)):  # pivots by whole conditional variances
        some = dense[points]
        rest = dense.diagonal() - (some * np.linalg.solve(some[:, points], some)).sum(axis=0)
        points.append(int(np.argmax(weight * rest)))
    measured = rng.standard_normal(len(edge))

    class Rows(gpytorch.kernels.Kernel):
        def forward(self, x1, x2, diag=False, **_):
            a, b = x1[..., 0].long(), x2[..., 0].long()
            values = torch.tensor(s**2 * dense)
            return values[a, b] if diag else values[a.unsqueeze(-1), b.unsqueeze(-2)]

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self, z):
            q = gpytorch.variational.NaturalVariationalDistribution(len(z))
            strategy = gpytorch.variational.VariationalStrategy(
                self, z, q, learn_inducing_locations=False, jitter_val=1e-10
            )
            super().__init__(strategy)
            self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), Rows()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    z = torch.tensor(points, dtype=torch.float64)[:, None]
    model = Model(z).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = noise**2
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(edge))
    ngd = gpytorch.optim.NGD(model.variational_parameters(), num_data=len(edge), lr=1.0)
    model.train()
    x, y = torch.tensor(edge, dtype=torch.float64)[:, None], torch.tensor(measured)
    model(x)
    loss = -bound(model(x), y)
    loss.backward()
    ngd.step()
    model.eval()
    with torch.no_grad():
        theirs = model(torch.tensor(points, dtype=torch.float64)[:, None])
    regression = TripRegression(np.zeros(len(roads)), np.full(len(roads), s))
    regression.rebuild(unit[edge], measured, np.full(len(edge), noise**2))
    mean, root = unit[points] @ regression.mean, unit[points] @ regression.root
    np.testing.assert_allclose(mean, theirs.mean.numpy(), atol=2e-3 * s)
    std = np.sqrt((root**2).sum(axis=1))
    np.testing.assert_allclose(std, theirs.variance.numpy() ** 0.5, atol=2e-3 * s)


def test_later_trips_change_no_earlier_forecast(setting) -> None:
    trips = trips_of(setting, 24)
    few, many = (TripEnergies(setting, physics="eq8", roads="kernel") for _ in range(2))
    expected = []
    for trip in trips[:12]:
        expected.append(few.expected(trip))
        few.learn(trip)
    for number, trip in enumerate(trips):
        found = many.expected(trip)
        assert number >= 12 or found == expected[number]
        many.learn(trip)


def test_roads_that_differ_are_learned(setting) -> None:
    """Against no roads: errors are a fifth less at least on roads that take 40 % more or less."""
    trips = trips_of(setting, 120)
    off = {}
    for roads in ("none", "kernel"):
        energies = TripEnergies(setting, physics="eq8", roads=roads)
        errors = []
        for trip in trips:
            errors.append(energies.expect(trip).energy.mean_wh - trip.energy_wh.sum())
            energies.learn(trip)
        off[roads] = np.abs(errors[40:]).mean()
    assert off["kernel"] < 0.8 * off["none"]
    assert energies.belief.scales.roads > 0.1
    assert (energies.belief.column == ROAD).sum() == len(energies.places.roads) == MOST


def test_a_belief_with_a_kernel_comes_back_bit_for_bit(setting) -> None:
    trips = trips_of(setting, 34)
    energies = belief_of(setting, trips[:28])
    again = TripEnergies(setting, physics="eq8", roads="kernel")
    again.restore(energies.state())
    for trip in trips[28:]:  # past the choice at 30 trips
        assert again.expected(trip) == energies.expected(trip)
        for each in (again, energies):
            each.learn(trip)
    for name, array in energies.state().items():
        assert np.array_equal(array, again.state()[name]), name


def test_the_same_city_redrawn_forecasts_within_a_hundredth(setting) -> None:
    """Other ids, and all lengths a thousandth longer."""
    network = setting.network
    redrawn = replace(
        network,
        name="redrawn",
        edge_id=tuple(f"way {k}" for k in range(network.n_edges)),
        length_m=1.001 * network.length_m,
    )
    energies = belief_of(setting, trips_of(setting, 40))
    moved = energies.on(redrawn, CAR)
    one, other = (each.under(EQ8_CONDITIONS) for each in (energies, moved))
    for edge in routes(setting, 10, seed=3):
        of_each = [
            day.forecast(arms, day.mean_wh[arms])
            for day in (one, other)
            for arms in [day.space.arms_of_route(evroute.arms.Route(tuple(edge.tolist())))]
        ]
        assert of_each[1].mean_wh == pytest.approx(of_each[0].mean_wh, rel=0.01)
        assert of_each[1].std_wh == pytest.approx(of_each[0].std_wh, rel=0.01)
    for trip in trips_of(Setting(redrawn, CAR), 12, seed=4, prefix="redrawn "):  # and learns on
        moved.learn(trip)
    assert len(moved.places.roads) > len(energies.places.roads)


def test_another_way_to_learn_roads_is_refused_by_its_name(setting) -> None:
    with pytest.raises(UnknownNameError, match="roads is 'gravel', expected one of none, sections"):
        TripEnergies(setting, physics="eq8", roads="gravel")


@pytest.fixture(scope="module")
def folder(setting, tmp_path_factory) -> Path:
    """A folder that the command made with roads=kernel, of 15 trips in Denver."""
    place, network = tmp_path_factory.mktemp("kernel"), setting.network
    lines = ["trip,edge,energy_wh,travel_s"]
    for trip in trips_of(setting, 15):
        for row, wh in zip(trip.edge.tolist(), trip.energy_wh.tolist(), strict=True):
            lines.append(f'{trip.trip},"{network.edge_id[row]}",{wh},{network.time_s[row]}')
    (place / "trips.csv").write_text("\n".join(lines))
    words = ["learn", str(place / "trips.csv"), "--out", str(place / "zoe"), "--network", "denver"]
    words += ["--vehicle", "renault-zoe", "--option", "roads=kernel", "--option", "physics=driving"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "inducing roads" in result.output
    return place / "zoe"


def test_python_and_the_command_take_the_option_and_a_folder_keeps_it(folder, tmp_path) -> None:
    found = learn(
        folder.parent / "trips.csv",
        tmp_path / "zoe",
        network="denver",
        vehicle="renault-zoe",
        options={"roads": "kernel", "physics": "driving"},
    )
    one, other = (evroute.load_belief(each) for each in (found.folder, folder))
    assert one.method_table == other.method_table
    assert other.method_table["roads"] == "kernel"
    assert len(one.places.roads) == len(other.places.roads) == 30
    trip = trips_of(one.setting, 1, seed=9)[0]
    assert one.expected(trip) == other.expected(trip)


def test_plans_ranges_risks_and_matrices_stand_on_such_a_belief(folder, setting, tmp_path) -> None:
    network, belief = setting.network, evroute.load_belief(folder)
    places = [network.edge_id[row] for row in (10, 250)]
    planner = Planner(network, CAR, belief=belief)
    wishes = {"vehicle": "renault-zoe", "soc": 60, "belief": belief}
    plan = evroute.plan("denver", *places, **wishes, risk=0.05)
    day = planner.learned
    assert len(day.places.roads) == 30
    least, fast = (planner.space.arms_of_route(plan.routes[by].route) for by in ("energy", "time"))
    assert day.mean_wh[least].sum() <= day.mean_wh[fast].sum() + 1e-9
    energy_wh = plan.routes["energy"].energy_wh
    within = evroute.reachable("denver", places[0], **wishes)
    assert within.within[[network.row_of[place] for place in places]].all()
    table = tmp_path / "places.csv"
    table.write_text("place\n" + "".join(f'"{place}"\n' for place in places))
    origins, ends = (read_stops(table, network, leaving=leaving) for leaving in (True, False))
    found = energy_matrix(planner, origins, ends)[0]
    assert found[0, 1] == pytest.approx(energy_wh, rel=1e-6)
