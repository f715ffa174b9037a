"""Folders of measured trips: what was recorded, settings, rows of trips, and repair."""
