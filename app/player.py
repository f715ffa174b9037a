"""A slider from the first trip to the last, which plays by itself."""

from collections.abc import Callable

import streamlit as st
from state import ask, put, starting

FRAME_S = 1.0
FRAMES = 40


def played(name: str, last: int, draw: Callable[[int], None], *, still: bool = True) -> None:
    """Draw a trip, and let the driver choose and play the trips.

    Parameters
    ----------
    name
        Name of the input ``until:NAME`` that has the number of the trip, from 1.
    last
        Number of the last trip, with which the slider begins.
    draw
        Draws what belongs to a trip. It runs alone as the trip changes.
    still
        True if no run is active. Only then trips can be played.
    """
    trip_key, play_key = f"until:{name}", f"play:{name}"
    starting(trip_key, last, (1, last))
    playing = still and st.session_state.get(play_key, False)

    def rewind() -> None:
        if st.session_state[play_key]:
            put(trip_key, 1)

    @st.fragment(run_every=FRAME_S if playing else None)
    def board() -> None:
        trip = int(starting(trip_key, last, (1, last)))
        if playing and trip < last:
            put(trip_key, min(last, trip + max(1, last // FRAMES)))
        elif playing:
            st.session_state[play_key] = False
        play, at = st.columns([1, 5], vertical_alignment="bottom")
        if still and play.toggle("Play", key=play_key, on_change=rewind) is not playing:
            st.rerun()
        draw(ask(at.slider, "Trip", trip_key, min_value=1, max_value=last) if last > 1 else 1)

    board()
