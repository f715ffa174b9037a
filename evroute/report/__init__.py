"""Seeing: maps, charts, pages and exports; functions that return objects and never draw to a screen."""
