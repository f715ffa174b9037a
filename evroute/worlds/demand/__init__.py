"""Demand: the trips of an experiment."""
