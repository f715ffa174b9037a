"""`check_model`: whether an energy model is possible, on a network and by itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.consumption import Consumption, Law, laws, of_onnx, of_table, of_vehicle
from evroute.energy.vehicle import load_vehicle
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.conservation import Loop, gaining_loop
from evroute.planning.planner import Planner
from evroute.planning.searches.search import Search, shared_search

if TYPE_CHECKING:
    from evroute.learning.base import Belief

FEATURES = ("speed_mph", "slope_percent")
ENERGY = "kwh_per_mile"
SHOWN_STREETS = 8


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of all checks of one energy model.

    Parameters
    ----------
    model, network
        Names of the model and of the roads.
    laws
        The checks.
    loop
        A closed drive that charges the battery, or None.
    raised
        Number of learned arms that plans raise to their change of potential. The loops are searched
        before that.
    """

    model: str
    network: str
    laws: tuple[Law, ...]
    loop: Loop | None
    raised: int

    @property
    def holds(self) -> bool:
        """Whether no check failed."""
        return all(law.holds is not False for law in self.laws)


def check_model(
    model: "str | Path | Belief",
    network: RoadNetwork | str | Path = "denver",
    *,
    physics: str | None = None,
    mass_kg: float | None = None,
    features: tuple[str, ...] = FEATURES,
    energy: str = ENERGY,
) -> ModelCheck:
    """Check an energy model for what no vehicle can do.

    No closed drive of the network along legal turns may charge the battery. A model of speed and
    slope must also rise with the slope, return at most m g h on a descent, and cost energy on the
    level.

    Parameters
    ----------
    model
        A vehicle (a name or a ``.toml`` file), a table (``.csv`` with ``speed_kmh``,
        ``slope_percent`` and ``wh_per_km``), an ``.onnx`` model, a belief, or its folder.
    network
        A network, its name, or the path of a stored one. A belief is checked on its own network.
    physics
        For vehicles, as in `Planner`.
    mass_kg
        Mass of the vehicle of a table or an ONNX model, kg. Without it descents are not checked.
    features, energy
        Columns and unit of an ONNX model, of `consumption.FEATURES` and `consumption.ENERGIES`.

    Returns
    -------
    ModelCheck
        The result of each check, and the loop that gains if there is one.

    Raises
    ------
    EvrouteError
        If the model or the network cannot be read.

    Examples
    --------
    >>> import evroute
    >>> evroute.check_model("nissan-leaf-40").holds
    True
    """
    if not isinstance(model, str | Path):
        return _of_belief(repr(model), model)
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    path = Path(model)
    if path.is_dir():
        from evroute.learning.belief import load_belief  # slow, and not needed by other models

        return _of_belief(f"belief {path}", load_belief(path, network=roads))
    if path.suffix in {".csv", ".onnx"}:
        of = of_table(path, mass_kg) if path.suffix == ".csv" else None
        function = of or of_onnx(path, mass_kg, features, energy)
        return _of_function(function, roads)
    vehicle = load_vehicle(model)
    planner = Planner(roads, vehicle, physics=physics)
    return _checked(f"vehicle '{vehicle.name}'", planner, laws(of_vehicle(vehicle)))


def _of_belief(name: str, belief: "Belief") -> ModelCheck:
    """Return the checks of a belief: the loops alone."""
    reason = "not checked: a belief is about roads, not about speed and slope"
    planner = Planner(belief.network, None, belief)
    return _checked(name, planner, [Law("speed and slope", None, reason)])


def _checked(name: str, planner: Planner, found: list[Law]) -> ModelCheck:
    """Return the checks of a planner's energies, before they are raised to the potential."""
    energies = planner.numbers
    raised = int(np.count_nonzero(energies.held_wh))
    search = planner.search
    return _with_loop(
        name, planner.network, search, energies.mean_wh - energies.held_wh, found, raised
    )


def _of_function(model: Consumption, roads: RoadNetwork) -> ModelCheck:
    """Return the checks of a function of speed and slope, on edges at their speeds."""
    slope = roads.climb_m / roads.length_m
    energy_wh = model.wh_per_km(roads.speed_mps, slope) * roads.length_m / 1000.0
    search = shared_search(roads, turns=False, single=True)
    return _with_loop(model.name, roads, search, energy_wh, laws(model), 0)


def _with_loop(
    name: str,
    roads: RoadNetwork,
    search: Search,
    energy_wh: FloatArray,
    found: list[Law],
    raised: int,
) -> ModelCheck:
    """Return the checks with the search for a loop before them.

    Parameters
    ----------
    name, roads
        The model and the network.
    search, energy_wh
        The legal turns, and (a,) the energy of each arm, Wh.
    found
        The other checks.
    raised
        Number of raised arms.
    """
    loop = gaining_loop(search, energy_wh)
    detail = f"{len(search.line_graph.indices):,} legal turns of {roads.name}"
    if loop is not None:
        detail = f"{-loop.energy_wh:.3g} Wh a round: {_streets(roads, loop)}"
    law = Law("no closed drive charges the battery", loop is None, detail)
    return ModelCheck(name, roads.name, (law, *found), loop, raised)


def _streets(roads: RoadNetwork, loop: Loop) -> str:
    """Return the streets of a loop in driving order, with edge ids where they have no name."""
    names = [roads.street[row] or f"edge {roads.edge_id[row]}" for row in loop.edges]
    kept = [name for k, name in enumerate(names) if k == 0 or name != names[k - 1]]
    more = f" and {len(kept) - SHOWN_STREETS} more" if len(kept) > SHOWN_STREETS else ""
    return ", ".join(kept[:SHOWN_STREETS]) + more
