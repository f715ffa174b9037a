"""Address of the page Plan: the texts of its request, and the inputs of the page that show them."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from pydantic_core import PydanticCustomError
from state import key

from evroute.planning.request import PLACES, entries

COMPASS = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south-east": 135.0}
COMPASS |= {"south": 180.0, "south-west": 225.0, "west": 270.0, "north-west": 315.0}
KEPT = "kept:texts"
"""Texts of fields that no input shows."""


def _bearing(degrees: float) -> str:
    """Return the point of the compass that is nearest to a bearing."""
    return min(COMPASS, key=lambda point: abs((COMPASS[point] - degrees + 180) % 360 - 180))


INPUTS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "vehicle": lambda name: {"vehicle": name},
    "soc": lambda percent: {"soc": round(percent)},
    "reserve": lambda percent: {"reserve": round(percent)},
    "charge": lambda charges: {"charge": charges},
    "risk": lambda share: {"risk": 100 * share},
    "depart": lambda clock: {"depart": clock},
    "max_extra_time": lambda share: {"limited": True, "extra": round(100 * share)},
    "price": lambda price: {"price": price},
    "time_value": lambda value: {"time_value": value},
    "temperature": lambda celsius: {"weather": True, "temperature": round(celsius)},
    "wind": lambda mps: {"weather": True, "wind": round(mps)},
    "wind_from": lambda degrees: {"weather": True, "bearing": _bearing(degrees)},
    "speed_factor": lambda share: {"weather": True, "speed": round(100 * share)},
    "payload": lambda kg: {"weather": True, "payload": round(kg)},
}
"""Inputs of the page and their values, by the field that they show."""


def read_texts() -> None:
    """Take the fields of a request from the page address, once per session.

    Invalid texts are left out, as the example is better than an error on a first visit.
    """
    if KEPT in st.session_state:
        return
    kept = st.session_state[KEPT] = {}
    for name, text in st.query_params.to_dict().items():
        entry = entries().get(name)
        if entry is None or name in PLACES:
            continue
        try:
            value = entry.form.read(name, text)
        except PydanticCustomError:
            continue
        if name not in INPUTS:
            kept[name] = text
            continue
        for shown, state in INPUTS[name](value).items():
            st.session_state[key(shown)] = state


def without_input() -> dict[str, str]:
    """Return the texts of fields that no input shows."""
    return dict(st.session_state.get(KEPT, {}))
