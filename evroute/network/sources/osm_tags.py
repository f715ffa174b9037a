"""OpenStreetMap's tags for passenger cars: access, direction, structure, names.

Sources: https://wiki.openstreetmap.org/wiki/OSM_tags_for_routing and the pages of the keys named
below. Conditional tags (``*:conditional``) are not applied. Speed limits are in `speed_limits`.
"""

from collections.abc import Mapping

Tags = Mapping[str, str]

ATTRIBUTION = "(c) OpenStreetMap contributors, ODbL 1.0"
TRACK = "track"
"""The class that is open to cars only where a tag of `VEHICLES` says so."""
# Road classes open to cars, and the speeds of the car profile of OSRM (project-osrm.org), km/h:
# used for classes without any limit. ``road`` (class not known) counts as ``unclassified``.
# Tracks take OSRM's speed of other classes.
TYPICAL_KMH = {
    "motorway": 90.0,
    "motorway_link": 75.0,
    "trunk": 85.0,
    "trunk_link": 70.0,
    "primary": 65.0,
    "primary_link": 60.0,
    "secondary": 55.0,
    "secondary_link": 50.0,
    "tertiary": 40.0,
    "tertiary_link": 30.0,
    "unclassified": 25.0,
    "residential": 25.0,
    "living_street": 10.0,
    "service": 15.0,
    "road": 25.0,
    TRACK: 10.0,
}
NAME_SEPARATOR = " / "
PLACE_KEYS = ("amenity", "tourism", "leisure", "shop", "historic", "place", "aeroway")
"""Keys of places to drive to. With a name."""
STOPS = (
    ("highway", "bus_stop"),
    ("railway", "station"),
    ("railway", "halt"),
    ("railway", "tram_stop"),
)
"""Tags of stations and stops, which are places to drive to. With a name."""
VEHICLES = ("motorcar", "motor_vehicle", "vehicle")

_OPEN = {"yes", "designated", "permissive", "destination", "public", "official"}
_CLOSED = {
    "no",
    "private",
    "agricultural",
    "forestry",
    "emergency",
    "military",
    "psv",
    "bus",
    "delivery",
    "customers",
    "permit",
    "residents",
    "use_sidepath",
}
_OPEN_TRACK = _OPEN - {"destination"}
"""Words that open a track. A track for access alone is no way through."""
_OUT_OF_USE = ("abandoned", "demolished", "disused", "razed", "removed")
"""Prefixes of keys for what is no longer there, such as ``disused:highway``."""
_SERVICES_LEFT_OUT = {
    "emergency_access",
    "parking",
    "parking_aisle",
    "private",
    "driveway",
    "drive-through",
}
_PASSABLE_BARRIERS = {
    "no",
    "entrance",
    "gate",
    "lift_gate",
    "swing_gate",
    "sliding_gate",
    "toll_booth",
    "border_control",
    "cattle_grid",
    "sally_port",
    "height_restrictor",
    "kerb",
    "arch",
}
_STOPS = frozenset(STOPS)
_TURNING_PLACES = {"turning_circle", "turning_loop", "mini_roundabout"}


def directions(tags: Tags) -> tuple[bool, bool]:
    """Return whether a car may drive a way forward and backward.

    Left out: classes that `TYPICAL_KMH` lacks, tracks that are not open to cars by
    ``motorcar``, ``motor_vehicle`` or ``vehicle``, areas, parking lots and driveways, roads closed
    to cars by the most specific of these keys and ``access`` (each also per direction), ferries,
    roads out of use, and roads whose direction changes with the time of day.
    """
    if not _is_road(tags):
        return False, False
    oneway = next(
        (tags[key] for key in (*(f"oneway:{v}" for v in VEHICLES), "oneway") if key in tags), ""
    )
    if oneway == "reversible":
        return False, False
    implied = oneway == "" and (
        tags["highway"] == "motorway" or tags.get("junction") in {"roundabout", "circular"}
    )
    return (
        oneway not in {"-1", "reverse"} and _may_enter(tags, ":forward"),
        not (implied or oneway in {"yes", "true", "1"}) and _may_enter(tags, ":backward"),
    )


def _is_road(tags: Tags) -> bool:
    """Return whether a way is a road in use that cars can drive, whoever may enter it."""
    if tags.get("highway") not in TYPICAL_KMH or is_ferry(tags) or is_out_of_use(tags):
        return False
    if tags["highway"] == TRACK and not _is_open_track(tags):
        return False
    return (
        tags.get("area") != "yes"
        and tags.get("service") not in _SERVICES_LEFT_OUT
        and tags.get("impassable") != "yes"
    )


def is_ferry(tags: Tags) -> bool:
    """Return whether a way is the route of a ferry, which is no road whatever its class."""
    return tags.get("route") == "ferry" or tags.get("ferry", "no") != "no"


def is_out_of_use(tags: Tags) -> bool:
    """Return whether a prefix such as ``disused:`` says that a road of this class is given up.

    ``disused:highway=tertiary`` on a way of another class is its history alone.
    """
    former = {tags.get(f"{prefix}:highway") for prefix in _OUT_OF_USE}
    return bool(former & {"yes", tags.get("highway", "yes")})


def _is_open_track(tags: Tags) -> bool:
    """Return whether a tag for cars, and not for everybody, opens a track to them."""
    own = next((tags[vehicle] for vehicle in VEHICLES if vehicle in tags), "")
    return not _OPEN_TRACK.isdisjoint(_words(own))


def street(tags: Tags) -> str:
    """Return the name of a street, else the names of its two sides, else its number."""
    sides = [tags[key] for key in ("name:left", "name:right") if tags.get(key)]
    return tags.get("name") or NAME_SEPARATOR.join(dict.fromkeys(sides)) or tags.get("ref", "")


def place(tags: Tags) -> str:
    """Return the name of a place to drive to, "" if it is none. Chargers go by their operator."""
    if tags.get("amenity") == "charging_station" and "name" not in tags:
        owner = next((tags[key] for key in ("operator", "brand", "network") if key in tags), "")
        return f"Charging station {owner}".strip()
    is_place = any(key in tags for key in PLACE_KEYS) or not _STOPS.isdisjoint(tags.items())
    return tags.get("name", "") if is_place else ""


def structure(tags: Tags) -> int:
    """Return 1 for a bridge, 2 for a tunnel, 0 for the ground (as ``RoadNetwork.structure``)."""
    if tags.get("bridge", "no") != "no":
        return 1
    return 2 if tags.get("tunnel", "no") not in {"no", "building_passage"} else 0


def blocks(node_tags: Tags) -> bool:
    """Return True if a car cannot pass a node: a bollard, a locked gate."""
    barrier = node_tags.get("barrier")
    if barrier is None:
        return False
    access = _access(node_tags, "")
    rising = barrier == "bollard" and node_tags.get("bollard") == "rising"
    return _is_closed(access) if rising or barrier in _PASSABLE_BARRIERS else not _is_open(access)


def invites_u_turn(node_tags: Tags) -> bool:
    """Return True if a node is a place made for turning round."""
    return node_tags.get("highway") in _TURNING_PLACES


def _may_enter(tags: Tags, direction: str) -> bool:
    return not _is_closed(_access(tags, direction))


def _is_open(access: str) -> bool:
    """Return whether a list of who may enter, in any order, has a word that opens it to all."""
    return not _OPEN.isdisjoint(_words(access))


def _is_closed(access: str) -> bool:
    """Return whether a list of who may enter, in any order, is for others alone."""
    return not _CLOSED.isdisjoint(_words(access)) and not _is_open(access)


def _words(access: str) -> set[str]:
    return {word.strip() for word in access.split(";")}


def _access(tags: Tags, direction: str) -> str:
    keys = (key for vehicle in (*VEHICLES, "access") for key in (vehicle + direction, vehicle))
    return next((tags[key] for key in keys if key in tags), "")
