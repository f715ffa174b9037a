"""States of beliefs of trips as earlier versions wrote them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.errors import require
from evroute.learning.trips.kept_trips import ROAD, TERM
from evroute.learning.trips.noise_fit import START
from evroute.learning.trips.regression import CoefficientPrior

State = Mapping[str, npt.NDArray[Any]]
ROWS = ("learned_rows", "refused_rows")
DROPPED = ("early warm-up",)
"""Terms that the files of earlier versions have beyond those of a prior."""
LATER_COLUMNS: dict[str, float | int | str] = {
    "doubt_wh2": 0.0,
    "day": 0.0,
    "part_wh": 0.0,
    "part_wh2": 0.0,
    "car": "",
    "loosened": 0,
}
"""Numbers of trips that the files of earlier versions lack, and what they are there."""


def with_later_terms(state: State, prior: CoefficientPrior) -> State:
    """Return a state with all terms of a prior and no other ones.

    Those that it lacks begin at their prior. The trips of the state have 0 in these terms, so they
    have taught nothing about them.

    Parameters
    ----------
    state
        As `TripBelief.state` returned it, now or in an earlier version.
    prior
        Prior of the coefficients in force.

    Raises
    ------
    ValueError
        If the state has other terms.
    """
    state = _without_dropped_terms(state)
    p = int((state["column"] == TERM).sum())
    filled = dict(state) if len(state["noise_wh"]) > 3 else _without_roads(state)
    for kind in ("learned", "refused"):
        for name, value in LATER_COLUMNS.items():
            filled.setdefault(f"{kind}_{name}", np.full(len(state[f"{kind}_number"]), value))
    filled.setdefault("day", np.array(0.0))
    if p == len(prior.mean):
        return filled
    stored = tuple(np.atleast_1d(state.get("terms", np.array([]))).tolist()) or tuple(
        name for name in prior.names if name not in prior.later
    )
    lacking = np.array([name not in stored for name in prior.names])
    require(
        p == len(stored) and p + lacking.sum() == len(prior.mean),
        f"a state of {p} coefficients, expected {len(prior.mean)}",
        ValueError,
    )
    # numbers of columns in front of which a term is inserted
    places = np.cumsum(~lacking)[lacking]
    state = dict(filled)
    own = np.flatnonzero(lacking)
    filled["column"] = np.insert(state["column"], places, 0)
    filled["mean"] = np.insert(state["mean"], places, prior.mean[lacking])
    root = np.insert(np.insert(state["root"], places, 0.0, axis=0), places, 0.0, axis=1)
    root[own, own] = prior.std[lacking]
    filled["root"] = root
    if "car_weights" in state:
        filled["car_weights"] = np.insert(state["car_weights"], places, 0.0, axis=0)
    for name in ROWS:
        filled[name] = np.insert(state[name], places, 0.0, axis=1)
    return filled


def _without_dropped_terms(state: State) -> State:
    """Return a state without the terms that no prior has any longer.

    The other terms keep their joint posterior.
    """
    names = np.atleast_1d(state.get("terms", np.array([], dtype=np.str_)))
    gone = np.flatnonzero(np.isin(names, DROPPED))
    if not len(gone):
        return state
    left = dict(state)
    for name in ("terms", "column", "mean", "root"):
        left[name] = np.delete(state[name], gone, axis=0)
    if "car_weights" in state:
        left["car_weights"] = np.delete(state["car_weights"], gone, axis=0)
    for name in ROWS:
        left[name] = np.delete(state[name], gone, axis=1)
    return left


def _without_roads(state: State) -> dict[str, npt.NDArray[Any]]:
    """Return a state without the columns that the roads had in earlier versions.

    The other columns keep their joint posterior. Roads get columns when they are chosen next.
    """
    filled, stays = dict(state), state["column"] < ROAD
    for name in ("column", "mean", "root"):
        filled[name] = state[name][stays]
    for name in ROWS:
        filled[name] = state[name][:, stays]
    filled["noise_wh"] = np.append(state["noise_wh"], START.road_share)
    filled["field_std"] = np.atleast_1d(state["field_std"])[0]
    return filled
