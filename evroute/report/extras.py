"""Packages of reports: pandas, altair and folium, imported on their first use."""

from typing import TYPE_CHECKING

from evroute.optional import Package

if TYPE_CHECKING:
    import altair as alt
    import folium
    import pandas as pd
else:
    alt, folium, pd = (Package(name, "report") for name in ("altair", "folium", "pandas"))

__all__ = ["alt", "folium", "pd"]
