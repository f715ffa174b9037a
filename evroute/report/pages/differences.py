"""Differences of a belief from physics: the roads that differ most, and learned coefficients."""

import numpy as np

from evroute.arms import Arms, Belief
from evroute.model.coefficients import HasCoefficients
from evroute.network.road_network import RoadNetwork
from evroute.report.extras import pd


def differences(belief: Belief, arms: Arms, network: RoadNetwork) -> "pd.DataFrame":
    """Return the difference of the learned energy from physics, one row per edge, largest first.

    Parameters
    ----------
    belief
        Posterior of the edges, (a,) Wh.
    arms
        The edges, with eq. 8 as their prior means.
    network
        Network of the edges.

    Returns
    -------
    pandas.DataFrame
        Columns: edge (id), street, physics (Wh), learned (Wh), difference (Wh), sd (Wh) of the
        learned energy, z (difference in sd, 0 where nothing was learned).
    """
    difference_wh = belief.mean_wh - arms.prior_mean_wh
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference_wh == 0, 0.0, difference_wh / belief.std_wh)
    order = np.argsort(-np.abs(difference_wh), kind="stable")
    columns = {
        "edge": [network.edge_id[edge] for edge in arms.id],
        "street": [network.street[edge] for edge in arms.id],
        "physics (Wh)": arms.prior_mean_wh,
        "learned (Wh)": belief.mean_wh,
        "difference (Wh)": difference_wh,
        "sd (Wh)": belief.std_wh,
        "z": z,
    }
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


def coefficients_table(model: HasCoefficients) -> "pd.DataFrame":
    """Return one row for each coefficient of physics: learned deviation, sd and prior sd."""
    found = model.coefficients()
    return pd.DataFrame(
        {
            "coefficient": found.names,
            "unit": found.units,
            "deviation": found.mean,
            "sd": found.std,
            "prior sd": found.prior_std,
        }
    )
