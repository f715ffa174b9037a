"""Forecasts: energy and charge of a route by a belief, with their uncertainty."""
