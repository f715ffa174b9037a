"""Places: names of roads and junctions, and the edges of a text or of a GPS track."""
