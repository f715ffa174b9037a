"""Sources: roads, restrictions and charging stations read from files of other programs."""
