"""Places: names of roads and junctions, the edges of a text or of a GPS track, and time zones."""
