"""Traffic controls at turns: lights, stop signs and priority.

SUMO gives the priority (``state``) and the lights (``tl``) of every connection:
https://sumo.dlr.de/docs/Networks/SUMO_Road_Networks.html#plain_connections. OpenStreetMap has nodes
tagged ``highway=traffic_signals``, ``stop`` and ``give_way``, on the junction or on the way before
it. The tag ``direction`` names the direction that they control. Without it, the nearer junction
does (https://wiki.openstreetmap.org/wiki/Tag:highway=stop). Turns without such a node are unknown:
a control that a source lacks may exist on the road.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from evroute.arrays import FloatArray, IntArray

UNKNOWN, RIGHT_OF_WAY, GIVES_WAY, STOP, LIGHT = range(5)
NAMES = ("unknown", "right of way", "gives way", "stop sign", "traffic light")
CONTEXTS = ("unknown", "gives way", "stop sign", "traffic light")
"""Columns of `contexts`: 1 where the control has that name, or all 0 with the right of way."""

_OF_STATE = {
    **dict.fromkeys("MO-", RIGHT_OF_WAY),
    **dict.fromkeys("m=oZ", GIVES_WAY),
    **dict.fromkeys("sw", STOP),
    **dict.fromkeys("rRyYgGu", LIGHT),
}
_OF_TAG = {"traffic_signals": LIGHT, "stop": STOP, "give_way": GIVES_WAY}
_DIRECTIONS = ("traffic_signals:direction", "direction")


def of_connection(light: str, state: str) -> int:
    """Return the control of a connection of a SUMO network. Lights that are off are lights.

    Parameters
    ----------
    light
        Id of its traffic light, or empty for none.
    state
        Its priority (``state``).
    """
    return LIGHT if light else _OF_STATE.get(state, UNKNOWN)


def at(tags: Mapping[str, str]) -> int:
    """Return the control at an OpenStreetMap node with these tags."""
    return _OF_TAG.get(tags.get("highway", ""), UNKNOWN)


def along(nodes: Sequence[int], tags: Mapping[int, Mapping[str, str]], *, reverse: bool) -> int:
    """Return the control on a stretch of an OpenStreetMap way, at its end or before it.

    Parameters
    ----------
    nodes
        Node ids of the stretch, in the direction of the way.
    tags
        Tags of the nodes, by id.
    reverse
        True if the stretch is driven against the direction of the way.
    """
    last = len(nodes) - 1
    found = UNKNOWN
    for i, node in enumerate(nodes):
        own = tags.get(node, {})
        control = at(own)
        if control == UNKNOWN or i == (last if reverse else 0):  # behind the car
            continue
        if i != (0 if reverse else last):
            given = next((own[key] for key in _DIRECTIONS if key in own), "")
            for_reverse = {"forward": False, "backward": True}.get(given, 2 * i < last)
            if given != "both" and for_reverse != reverse:
                continue
        found = max(found, control)
    return found


def known(control: IntArray) -> IntArray | None:
    """Return the controls of turns (m,), None if all are unknown."""
    return control if np.any(control != UNKNOWN) else None


def note(control: IntArray) -> str:
    """Return a sentence with the number of turns (m,) of each control and of unknown ones."""
    if known(control) is None:
        return "the source has no lights, stop signs or right of way"
    counts = np.bincount(control, minlength=len(NAMES))
    kinds = (LIGHT, STOP, GIVES_WAY, RIGHT_OF_WAY, UNKNOWN)
    return f"turns: {', '.join(f'{NAMES[kind]} {counts[kind]}' for kind in kinds)}"


def contexts(control: IntArray) -> FloatArray:
    """Return the control contexts of turns (m,) as indicator columns, (m, 4)."""
    return (control[:, np.newaxis] == [NAMES.index(name) for name in CONTEXTS]).astype(np.float64)
