"""A box that searches while its user types: an editable combobox, as the ARIA pattern has it.

The browser asks the addresses of `own_routes` for suggestions, beside the page, so that no run
of the script waits behind a keystroke. A choice comes back as an event.
https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict

import streamlit as st

TAKEN = ":taken"


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_search = st.components.v2.component(
    "evroute_search",
    html='<div class="evroute-search"></div>',
    css=_read("search.css"),
    js=_read("search.js"),
    isolate_styles=False,  # its list lies above the page
)


class Choice(TypedDict):
    """A choice of the user.

    id: time on the user's clock, ms.  text: of the chosen suggestion, else as it was written.
    chosen: whether it is the text of a suggestion.
    """

    id: int
    text: str
    chosen: bool


def search(
    label: str,
    shown: str,
    *,
    key: str,
    address: str,
    placeholder: str,
    on_choice: Callable[[Choice], None],
    recent: Sequence[tuple[str, str]] = (),
) -> None:
    """Show a box to search in.

    Parameters
    ----------
    label
        Its name.
    shown
        Text in it until the user writes another.
    key
        Session key of the box.
    address
        Where suggestions for a text are, without the text.
    placeholder
        Text of the empty box.
    on_choice
        Called with each choice.
    recent
        Labels and texts of earlier choices, the last one first.
    """
    _search(
        key=key,
        data={
            "label": label,
            "shown": shown,
            "address": address,
            "placeholder": placeholder,
            "recent": [list(each) for each in recent],
        },
        on_choice_change=partial(take, key, on_choice),
    )


def take(key: str, on_choice: Callable[[Choice], None]) -> None:
    """Pass a choice on, once: Streamlit repeats the events of a run that another event interrupts.

    Parameters
    ----------
    key, on_choice
        As in `search`.
    """
    choice = st.session_state[key].get("choice")
    if choice and choice["id"] > st.session_state.get(key + TAKEN, 0):
        st.session_state[key + TAKEN] = choice["id"]
        on_choice(choice)
