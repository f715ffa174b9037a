"""Choosing: indices of base arms and the agent that turns them into routes.

These modules have no access to true energies and simulate nothing.
"""
