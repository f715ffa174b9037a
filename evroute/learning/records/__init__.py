"""Folders of measured trips: records, settings, rows of trips, and repair."""
