"""Fleets: the energy that single cars take beyond their type's, and their errors."""
