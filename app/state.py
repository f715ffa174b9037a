"""State of a session: inputs kept across pages, and values where the given ones do not fit."""

from collections.abc import Callable
from typing import Any

import streamlit as st

PREFIX = "kept_"
UPLOADED = "uploaded"
"""Network that was uploaded in this tab."""
GIVEN = "given_by_address"
IGNORED = "ignored"
TURNS = "turns"
"""Number of the widget of each input, which counts the values set by the program."""
FIRST = {"selectbox": "index", "radio": "index", "multiselect": "default", "pills": "default"}
"""Argument of a widget that has its value. Of others it is ``value``."""
BASELINE = "remembered"
"""Inputs of this tab as they were when they were last compared with the profile."""


def key(name: str) -> str:
    """Return the key of an input that is kept across pages."""
    return PREFIX + name


def ask(
    widget: Callable[..., Any],
    label: str,
    name: str,
    *,
    then: Callable[[], None] | None = None,
    **options: Any,
) -> Any:
    """Show a widget with the value of an input, and return that value.

    A browser repeats the value of a widget at each run, also of one in a closed chip, which has not
    heard of a value that the program has set since. So a widget has a key of its own, and only the
    driver's changes of it are taken. Once the program sets another value, the widget is made anew
    under another key, and what the browser says of the former one counts no more.

    Parameters
    ----------
    widget
        Of Streamlit, such as ``st.slider``.
    label
        Its label, which is Markdown.
    name
        Name of the input, which has a value.
    then
        Called after the driver has changed it.
    options
        Further arguments of the widget.
    """
    value = st.session_state[key(name)]
    turns: dict[str, int] = st.session_state.setdefault(TURNS, {})
    shown = f"{name}/{turns.setdefault(name, 0)}"
    if st.session_state.get(shown, value) != value:
        turns[name] += 1
        shown = f"{name}/{turns[name]}"
    first = FIRST.get(widget.__name__, "value")
    if first == "index":
        options["index"] = list(options["options"]).index(value)
    else:
        options[first] = value
    widget(label, key=shown, on_change=_take, args=(name, shown, then), **options)
    return st.session_state[key(name)]


def _take(name: str, shown: str, then: Callable[[], None] | None) -> None:
    """Set an input to the value that the driver has given its widget."""
    st.session_state[key(name)] = st.session_state[shown]
    if then:
        then()


def forget_inputs() -> None:
    """Forget the inputs of this tab, and what a browser still says of their widgets."""
    kept = {name: st.session_state[name] for name in (UPLOADED, TURNS) if name in st.session_state}
    st.session_state.clear()
    st.session_state.update(kept)
    turns = st.session_state.get(TURNS, {})
    turns.update({name: turn + 1 for name, turn in turns.items()})


def given() -> dict[str, tuple[str, str]]:
    """Return name and text in the address of each input that came from it."""
    return st.session_state.setdefault(GIVEN, {})


def put(name: str, value: Any) -> None:
    """Set an input."""
    st.session_state[key(name)] = value


def ignored() -> dict[str, str]:
    """Return the texts of the address that are left out, by name."""
    return st.session_state.setdefault(IGNORED, {})


def ignore(name: str) -> None:
    """Note that the text of the address for an input is left out."""
    if name in given():
        in_address, text = given().pop(name)
        ignored()[in_address] = text


def forget_change(name: str) -> None:
    """Note that the next change of an input is not the driver's, so that it is not remembered."""
    st.session_state.get(BASELINE, {}).pop(name, None)


def starting(name: str, value: Any, allowed: Any = None) -> Any:
    """Set an input to its first value unless it has an allowed one, and return its value.

    Parameters
    ----------
    name
        Name of the input.
    value
        First value. It has the type of the input.
    allowed
        Range (low, high) or list of allowed values. None allows all. Of an input that is a list,
        the values that are not allowed are left out.
    """
    known = st.session_state.get(key(name))
    if isinstance(value, list) and isinstance(known, list):
        known = _allowed_of(name, known, allowed)
    if not _fits(known, value, allowed):
        ignore(name)
        forget_change(name)
        st.session_state[key(name)] = value
    elif isinstance(value, float) and not isinstance(known, float):
        st.session_state[key(name)] = float(known)
    return st.session_state[key(name)]


def _allowed_of(name: str, known: list[Any], allowed: list[Any] | None) -> list[Any]:
    """Return the allowed values of a list, and set the input to them."""
    left = [each for each in known if allowed is None or each in allowed]
    if left != known:
        ignore(name)
        st.session_state[key(name)] = left
    return left


def _fits(known: Any, value: Any, allowed: Any) -> bool:
    """Return True if a value is of the type of another one, and allowed."""
    kind = (int, float) if isinstance(value, float) else type(value)
    if known is None or not isinstance(known, kind):
        return False
    if isinstance(allowed, tuple):
        return bool(allowed[0] <= known <= allowed[1])
    if isinstance(allowed, list) and not isinstance(known, list):
        return known in allowed
    return True
