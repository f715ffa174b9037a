"""A city of one's own: looked up by its name, then loaded in a process beside the server.

The loads of this server are seen by each tab, and end with it.
"""

import subprocess
import sys
from dataclasses import dataclass
from subprocess import PIPE
from threading import Lock, Thread

import streamlit as st
from city_worker import DONE, ERROR
from lan import check_write, reads_only
from literal import literal, sentence
from state import put

from evroute.errors import EvrouteError
from evroute.network.catalog import network_names
from evroute.network.city import STEPS, City, look_up
from evroute.resources import app_path

FOUND = "city:found"
LOADING = "city:loading"
WRITTEN = "city:place"
EVERY_S = 0.5


@dataclass
class Load:
    """A load of a city: its step so far, and its error once it has ended without a network.

    Parameters
    ----------
    process
        The process that loads.
    step
        Number of the step of `STEPS` that runs.
    error
        Why it ended, or "" for none.
    is_done
        Whether the network is stored.
    """

    process: "subprocess.Popen[str]"
    step: int = 0
    error: str = ""
    is_done: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.is_done or bool(self.error)

    def follow(self) -> None:
        """Read the steps of the process until it ends."""
        with self.process:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self._read(line.strip())
        if not self.is_over:
            self.error = f"loading ended with status {self.process.returncode}"

    def _read(self, word: str) -> None:
        if word.isdigit():
            self.step = int(word)
        elif word == DONE:
            self.is_done = True
        elif word.startswith(ERROR):
            self.error = word.removeprefix(ERROR)


_loads: dict[str, Load] = {}
_lock = Lock()


def start(place: str, name: str) -> None:
    """Begin to load a place as network ``name``, unless a tab has begun it.

    Raises
    ------
    EvrouteError
        If this tab may not.
    """
    check_write()
    with _lock:
        if name in _loads and not _loads[name].is_over:
            return
        command = [sys.executable, str(app_path("city_worker.py")), place, name]
        process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, encoding="utf-8")
        _loads[name] = Load(process)
    Thread(target=_loads[name].follow, daemon=True).start()


def free_name(name: str) -> str:
    """Return a name that no network has: with a number if need be."""
    taken = network_names()
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def ask_city() -> None:
    """Ask for a city: its name, then whether to load the area found. Show how far a load is."""
    if st.session_state.get(LOADING):
        _show_load()
        return
    place = st.text_input(
        "Your city",
        key=WRITTEN,
        placeholder="City, district or region",
        help="Roads, names and charging stations of OpenStreetMap, heights of Copernicus. "
        "Needs internet.",
        max_chars=200,
    ).strip()
    if not place:
        return
    found = st.session_state.get(FOUND)
    if found is None or found[0] != place:
        with st.spinner("Looking it up …"):
            found = place, _looked_up(place)
        st.session_state[FOUND] = found
    city = found[1]
    if isinstance(city, str):
        st.error(sentence(city))
        st.button("Try again", on_click=_forget, key="city:again")
        return
    st.write(literal(f"{city.words}."))
    st.button(
        "Load it",
        on_click=_begin,
        args=(city,),
        key="city:load",
        type="primary",
        disabled=reads_only(),
    )


def _looked_up(place: str) -> City | str:
    """Return a city, or why it cannot be loaded."""
    try:
        return look_up(place)
    except EvrouteError as error:
        return in_page(str(error))


def in_page(message: str) -> str:
    """Return a message without the advice that is for the command line."""
    return message.replace("or give a file with --osm", "or bring your own roads")


def _forget() -> None:
    st.session_state.pop(FOUND, None)


def _begin(city: City) -> None:
    name = free_name(city.name)
    st.session_state[LOADING] = name
    start(city.area.place, name)


@st.fragment(run_every=EVERY_S)
def _show_load() -> None:
    """Show how far a load is. At its end the page plans on the city."""
    name = st.session_state.get(LOADING)
    load = _loads.get(name)
    if load is None:
        st.session_state.pop(LOADING, None)
        st.rerun()
    elif load.is_done:
        del st.session_state[LOADING]
        st.session_state.pop(FOUND, None)
        put("network", name)
        st.rerun()
    elif load.error:
        st.error(sentence(in_page(load.error)))
        st.button("Close", on_click=_close, key="city:close")
    else:
        st.progress(load.step / len(STEPS), text=literal(f"Loading {name}: {STEPS[load.step]} …"))


def _close() -> None:
    st.session_state.pop(LOADING, None)
    _forget()
