"""Charging stations of the network, with their sockets."""

from evroute.network.sources.chargers import stations
from evroute.planning.planner import Planner
from layers import Asked, Drawn, Layer


def draw(asked: Asked, planner: Planner) -> Drawn:
    """Return a point for each station."""
    found = stations(planner.network)
    points = [(station.lat, station.lon, station.words) for station in found]
    words = "" if found else "No charging stations are known on these roads"
    return Drawn(words=words, points=points, mark="charging station" if found else "")


LAYER = Layer(label="Charging stations", draw=draw)
