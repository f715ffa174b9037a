"""State of a session: inputs kept across pages, and a plan's inputs in the page address."""

from typing import Any

import streamlit as st
from layers import LAYERS

PREFIX = "kept_"
NEXT = "next_"
_TEXTS = {"network", "vehicle", "trip", "folder", "run", "bearing", "depart", "route"}
_TRUTHS = {"limited", "weather", "charge", *LAYERS}
_NUMBERS = {"extra", "soc", "reserve", "risk", "temperature", "wind", "speed", "payload"}
_NUMBERS |= {"price", "time_value", "mass_kg", "drag", "auxiliary_w", "battery_kwh"}
_LONGEST = 2000


def key(name: str) -> str:
    """Return the key of an input that is kept across pages."""
    return PREFIX + name


def keep_inputs() -> None:
    """Set the kept inputs again: Streamlit drops those of widgets that a page does not show.

    A copy restores those that it drops between two runs, as a fragment of the last page ends.
    """
    copy = st.session_state.setdefault("inputs", {})
    copy |= {name: value for name, value in st.session_state.items() if _is_kept(name)}
    for name, value in copy.items():
        st.session_state[name] = value


def _is_kept(name: Any) -> bool:
    return str(name).startswith(PREFIX)


def read_link() -> None:
    """Take the inputs from the page address, once per session; invalid ones are left out."""
    if st.session_state.get("link_read"):
        return
    st.session_state["link_read"] = True
    for name, text in st.query_params.to_dict().items():
        if len(text) > _LONGEST:
            continue
        if name in _TEXTS:
            st.session_state[key(name)] = text
        elif name in _TRUTHS:
            st.session_state[key(name)] = text == "True"
        elif name.partition(":")[0] in _NUMBERS:
            try:
                st.session_state[key(name)] = float(text) if "." in text else int(text)
            except ValueError:
                continue
    places = _places(st.query_params.to_dict())
    if any(places):
        st.session_state[key("stops")] = places


def _places(link: dict[str, str]) -> list[str]:
    """Return the places of a link: ``from``, ``via`` and ``to``, or ``places`` of older links."""
    if older := [place for place in link.get("places", "").split(";") if place]:
        return older if len(older) > 1 else [*older, ""]
    stops = [place.strip() for place in link.get("via", "").split(";") if place.strip()]
    places = [link.get("from", ""), *stops, link.get("to", "")]
    return [place[:_LONGEST] for place in places]


def write_link(inputs: dict[str, Any]) -> None:
    """Write the inputs of a plan into the page address."""
    st.query_params.from_dict(
        {name: str(value) for name, value in inputs.items() if value not in (None, "")}
    )


def choose_next(name: str, value: Any) -> None:
    """Set an input at its next `starting`: Streamlit refuses to set those already shown."""
    st.session_state[NEXT + name] = value


def starting(name: str, value: Any, allowed: Any = None) -> Any:
    """Set an input to its first value unless it has an allowed one, and return its value.

    Parameters
    ----------
    name
        Name of the input.
    value
        First value; its type is that of the input.
    allowed
        Range (low, high) or list of allowed values; None allows all.
    """
    if NEXT + name in st.session_state:
        st.session_state[key(name)] = st.session_state.pop(NEXT + name)
    known = st.session_state.get(key(name))
    fits = known is not None and isinstance(
        known, type(value) if not isinstance(value, float) else (int, float)
    )
    if fits and isinstance(allowed, tuple):
        fits = allowed[0] <= known <= allowed[1]
    elif fits and isinstance(allowed, list):
        fits = known in allowed
    if not fits:
        st.session_state[key(name)] = value
    elif isinstance(value, float):
        st.session_state[key(name)] = float(known)
    return st.session_state[key(name)]
