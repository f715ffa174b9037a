"""Packages of reports: pandas, altair and folium, imported on their first use."""

from typing import TYPE_CHECKING, Any

from evroute.optional import Package

if TYPE_CHECKING:
    import altair as alt
    import folium
    import pandas as pd
else:
    alt, folium, pd = (Package(name, "report") for name in ("altair", "folium", "pandas"))

__all__ = ["alt", "folium", "inline", "pd"]


def inline(frame: "pd.DataFrame") -> Any:
    """Return a table as the data of a chart. Unknown values are null, as JSON has no NaN."""
    known = frame.round(6).astype(object).where(frame.notna(), None)
    return alt.Data(values=known.to_dict("records"))
