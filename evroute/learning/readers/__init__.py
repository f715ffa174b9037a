"""Readers of measured trips: one file for each format, one table of formats.

Above fifteen modules, since each logger has a file of its own beside the parts that all share:
names of columns, clocks, positions, meters, cuts and the attribution of energy to roads.
"""
