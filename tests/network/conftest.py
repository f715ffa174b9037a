"""Hand-made OpenStreetMap files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from evroute.network import osm
from evroute.network.road_network import RoadNetwork

Tags = Mapping[str, str]
ROAD: Tags = {"highway": "residential"}


def osm_xml(
    nodes: Mapping[int, tuple[float, float]],
    ways: Mapping[int, tuple[Sequence[int], Tags]],
    relations: Sequence[tuple[Tags, Sequence[tuple[str, int, str]]]] = (),
    node_tags: Mapping[int, Tags] | None = None,
) -> str:
    """Return OSM XML of restrictions and roads; nodes lie (east, north) of 6 E 49 N, in thousandths of a degree."""

    def tags(given: Tags) -> str:
        return "".join(f"<tag k={quoteattr(k)} v={quoteattr(v)}/>" for k, v in given.items())

    text = ['<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">']
    for node, (east, north) in nodes.items():
        own = tags((node_tags or {}).get(node, {}))
        text.append(f'<node id="{node}" lat="{49 + north / 1000:.7f}" lon="{6 + east / 1000:.7f}">{own}</node>')
    for way, (refs, given) in ways.items():
        text.append(f'<way id="{way}">{"".join(f"<nd ref={quoteattr(str(r))}/>" for r in refs)}{tags(given)}</way>')
    for k, (given, members) in enumerate(relations, start=1):
        inside = "".join(f'<member type="{kind}" ref="{ref}" role="{role}"/>' for kind, ref, role in members)
        text.append(f'<relation id="{k}">{inside}{tags({"type": "restriction", **given})}</relation>')
    return "\n".join([*text, "</osm>"])


@pytest.fixture
def read_osm(tmp_path: Path) -> Callable[..., RoadNetwork]:
    """Offer a function that writes `osm_xml` to a file and reads it."""

    def read(*args: object, **kwargs: object) -> RoadNetwork:
        path = tmp_path / "case.osm"
        path.write_text(osm_xml(*args, **kwargs), encoding="utf-8")  # type: ignore[arg-type]
        return osm.read(path, "case")

    return read


@pytest.fixture
def osm_text() -> Callable[..., str]:
    """Offer `osm_xml` to tests, which cannot import this file."""
    return osm_xml
