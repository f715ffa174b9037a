"""Charge: routes that keep a reserve, the charge they miss, and charging stops."""
