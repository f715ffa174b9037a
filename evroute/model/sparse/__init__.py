"""Sparse Gaussian processes: one posterior on a dictionary of measured arms, and rules for it."""
