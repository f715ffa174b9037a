"""Readers of measured trips: one file for each format, one table of formats."""
