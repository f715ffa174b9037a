"""Trips: the belief that learns from the total energy of whole trips."""
