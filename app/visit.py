"""A visit of a page: where its inputs come from, and which are remembered.

Inputs come from the page address, else from this tab, else from the profile, else they have their
defaults. A value of the address or the profile is remembered only once the driver changes it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import example
import memory
import streamlit as st
from address import is_whole_plan, is_without_risk, read_address
from inputs import is_remembered
from lan import READS_ONLY, reads_only
from literal import literal, sentence
from state import BASELINE, UPLOADED, forget_inputs, given, ignored, key

NOTE = "profile_note"
PLACES = "remembered_places"
FIRST = "first_inputs"
OLDER = (
    "This link is older: it now plans to keep the charge in nine trips of ten. Choose 'on average' "
    "below the charge to plan as before"
)


@contextmanager
def visit() -> Iterator[None]:
    """Read address and profile before a page is drawn, and remember changed inputs after it."""
    if read_address():
        _recall(with_charge=not is_whole_plan())
        st.session_state[PLACES] = set(st.session_state.get(key("stops"), ()))
    else:
        _remember()
    yield
    given().clear()  # from now on values that do not fit are the driver's
    _remember()


def _recall(*, with_charge: bool) -> None:
    """Set the inputs of the profile that the address lacks.

    Parameters
    ----------
    with_charge
        False if the address describes a whole plan, which lacks charge and price on purpose.
    """
    profile, st.session_state[NOTE] = memory.load()
    for name, value in profile.inputs.items():
        wanted = with_charge or name in ("network", "vehicle") or ":" in name
        if wanted and is_remembered(name) and key(name) not in st.session_state:
            st.session_state[key(name)] = value


def _inputs() -> dict[str, Any]:
    """Return the inputs of this tab that a profile has."""
    shown = {
        str(name).removeprefix(key("")): value
        for name, value in st.session_state.items()
        if str(name).startswith(key("")) and value is not None
    }
    uploaded = st.session_state.get(UPLOADED)
    if uploaded is not None and shown.get("network") == uploaded.name:
        del shown["network"]  # it ends with the tab
    return {name: value for name, value in shown.items() if is_remembered(name)}


def _remember() -> None:
    """Write the inputs that the driver has changed in this tab to the profile."""
    now = _inputs()
    before = st.session_state.setdefault(BASELINE, now)
    changes = {name: value for name, value in now.items() if before.get(name, value) != value}
    if changes and not reads_only():
        st.session_state[NOTE] = memory.change(lambda profile: profile.with_inputs(changes))
    st.session_state[BASELINE] = before | now


def remember_places(network: str, places: Sequence[str]) -> None:
    """Write places of a plan to the profile, unless the address or a named trip brought them.

    Parameters
    ----------
    network
        Name of the network.
    places
        Origin, stops and destination.
    """
    known = st.session_state.setdefault(PLACES, set())
    new = [place for place in places if place not in known]
    known.update(new)
    if not new or st.session_state.get(key("trip")) or example.is_shown() or reads_only():
        return
    st.session_state[NOTE] = memory.change(lambda profile: profile.with_places(network, new))


def show_notices() -> None:
    """Show the ignored parts of the address, until an input changes, and trouble of the profile."""
    if reads_only():
        st.caption(sentence(READS_ONLY))
    if note := st.session_state.get(NOTE):
        st.caption(sentence(note))
    if is_without_risk():
        st.caption(sentence(OLDER))
    if not ignored():
        return
    now = {name: st.session_state[name] for name in st.session_state if _is_input(name)}
    first = st.session_state.setdefault(FIRST, now)
    if any(now.get(name) != value for name, value in first.items()):
        ignored().clear()
        return
    texts = ", ".join(f"{name}={text[:40]}" for name, text in ignored().items())
    st.warning(literal(f"Ignored in the address: {texts}."))


def _is_input(name: Any) -> bool:
    return str(name).startswith(key(""))


def forget() -> None:
    """Delete the profile and the inputs of this tab."""
    memory.forget()
    forget_inputs()
    st.query_params.clear()
