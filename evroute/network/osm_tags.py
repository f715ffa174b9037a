"""OpenStreetMap's tags for passenger cars: access, direction, speed limit, structure.

Sources: https://wiki.openstreetmap.org/wiki/OSM_tags_for_routing and the pages of the keys named
below. Conditional tags (``*:conditional``) are not applied.
"""

from collections.abc import Mapping

Tags = Mapping[str, str]

# Road classes open to cars, and the speeds of the car profile of OSRM (project-osrm.org), km/h:
# used for classes without any limit. ``road`` (class not known) counts as ``unclassified``.
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
}
VEHICLES = ("motorcar", "motor_vehicle", "vehicle")

_OPEN = {"yes", "designated", "permissive", "destination", "public", "official"}
_CLOSED = {
    *(
        "no",
        "private",
        "agricultural",
        "forestry",
        "agricultural;forestry",
        "emergency",
        "military",
    ),
    *("psv", "bus", "delivery", "customers", "permit", "residents", "use_sidepath"),
}
_SERVICES_LEFT_OUT = {
    *("emergency_access", "parking", "parking_aisle", "private", "driveway", "drive-through"),
}
_FORWARD = {"yes", "true", "1"}
_BACKWARD = {"-1", "reverse"}
_CHANGING = {"reversible"}
_PASSABLE_BARRIERS = {
    *(
        "no",
        "entrance",
        "gate",
        "lift_gate",
        "swing_gate",
        "sliding_gate",
        "toll_booth",
        "border_control",
    ),
    *("cattle_grid", "sally_port", "height_restrictor", "kerb", "arch"),
}
_TURNING_PLACES = {"turning_circle", "turning_loop", "mini_roundabout"}


def directions(tags: Tags) -> tuple[bool, bool]:
    """Return whether a car may drive a way forward and backward.

    Left out: other classes than those of `TYPICAL_KMH`, areas, parking lots and driveways, roads
    closed to cars by the most specific of ``motorcar``, ``motor_vehicle``, ``vehicle``, ``access``
    (each also per direction), and roads whose direction changes with the time of day.
    """
    if (
        tags.get("highway") not in TYPICAL_KMH
        or tags.get("area") == "yes"
        or tags.get("service") in _SERVICES_LEFT_OUT
        or tags.get("impassable") == "yes"
    ):
        return False, False
    oneway = next(
        (tags[key] for key in (*(f"oneway:{v}" for v in VEHICLES), "oneway") if key in tags), ""
    )
    if oneway in _CHANGING:
        return False, False
    implied = oneway == "" and (
        tags["highway"] == "motorway" or tags.get("junction") in {"roundabout", "circular"}
    )
    return (
        oneway not in _BACKWARD and _may_enter(tags, ":forward"),
        not (implied or oneway in _FORWARD) and _may_enter(tags, ":backward"),
    )


def limit(tags: Tags, direction: str) -> str | None:
    """Return the text of the speed limit in ``direction`` ("forward" or "backward")."""
    return tags.get(f"maxspeed:{direction}", tags.get("maxspeed"))


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
    if barrier == "bollard" and node_tags.get("bollard") == "rising":
        return access in _CLOSED
    return access in _CLOSED if barrier in _PASSABLE_BARRIERS else access not in _OPEN


def invites_u_turn(node_tags: Tags) -> bool:
    """Return True if a node is a place made for turning round."""
    return node_tags.get("highway") in _TURNING_PLACES


def _may_enter(tags: Tags, direction: str) -> bool:
    return _access(tags, direction) not in _CLOSED


def _access(tags: Tags, direction: str) -> str:
    keys = (key for vehicle in (*VEHICLES, "access") for key in (vehicle + direction, vehicle))
    return next((tags[key] for key in keys if key in tags), "")
