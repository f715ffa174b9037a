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
    gpd, nx, osmium, osmnx, pyproj, rasterio, requests, shapely = (
        Package(name, "geo")
        for name in (
            *("geopandas", "networkx", "osmium", "osmnx"),
            *("pyproj", "rasterio", "requests", "shapely"),
        )
    )

__all__ = ["gpd", "nx", "osmium", "osmnx", "pyproj", "rasterio", "requests", "shapely"]
