"""Source: the origin of a network."""

from dataclasses import dataclass

from evroute.errors import NetworkFormatError, require
from evroute.network.texts import check_texts


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a network, printed by ``evroute network info``.

    kind: reader ("sumo", "osm", "graphml", ...).  files: names of the files read.  sha256: of their
    bytes.
    elevation: origin of the heights.  smoothing_m: the strength used, m.  notes: missing, imputed
    or repaired values, one sentence each.
    """

    kind: str
    files: tuple[str, ...] = ()
    sha256: str = ""
    attribution: str = ""
    elevation: str = "none: every junction at 0 m"
    smoothing_m: float = 0.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_texts("attribution", (self.attribution,))
        check_texts("source", (self.kind, *self.files, self.sha256, self.elevation, *self.notes))
        require(
            isinstance(self.smoothing_m, float | int),
            f"smoothing_m of the source is {self.smoothing_m!r}, no number",
            NetworkFormatError,
        )
