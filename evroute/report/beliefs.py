"""What the methods of a run folder believe in the end, one run of each method on each network."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evroute.energy.prior import all_arms, fit
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.model.coefficients import HasCoefficients
from evroute.network.catalog import load_network
from evroute.planning.turn_belief import TurnBelief
from evroute.report.charts import method_styles
from evroute.report.differences import coefficients_table, differences
from evroute.simulation.belief import load_belief
from evroute.simulation.runs import RunFolder

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROADS = 5


@dataclass(frozen=True, slots=True)
class Learned:
    """One run's belief: the roads that differ most from eq. 8, and coefficients where the model has them."""

    method: str
    run: str
    roads: "pd.DataFrame"
    coefficients: "pd.DataFrame | None"


def beliefs(folder: RunFolder, rounds: "pd.DataFrame", manifest: dict[str, Any]) -> Iterator[Learned | str]:
    """Yield what the first run of each method on each network has learned, or a sentence why that cannot be told."""
    try:
        vehicle = Vehicle(**manifest["vehicle"])
    except (ValidationError, TypeError):
        yield "Nothing of what was learned: manifest.json describes no vehicle."
        return
    order = list(method_styles(rounds))
    for name, group in rounds.groupby("network", sort=False):
        try:
            network = load_network(str(name))
        except EvrouteError as error:
            yield f"Nothing of what was learned on {name}: {error}."
            continue
        arms = all_arms(network, fit(network, vehicle))
        first = group.drop_duplicates("method").set_index("method")["run"]
        for method in sorted(first.index, key=order.index):
            try:
                model = load_belief(folder.path, first[method], network, vehicle)
            except EvrouteError as error:
                yield f"Nothing of what {method} learned on {name}: {error}."
                continue
            roads = differences(model, arms, network).head(SHOWN_ROADS)
            inside = model.model if isinstance(model, TurnBelief) else model
            coefficients = coefficients_table(inside) if isinstance(inside, HasCoefficients) else None
            yield Learned(method, first[method], roads, coefficients)
