"""Heights: rasters and their checks, and heights along edges in pieces of one slope."""
