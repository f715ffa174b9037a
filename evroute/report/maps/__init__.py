"""Maps (folium) that draw without a network, and what they are made of."""

from evroute.report.maps.network_maps import quantities_map, route_map, values_map

__all__ = ["quantities_map", "route_map", "values_map"]
