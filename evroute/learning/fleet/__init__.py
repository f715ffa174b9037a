"""Fleets: the energy that single cars take beyond that of their type, and their errors."""
