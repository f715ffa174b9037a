"""Benchmark: how well programs expect the energy of trips, in order of time."""
