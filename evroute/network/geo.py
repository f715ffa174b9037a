"""Packages of networks and geometry, imported on their first use."""

from typing import TYPE_CHECKING

from evroute.optional import Package

if TYPE_CHECKING:
    import geopandas as gpd
    import networkx as nx
    import osmium
    import osmnx
    import pyproj
    import rasterio
    import requests
    import shapely
else:
    gpd = Package("geopandas", "geo")
    nx = Package("networkx", "geo")
    osmium = Package("osmium", "geo")
    osmnx = Package("osmnx", "geo")
    pyproj = Package("pyproj", "geo")
    rasterio = Package("rasterio", "geo")
    requests = Package("requests", "geo")
    shapely = Package("shapely", "geo")

__all__ = ["gpd", "nx", "osmium", "osmnx", "pyproj", "rasterio", "requests", "shapely"]
