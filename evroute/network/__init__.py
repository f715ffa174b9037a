"""Roads: networks, legal turns, heights and contexts. No energy and no learning.

Sixteen modules stand here because each is about the whole network: its edges, turns and contexts,
its files, names and exports. Files of other programs are in `sources`, heights along edges in
`heights`, names and positions in `places`.
"""
