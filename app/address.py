"""Addresses of the pages: the texts of a plan's request, and the other inputs of each page."""

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st
from inputs import inputs_of
from layers import LAYERS
from own_trips import OWN_NUMBERS
from pydantic_core import PydanticCustomError
from state import given, ignored, key

from evroute.planning.request import PLACES, entries

KEPT = "kept:texts"
"""Texts of fields that no input shows."""


_TEXTS = {"network", "trip", "folder", "run", "route", "currency"}
_TEXTS |= {"known_network", "own_trip", "world", "learner", "rule", "seen_by", "layer", "panel"}
_TRUTHS = {"sparse", "mine", *LAYERS}
_NUMBERS = {*OWN_NUMBERS, "horizon", "seeds", "until"}
_LISTS = {"methods", "compared"}
_OLDER = {"places", "by", "clicks"}
_LONGEST = 2000
_READ = "address_read"
_WHOLE = "address_whole"
_WITHOUT_RISK = "address_without_risk"


def read_address() -> bool:
    """Take the inputs from the page address, once per session. Return True in that run.

    Names and values that no input has are left out, and noted in `state.ignored`.
    """
    if st.session_state.get(_READ):
        return False
    st.session_state[_READ] = True
    st.session_state[KEPT] = {}
    texts = st.query_params.to_dict()
    st.session_state[_WHOLE] = "soc" in texts
    st.session_state[_WITHOUT_RISK] = "soc" in texts and "risk" not in texts
    for name, text in texts.items():
        values = {} if len(text) > _LONGEST else _values(name, text)
        if values is None:
            continue
        if not values:
            ignored()[name] = text
        for shown, value in values.items():
            st.session_state[key(shown)] = value
            given()[shown] = (name, text)
    places = _places(texts)
    if any(places):
        st.session_state[key("stops")] = places
    return True


def is_whole_plan() -> bool:
    """Return True if the address has the charge of a plan, and so all inputs that it needs."""
    return bool(st.session_state.get(_WHOLE))


def is_without_risk() -> bool:
    """Return True if the address is of a version whose plans went by expected energies."""
    return bool(st.session_state.get(_WITHOUT_RISK))


def _values(name: str, text: str) -> dict[str, Any] | None:
    """Return the values of inputs that a text of the address has, or empty if it is no such text.

    None for texts that are read otherwise: places, and fields that no input shows.
    """
    entry = entries().get(name)
    if entry is not None and name not in PLACES:
        try:
            value = entry.form.read(name, text)
        except PydanticCustomError:
            return {}
        shown = inputs_of(name, value)
        if not shown:
            st.session_state[KEPT][name] = text
        return shown or None
    if name in _OLDER or (name in PLACES and name != "trip"):
        return None
    return _value(name, text)


def _value(name: str, text: str) -> dict[str, Any]:
    """Return the value of an input of a page, or empty if the text is none."""
    kind = name.partition(":")[0]
    if kind in _TEXTS:
        return {name: text}
    if kind in _LISTS:
        return {name: [each for each in text.split(";") if each]}
    if kind in _TRUTHS and text in ("True", "False"):
        return {name: text == "True"}
    if kind in _NUMBERS:
        try:
            return {name: float(text) if "." in text else int(text)}
        except ValueError:
            return {}
    return {}


def _places(link: dict[str, str]) -> list[str]:
    """Return the places of a link: ``from``, ``via`` and ``to``, or ``places`` of older links."""
    if older := [place for place in link.get("places", "").split(";") if place]:
        return older if len(older) > 1 else [*older, ""]
    stops = [place.strip() for place in link.get("via", "").split(";") if place.strip()]
    places = [link.get("from", ""), *stops, link.get("to", "")]
    return [place[:_LONGEST] for place in places]


def write_address(inputs: Mapping[str, Any]) -> None:
    """Write inputs into the page address. Those that are None or empty are left out."""
    texts = {
        name: ";".join(value) if isinstance(value, list) else str(value)
        for name, value in inputs.items()
        if value not in (None, "", [])
    }
    st.query_params.from_dict(texts)


def write_inputs(names: Iterable[str]) -> None:
    """Write the inputs of a page into its address, by their names."""
    write_address({name: st.session_state.get(key(name)) for name in names})


def without_input() -> dict[str, str]:
    """Return the texts of fields that no input shows."""
    return dict(st.session_state.get(KEPT, {}))
