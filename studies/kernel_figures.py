"""Kernels on road graphs on the traffic speeds of San José (`docs/figures/kernel.md`).

    python studies/kernel_figures.py    # EVROUTE_DATA_DIR names the folder with pems/

The public task: the mean speed of 325 sensors on highways over 26 Mondays at 17:30. Five folds of
the sensors are drawn at random, each is predicted from the other four, `REPEATS` times, by the
seed `SEED`. A prediction is that of a Gaussian process with a constant mean and a nugget. Mean,
variance, nugget, lengthscale and, where a kernel has several, the smoothness have the greatest
likelihood of the sensors of the other four folds.

- line graph: `evroute.model.kernels.graph_matern.GraphMatern` on the Laplacian of
  `evroute.network.line_graph.LineGraph`. Roads that meet are joined by turns both ways, and
  sensors on one road have one value. Variants: roads cut midway between two sensors; and all
  lengths equal, so that every turn has the same weight.
- vertex graph: the same kernel on vertices and sensors, weights 1 over the length (Borovitskiy et
  al. 2021).
- metric graph: Whittle-Matérn of smoothness alpha 1 or 2 (Bolin, Simas & Wallin) by linear finite
  elements of at most `ELEMENT_M` with lumped mass.
- resistance: the exponential of the resistance distance (Anderes et al. 2020).
- nearest: the mean of the five sensors nearest along the roads, with the deviation of its errors
  when each of the other sensors is left out.

Prints RMSE, MAE, CRPS and log score, and paired differences to the line graph with 90 % intervals
by resampling sensors, each with its mean over the repeats.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.sparse import csc_matrix, diags
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu
from scipy.stats import norm

from evroute.arrays import FloatArray, IntArray
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network.line_graph import LineGraph

PEMS = Path(os.environ.get("EVROUTE_DATA_DIR", "")) / "pems"
SEED, REPEATS, FOLDS = 38, 4, 5
RESAMPLES = 4000
ELEMENT_M = 100.0
NEAREST = 5
LENGTHS_M = np.geomspace(200.0, 60_000.0, 16)
"""Lengthscales of the metric graph and of the resistance distance."""
KAPPAS = np.geomspace(0.3, 60.0, 16)
"""Lengthscales of graphs, in units of their edges."""
OURS = "line graph (evroute)"


@dataclass(frozen=True, slots=True, eq=False)
class Roads:
    """The task.

    Parameters
    ----------
    ends
        (n, 2) vertices of the roads.
    length_m
        (n,) lengths of the roads, m.
    at_road, at_m
        (s,) road of each sensor, and its distance from the first end, m.
    speed_mph
        (s,) mean speed at each sensor, miles per hour.
    """

    ends: IntArray
    length_m: FloatArray
    at_road: IntArray
    at_m: FloatArray
    speed_mph: FloatArray

    def cut(self, inner_m: Callable[[int], FloatArray]) -> "Pieces":
        """Return the roads cut at inner points of each road, as a function of its number, m."""
        ends: list[tuple[int, int]] = []
        length_m, first = [], []
        vertices = int(self.ends.max()) + 1
        for road, (tail, head) in enumerate(self.ends.tolist()):
            inside = inner_m(road)
            nodes = [tail, *range(vertices, vertices + len(inside)), head]
            vertices += len(inside)
            first.append(len(ends))
            ends += pairwise(nodes)
            length_m.append(np.diff([0.0, *inside, self.length_m[road]]))
        return Pieces(np.array(ends), np.concatenate(length_m), np.array(first))

    def sensors_on(self, road: int) -> FloatArray:
        """Return the positions of the sensors on a road in increasing order, each once, m."""
        return np.unique(self.at_m[self.at_road == road])


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces of roads: ends (k, 2), lengths (k,) in m, and the first piece of each road, (n,)."""

    ends: IntArray
    length_m: FloatArray
    first: IntArray

    def laplacian(self) -> csc_matrix:
        """Return the Laplacian of the vertices, with weights of 1 over the length, 1/m."""
        (tail, head), weight = self.ends.T, 1.0 / self.length_m
        n = int(self.ends.max()) + 1
        off = csc_matrix((weight, (tail, head)), shape=(n, n))
        off = off + off.T
        return csc_matrix(diags(np.asarray(off.sum(axis=0)).ravel()) - off)


def load() -> Roads:
    """Return the task from its files."""
    edges, at = pd.read_csv(PEMS / "E.csv"), pd.read_csv(PEMS / "PtE.csv")
    speeds = pd.read_csv(PEMS / "Y.csv.gz", index_col=0)
    length_m = edges["length"].to_numpy(dtype=float)
    road = at["E"].to_numpy(dtype=int)
    return Roads(
        edges[["V1", "V2"]].to_numpy() - 1,
        length_m,
        road,
        np.minimum(at["length"].to_numpy(dtype=float), length_m[road]),
        speeds.to_numpy().mean(axis=0),
    )


def with_sensors(roads: Roads, element_m: float = np.inf) -> tuple[Pieces, IntArray]:
    """Return roads cut at their sensors and into elements, and the vertex of each sensor, (s,)."""
    vertices: dict[tuple[int, float], int] = {}
    last = int(roads.ends.max())

    def inner_m(road: int) -> FloatArray:
        nonlocal last
        length_m = roads.length_m[road]
        parts = max(int(np.ceil(length_m / element_m)), 1)
        regular = np.linspace(0.0, length_m, parts + 1)[1:-1]
        inside = np.unique(np.concatenate([regular, roads.sensors_on(road)]))
        inside = inside[(inside > 0.0) & (inside < length_m)]
        for at_m in inside.tolist():
            last += 1
            vertices[road, at_m] = last
        return inside

    pieces = roads.cut(inner_m)
    at = []
    for road, at_m in zip(roads.at_road.tolist(), roads.at_m.tolist(), strict=True):
        end = roads.ends[road, int(at_m > 0.0)]
        at.append(vertices.get((road, at_m), int(end)))
    return pieces, np.array(at)


def line_graph(roads: Roads, *, cut: bool = False, equal: bool = False) -> list[FloatArray]:
    """Return covariances of the sensors by the kernel of evroute, one for each nu and kappa.

    Parameters
    ----------
    roads
        The task.
    cut
        Whether roads are cut midway between two sensors.
    equal
        Whether all roads count as equally long.
    """

    def between_m(road: int) -> FloatArray:
        at_m = roads.sensors_on(road)
        return (at_m[1:] + at_m[:-1]) / 2 if cut else at_m[:0]

    pieces = roads.cut(between_m)
    n = len(pieces.ends)
    meets: dict[int, list[int]] = {}
    for piece, ends in enumerate(pieces.ends.tolist()):
        for vertex in ends:
            meets.setdefault(vertex, []).append(piece)
    turns = sorted({(a, b) for at in meets.values() for a in at for b in at if a != b})
    source, target = np.array(turns).T
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))])
    graph = LineGraph(indptr.astype(np.int32), target.astype(np.int32), source.astype(np.int32))
    laplacian = graph.laplacian(np.ones(n) if equal else pieces.length_m)
    places = zip(roads.at_road.tolist(), roads.at_m.tolist(), strict=True)
    own = [int(between_m(road).searchsorted(at_m)) for road, at_m in places]
    at = pieces.first[roads.at_road] + np.array(own)
    kernels = (GraphMatern(laplacian, nu, kappa) for nu in (1, 2, 3) for kappa in KAPPAS)
    return [kernel.block(at, at) for kernel in kernels]


def vertex_graph(roads: Roads) -> list[FloatArray]:
    """Return covariances of the sensors by the same kernel on vertices."""
    pieces, at = with_sensors(roads)
    laplacian = pieces.laplacian() * float(pieces.length_m.mean())
    kernels = (GraphMatern(laplacian, nu, kappa) for nu in (1, 2, 3) for kappa in KAPPAS)
    return [kernel.block(at, at) for kernel in kernels]


def metric_graph(roads: Roads, alpha: int) -> list[FloatArray]:
    """Return covariances of the sensors by Whittle-Matérn fields, scaled to a mean variance of 1.

    Parameters
    ----------
    roads
        The task.
    alpha
        Smoothness, 1 or 2.
    """
    pieces, at = with_sensors(roads, ELEMENT_M)
    stiffness = pieces.laplacian()
    mass = np.bincount(pieces.ends.ravel(), np.repeat(pieces.length_m / 2, 2))
    found = []
    for length_m in LENGTHS_M:
        factor = splu(csc_matrix(stiffness + diags(mass / length_m**2)))
        unit = np.zeros((len(mass), len(at)))
        unit[at, np.arange(len(at))] = 1.0
        solved = factor.solve(unit)
        covariance = solved[at] if alpha == 1 else solved.T @ (mass[:, np.newaxis] * solved)
        found.append(covariance / covariance.diagonal().mean())
    return found


def resistance(roads: Roads) -> list[FloatArray]:
    """Return covariances of the sensors by the exponential of the resistance distance."""
    pieces, at = with_sensors(roads)
    inverse = np.linalg.pinv(pieces.laplacian().toarray(), hermitian=True)[np.ix_(at, at)]
    own = inverse.diagonal()
    distance_m = np.maximum(own[:, np.newaxis] + own - 2 * inverse, 0.0)
    return [np.exp(-distance_m / length_m) for length_m in LENGTHS_M]


def along_roads_m(roads: Roads) -> FloatArray:
    """Return the distances between sensors along the roads, (s, s) m."""
    pieces, at = with_sensors(roads)
    n = int(pieces.ends.max()) + 1
    graph = csc_matrix((pieces.length_m, tuple(pieces.ends.T)), shape=(n, n))
    return dijkstra(graph, directed=False, indices=at)[:, at]


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Negative log likelihood, and mean and deviation of measurements at the hidden sensors."""

    cost: float
    mean: FloatArray
    std: FloatArray


def fitted(covariance: FloatArray, y: FloatArray, seen: IntArray, hidden: IntArray) -> Fit:
    """Return the predictions with the mean, variance and nugget of the greatest likelihood.

    Parameters
    ----------
    covariance
        (s, s) covariance of the sensors but for the variance.
    y
        (s,) measurements.
    seen, hidden
        Sensors that are known, and those to predict.
    """
    value, vector = np.linalg.eigh(covariance[np.ix_(seen, seen)])
    value = np.maximum(value, 0.0)
    ones, own = vector.T @ np.ones(len(seen)), vector.T @ y[seen]

    def at(log_nugget: float) -> tuple[float, float, float, FloatArray]:
        spread = value + np.exp(log_nugget)
        mean = float((ones * own / spread).sum() / (ones**2 / spread).sum())
        rest = own - mean * ones
        variance = float((rest**2 / spread).mean())
        cost = 0.5 * (len(seen) * np.log(variance) + np.log(spread).sum())
        return cost, mean, variance, spread

    best = minimize_scalar(lambda x: at(x)[0], bounds=(-9.0, 5.0), method="bounded")
    cost, mean, variance, spread = at(best.x)
    between = covariance[np.ix_(hidden, seen)] @ vector
    predicted = mean + between @ ((own - mean * ones) / spread)
    of_mean = (1.0 - between @ (ones / spread)) ** 2 / (ones**2 / spread).sum()
    left = covariance[hidden, hidden] - (between**2 / spread).sum(axis=1) + of_mean
    std = np.sqrt(variance * (np.maximum(left, 0.0) + np.exp(best.x)))
    return Fit(cost, predicted, std)


def by_kernel(found: list[FloatArray], y: FloatArray, folds: IntArray) -> FloatArray:
    """Return mean and deviation of each sensor when its fold is hidden, (2, s)."""
    predicted = np.empty((2, len(y)))
    for fold in range(FOLDS):
        seen, hidden = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fits = [fitted(covariance, y, seen, hidden) for covariance in found]
        best = min(fits, key=lambda fit: fit.cost)
        predicted[:, hidden] = best.mean, best.std
    return predicted


def by_nearest(distance_m: FloatArray, y: FloatArray, folds: IntArray) -> FloatArray:
    """Return mean and deviation of each sensor by its nearest ones, (2, s)."""
    predicted = np.empty((2, len(y)))
    for fold in range(FOLDS):
        seen, hidden = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        order = np.argsort(distance_m[:, seen], axis=1)
        others = order[seen, 1 : NEAREST + 1]  # the first is the sensor itself
        errors = y[seen[others]].mean(axis=1) - y[seen]
        predicted[0, hidden] = y[seen[order[hidden, :NEAREST]]].mean(axis=1)
        predicted[1, hidden] = np.sqrt((errors**2).mean())
    return predicted


def scores(predicted: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
    """Return squared error, absolute error, CRPS and log score of each sensor, (s,) each."""
    mean, std = predicted
    z = (y - mean) / std
    crps = std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    score = -norm.logpdf(z) + np.log(std)
    return {"square": (y - mean) ** 2, "MAE": np.abs(y - mean), "CRPS": crps, "log score": score}


def main() -> None:
    """Print the tables of the public task."""
    roads = load()
    y = roads.speed_mph
    print(f"{len(y)} sensors, mean {y.mean():.1f} mph, deviation {y.std():.2f} mph")
    rng = np.random.default_rng(SEED)
    folds = [rng.permutation(np.arange(len(y)) % FOLDS) for _ in range(REPEATS)]
    kernels = {
        OURS: line_graph(roads),
        "line graph, cut between sensors": line_graph(roads, cut=True),
        "line graph, equal weights": line_graph(roads, equal=True),
        "vertex graph": vertex_graph(roads),
        "metric graph, alpha 1": metric_graph(roads, 1),
        "metric graph, alpha 2": metric_graph(roads, 2),
        "resistance": resistance(roads),
    }
    found = {
        name: [scores(by_kernel(those, y, each), y) for each in folds]
        for name, those in kernels.items()
    }
    distance_m = along_roads_m(roads)
    found["nearest five"] = [scores(by_nearest(distance_m, y, each), y) for each in folds]
    means = {
        name: {key: np.mean([each[key] for each in runs], axis=0) for key in runs[0]}
        for name, runs in found.items()
    }
    picks = rng.integers(len(y), size=(RESAMPLES, len(y)))
    ours = means[OURS]
    print(
        "| kernel | RMSE | MAE | CRPS | log score | RMSE by repeat | RMSE less ours | CRPS / ours |"
    )
    print("| --- " * 8 + "|")
    for name, own in means.items():
        rmse = [np.sqrt(run["square"].mean()) for run in found[name]]
        apart = np.sqrt(own["square"][picks].mean(1)) - np.sqrt(ours["square"][picks].mean(1))
        ratio = own["CRPS"][picks].mean(1) / ours["CRPS"][picks].mean(1)
        off = np.sqrt(own["square"].mean()) - np.sqrt(ours["square"].mean())
        low, high = np.quantile(apart, [0.05, 0.95])
        least, most = np.quantile(ratio, [0.05, 0.95])
        print(
            f"| {name} | {np.sqrt(own['square'].mean()):.2f} | {own['MAE'].mean():.2f} | "
            f"{own['CRPS'].mean():.2f} | {own['log score'].mean():.3f} | "
            f"{', '.join(f'{each:.2f}' for each in rmse)} | {off:+.2f} ({low:+.2f} to {high:+.2f}) "
            f"| {own['CRPS'].mean() / ours['CRPS'].mean():.3f} ({least:.3f} to {most:.3f}) |"
        )


if __name__ == "__main__":
    main()
