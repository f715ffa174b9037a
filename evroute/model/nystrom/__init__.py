"""Nyström engines: Gaussian processes seen through a dictionary of measured arms, and rules that choose it."""
