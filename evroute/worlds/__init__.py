"""Worlds: true energies and measurements, and the demand for trips."""
