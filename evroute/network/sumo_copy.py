"""A copy of a SUMO network that has the junction heights of ours, so that SUMO drives the hills that we plan on.

SUMO takes a car's slope from the heights of its lane, and from where its front and back are when it is on two. So
heights must not jump: a lane of our edges climbs evenly from our height of one junction to that of the other, over
the length in space of its shape, and lanes inside a junction are flat at its height. A car climbs the ``dz`` of every
edge that it drives; since lanes stop at the junction's border, they are steeper than our inclines.
"""

import gzip
from pathlib import Path
from xml.sax import SAXException, make_parser
from xml.sax.saxutils import XMLFilterBase, XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import numpy as np

from evroute.errors import EvrouteError, NetworkFormatError
from evroute.network.road_network import RoadNetwork

# The shortest lane that SUMO's netconvert writes.
SHORTEST_M = 0.1


def write_copy(source: Path, network: RoadNetwork, path: Path) -> None:
    """Write ``source`` (.net.xml, .net.xml.gz) to ``path`` (.net.xml) with the heights of ``network``.

    Raises
    ------
    EvrouteError
        If the network is not from SUMO, or its edges are not those of the source.
    NetworkFormatError
        If the source cannot be read.
    """
    if network.source.kind != "sumo":
        raise EvrouteError(
            f"SUMO cannot drive network '{network.name}', which is from {network.source.kind}; "
            "build one from a .net.xml with 'evroute network build NAME --sumo FILE'"
        )
    try:
        with (
            (gzip.open if source.name.endswith(".gz") else open)(source, "rb") as handle,
            path.open("w", encoding="utf-8") as out,
        ):
            copier = _Copier(network)
            copier.setParent(make_parser())
            copier.setContentHandler(XMLGenerator(out, encoding="utf-8"))
            copier.parse(handle)
    except (OSError, EOFError, SAXException) as error:
        raise NetworkFormatError(f"cannot copy {source.name}: {error}") from error
    if missing := set(network.edge_id) - copier.seen:
        raise EvrouteError(f"edge '{min(missing)}' of network '{network.name}' is not in {source.name}")


class _Copier(XMLFilterBase):
    """Passes every tag on; takes the z of all shapes away and gives lanes our heights."""

    def __init__(self, network: RoadNetwork) -> None:
        super().__init__()
        self.network = network
        self.seen: set[str] = set()
        self._height_m = dict(zip(network.junction_id, network.elevation_m.tolist(), strict=True))
        self._edge: int | None = None
        self._inside_m = 0.0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        """Rewrite one opening tag."""
        tag = dict(attrs.items())
        tag.pop("z", None)
        if name == "edge":
            self._edge = self.network.row_of.get(tag["id"])
            junction = tag["id"][1:].rsplit("_", 1)[0] if tag["id"].startswith(":") else ""
            self._inside_m = self._height_m.get(junction, 0.0)
            self.seen.add(tag["id"])
        for key in ("shape", "customShape"):
            if "," in tag.get(key, ""):
                tag[key], length_m = self._shape(tag[key], is_lane=name == "lane")
                if name == "lane" and self._edge is not None:
                    tag["length"] = f"{length_m:.6f}"
        super().startElement(name, AttributesImpl(tag))

    def _shape(self, shape: str, is_lane: bool) -> tuple[str, float]:
        xy = np.array([point.split(",")[:2] for point in shape.split()], dtype=float)
        along_m = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
        z = np.full(len(xy), self._inside_m if is_lane else 0.0)
        if is_lane and self._edge is not None:
            low_m = self._height_m[self.network.junction_id[self.network.tail[self._edge]]]
            z = low_m + self.network.climb_m[self._edge] * along_m / max(along_m[-1], SHORTEST_M)
        points = (f"{x:.3f},{y:.3f},{height:.6f}" for (x, y), height in zip(xy, z, strict=True))
        return " ".join(points), max(float(np.hypot(along_m[-1], z[-1] - z[0])), SHORTEST_M)
