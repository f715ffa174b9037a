"""Roads: networks, legal turns, heights and contexts. No energy and no learning.

The modules here are about the whole network: its edges, turns and contexts, and its files. Files of
other programs are in `sources`, heights in `heights`, names, positions and time zones in `places`,
and graphs, tables and exports in `views`.
"""
