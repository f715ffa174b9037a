"""Trips: the belief that learns from the total energy of whole trips.

Above fifteen modules, since the mathematics of one regression is cut by its parts (terms, level,
noise, cone, fields, kept trips), which `trip_belief` joins. `energies` adds roads, `day` plans.
"""
