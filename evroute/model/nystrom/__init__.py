"""Nyström engines: sparse Gaussian processes on a dictionary of measured arms, and rules for it."""
