"""Read an OSMnx graph that was saved with ``osmnx.save_graphml``, as `osmnx_graph` reads it."""

import hashlib
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from evroute import limits
from evroute.errors import LimitError, MissingPackageError, NetworkFormatError
from evroute.network.geo import osmnx
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.network.sources.osmnx_graph import columns_of


def read(path: Path, name: str) -> RoadNetwork:
    """Read an OSMnx graph as network ``name``. Edges are named ``u,v,key``.

    Raises
    ------
    MissingPackageError
        If OSMnx is not installed.
    NetworkFormatError
        If the file is missing, not GraphML, not of a street graph, or without a drivable road.
    LimitError
        If it is too large or nested too deep.
    """
    try:
        with path.open("rb") as handle:
            sha256 = hashlib.file_digest(handle, "sha256").hexdigest()
        limits.check_xml(path, counted=True)
        graph = osmnx.load_graphml(path, node_dtypes={"osmid": str})
    except OSError as error:
        raise NetworkFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except (LimitError, MissingPackageError):
        raise
    except (ParseError, expat.ExpatError) as error:
        raise NetworkFormatError(f"{path.name} is cut off or not XML: {error}") from error
    except (
        Exception
    ) as error:  # networkx and OSMnx meet a graph that OSMnx did not write in many ways
        raise NetworkFormatError(
            f"{path.name} is not a graph that OSMnx saved: {error!r}"
        ) from error
    try:
        found = columns_of(graph)
        source = Source("graphml", (path.name,), sha256, **found.origin)
        return RoadNetwork(name=name, source=source, **found.columns)
    except NetworkFormatError as error:
        raise NetworkFormatError(f"{path.name}: {error}") from error
