"""Sources: roads, restrictions and charging stations read from files of other programs.

A format of roads has two modules or three: one that reads its file, and those for what the format
says in a way of its own (tags and restrictions of OpenStreetMap, lanes in junctions of SUMO).
"""
