"""Packages of networks and geometry, imported on their first use."""

from typing import TYPE_CHECKING

from evroute.optional import Package

if TYPE_CHECKING:
    import geopandas as gpd
    import networkx as nx
    import osmnx
    import rasterio
    import requests
    import shapely
else:
    gpd, nx, osmnx, rasterio, requests, shapely = (
        Package(name, "geo")
        for name in ("geopandas", "networkx", "osmnx", "rasterio", "requests", "shapely")
    )

__all__ = ["gpd", "nx", "osmnx", "rasterio", "requests", "shapely"]
