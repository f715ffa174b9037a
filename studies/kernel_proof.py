"""The graph Matérn kernel against that of ``geometric_kernels``, with all eigenpairs and with 500.

    python studies/kernel_proof.py write kernel.npz
    python -m venv proof && proof/bin/pip install geometric_kernels
    proof/bin/python studies/kernel_proof.py compare kernel.npz

``geometric_kernels`` wants an older numpy, so it has an environment of its own and no part of this
project is imported there. Its `Graph` takes a symmetric adjacency: minus the off-diagonal part of
the incidence Laplacian, whose degrees give the same Laplacian. Both kernels are scaled to a mean
diagonal of 1, and differences are in units of it.
"""

import sys
from pathlib import Path

import numpy as np

NU, KAPPA = 2.0, 1.0
FEW = 500


def write(path: Path) -> None:
    """Write Laplacian and kernel of the edges of downtown Denver."""
    from evroute.model.kernels.graph_matern import GraphMatern
    from evroute.network.catalog import load_network
    from evroute.network.line_graph import LineGraph

    network = load_network("denver")
    laplacian = LineGraph.from_network(network).laplacian(network.length_m)
    kernel = GraphMatern(laplacian, nu=int(NU), kappa=KAPPA).matrix()
    np.savez(path, laplacian=laplacian.toarray(), kernel=kernel)


def compare(path: Path) -> None:
    """Print the largest difference from ``geometric_kernels``, by the number of eigenpairs."""
    from geometric_kernels.kernels import MaternGeometricKernel
    from geometric_kernels.spaces import Graph

    with np.load(path) as stored:
        laplacian, ours = stored["laplacian"], stored["kernel"]
    n = len(laplacian)
    adjacency = -0.5 * (laplacian + laplacian.T)
    np.fill_diagonal(adjacency, 0.0)
    rows = np.arange(n)[:, np.newaxis]
    for pairs in (n, FEW):
        kernel = MaternGeometricKernel(Graph(adjacency), num=pairs)
        numbers = {"nu": np.array([NU]), "lengthscale": np.array([KAPPA])}
        theirs = kernel.K(numbers, rows)
        theirs /= theirs.diagonal().mean()
        difference = np.abs(theirs - ours).max()
        print(f"{pairs} of {n} eigenpairs: largest difference {difference:.2g} mean diagonals")


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](Path(sys.argv[2]))
