"""State of a session: inputs kept across pages, and values where the given ones do not fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st

PREFIX = "kept_"
NEXT = "next_"
UPLOADED = "uploaded"
"""Network that was uploaded in this tab."""
GIVEN = "given_by_address"
IGNORED = "ignored"
PAGE = "page"
BASELINE = "remembered"
"""Inputs of this tab as they were when they were last compared with the profile."""
WHILE_CLOSED: Literal["session"] = "session"
"""Argument ``persist_state`` of inputs with numbers. The browser makes an input when its chip is
opened, and without this argument it would show the default value in place of the kept one."""


def key(name: str) -> str:
    """Return the key of an input that is kept across pages."""
    return PREFIX + name


@contextmanager
def keep_inputs(page: str) -> Iterator[None]:
    """Set the kept inputs before a page runs, and copy them when it ends.

    Streamlit drops the inputs of widgets that a page does not show, and as the page changes all
    inputs that the browser does not send, such as those that were set by the address or the profile
    and never moved. The copy at the end of a run has them.

    A widget whose value is set anew shows that value, and a user who has moved it on meanwhile, as
    by a key held down, would lose these steps. So numbers of the page that is shown already stay
    untouched.

    Parameters
    ----------
    page
        Address of the page. Its widgets differ from the widgets of other pages.
    """
    copy = _copy_inputs()
    is_new, st.session_state[PAGE] = st.session_state.get(PAGE) != page, page
    for name, value in copy.items():
        moves = isinstance(value, int | float) and not isinstance(value, bool)
        if is_new or not moves or name not in st.session_state:
            st.session_state[name] = value
    try:
        yield
    finally:  # also where the page asks for another run
        _copy_inputs()


def _copy_inputs() -> dict[str, Any]:
    """Copy the inputs that are there, and return the copy, which keeps those that are not."""
    copy: dict[str, Any] = st.session_state.setdefault("inputs", {})
    copy |= {name: value for name, value in st.session_state.items() if _is_kept(name)}
    return copy


def _is_kept(name: Any) -> bool:
    return str(name).startswith(PREFIX)


def given() -> dict[str, tuple[str, str]]:
    """Return name and text in the address of each input that came from it."""
    return st.session_state.setdefault(GIVEN, {})


def ignored() -> dict[str, str]:
    """Return the texts of the address that are left out, by name."""
    return st.session_state.setdefault(IGNORED, {})


def ignore(name: str) -> None:
    """Note that the text of the address for an input is left out."""
    if name in given():
        in_address, text = given().pop(name)
        ignored()[in_address] = text


def choose_next(name: str, value: Any) -> None:
    """Set an input at its next `starting`: Streamlit refuses to set those already shown."""
    st.session_state[NEXT + name] = value


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
    if NEXT + name in st.session_state:
        st.session_state[key(name)] = st.session_state.pop(NEXT + name)
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
