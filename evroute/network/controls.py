"""What holds cars up at a turn: lights, stop signs, having to give way. Absent in a source is not absent on the road.

SUMO says of every connection who has priority (``state``) and whether lights rule it (``tl``):
https://sumo.dlr.de/docs/Networks/SUMO_Road_Networks.html#plain_connections. OpenStreetMap has nodes
tagged ``highway=traffic_signals``, ``stop`` and ``give_way``, on the junction or on the way before
it, where ``direction`` tells whom they are for, or else the nearer junction does
(https://wiki.openstreetmap.org/wiki/Tag:highway=stop); of turns without such a node it says
nothing.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from evroute.arrays import FloatArray, IntArray

NOT_TOLD, RIGHT_OF_WAY, GIVES_WAY, STOP, LIGHT = range(5)
NAMES = ("not told", "right of way", "gives way", "stop sign", "traffic light")
CONTEXTS = ("not told", "gives way", "stop sign", "traffic light")
"""Columns of `contexts`: 1 where it is so; all 0 with the right of way."""

_OF_STATE = {
    **dict.fromkeys("MO-", RIGHT_OF_WAY),
    **dict.fromkeys("m=oZ", GIVES_WAY),
    **dict.fromkeys("sw", STOP),
    **dict.fromkeys("rRyYgGu", LIGHT),
}
_OF_TAG = {"traffic_signals": LIGHT, "stop": STOP, "give_way": GIVES_WAY}
_DIRECTIONS = ("traffic_signals:direction", "direction")


def of_connection(attributes: Mapping[str, str]) -> int:
    """Return what a connection of a SUMO network is held up by; lights, and signals that are off, are lights."""
    return LIGHT if attributes.get("tl") else _OF_STATE.get(attributes.get("state", ""), NOT_TOLD)


def at(tags: Mapping[str, str]) -> int:
    """Return what holds cars up at a node of OpenStreetMap with these tags."""
    return _OF_TAG.get(tags.get("highway", ""), NOT_TOLD)


def along(nodes: Sequence[int], tags: Mapping[int, Mapping[str, str]], *, reverse: bool) -> int:
    """Return what holds cars up that drive a stretch of an OpenStreetMap way, at its end or on the way there.

    nodes: of the stretch, in the way's own direction.  reverse: whether it is driven against that.
    """
    last = len(nodes) - 1
    found = NOT_TOLD
    for i, node in enumerate(nodes):
        own = tags.get(node, {})
        control = at(own)
        if control == NOT_TOLD or i == (last if reverse else 0):  # behind the car
            continue
        if i != (0 if reverse else last):
            told = next((own[key] for key in _DIRECTIONS if key in own), "")
            for_reverse = {"forward": False, "backward": True}.get(told, 2 * i < last)
            if told != "both" and for_reverse != reverse:
                continue
        found = max(found, control)
    return found


def known(control: IntArray) -> IntArray | None:
    """Return what a source tells of turns (m,); None where it tells nothing of any."""
    return control if np.any(control != NOT_TOLD) else None


def note(control: IntArray) -> str:
    """Say how many turns (m,) have what, and of how many the source says nothing."""
    if known(control) is None:
        return "the source tells nothing of lights, stop signs or right of way"
    counts = np.bincount(control, minlength=len(NAMES))
    told = ", ".join(f"{NAMES[i]} {counts[i]}" for i in (LIGHT, STOP, GIVES_WAY, RIGHT_OF_WAY))
    return f"turns: {told}; the source tells nothing of {counts[NOT_TOLD]}"


def contexts(control: IntArray) -> FloatArray:
    """Return the contexts (m, 4) of turns (m,)."""
    columns: FloatArray = (
        control[:, np.newaxis] == [NAMES.index(name) for name in CONTEXTS]
    ).astype(np.float64)
    return columns
