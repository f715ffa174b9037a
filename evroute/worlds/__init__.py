"""Worlds: the truth that trips measure, and the demand for trips."""
